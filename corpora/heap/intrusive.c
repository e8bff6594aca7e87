/* intrusive: nodes inside their objects, found by container_of: lists of the kernel's kind, hash lists, and a balanced
 * tree whose colours lie in the parents' low bits. Some objects are in several lists at a time. */
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include "account.h"

#define container_of(pointer, type, member) ((type *)((char *)(pointer)-offsetof(type, member)))

struct list_head {
	struct list_head *next, *prev;
};

struct hlist_node {
	struct hlist_node *next, **pprev;
};

struct hlist_head {
	struct hlist_node *first;
};

struct rb_node {
	uintptr_t parent_and_colour;
	struct rb_node *right, *left;
};

struct task {
	int pid, state;
	struct list_head all; /* in tasks */
	char name[16];
	struct list_head children, sibling;
	struct hlist_node by_pid;
	struct mapping *first;
};

struct mapping {
	uint64_t start, end;
	struct rb_node node;
	struct task *owner;
	char *path;
};

struct timer {
	struct list_head queue;
	uint64_t at;
	void (*fire)(struct timer *);
};

/* The node lies last, and the object is as large as a timer. */
struct work {
	uint64_t number;
	char *what;
	struct list_head queue;
};

HELD struct list_head tasks = {&tasks, &tasks}, timers = {&timers, &timers}, works = {&works, &works};
HELD struct hlist_head pids[64];
HELD struct rb_node *mappings;

static void list_add(struct list_head *node, struct list_head *head)
{
	node->next = head->next;
	node->prev = head;
	head->next->prev = node;
	head->next = node;
}

static PART char *text(const char *what, unsigned number)
{
	char buffer[64];
	size_t size = (size_t)snprintf(buffer, sizeof buffer, "%s/%u", what, number) + 1;
	return memcpy(account_is(malloc(size), "char", size), buffer, size);
}

/* By chance it is balanced enough; the colour is the depth's lowest bit. */
static PART void insert(struct mapping *mapping)
{
	struct rb_node **place = &mappings, *parent = NULL;
	unsigned depth = 0;
	for (; *place; depth++) {
		parent = *place;
		place = mapping->start < container_of(parent, struct mapping, node)->start ? &parent->left
											   : &parent->right;
	}
	mapping->node.parent_and_colour = (uintptr_t)parent | (depth & 1);
	*place = &mapping->node;
}

static PART void map(struct task *task, unsigned i)
{
	struct mapping *mapping = NEW(struct mapping);
	mapping->start = 0x1000U * account_random(1000000);
	mapping->end = mapping->start + 0x1000;
	mapping->owner = task;
	mapping->path = i % 3 ? text("/usr/lib", i) : NULL;
	task->first = task->first ? task->first : mapping;
	insert(mapping);
}

static PART struct task *start(unsigned i, struct task *parent)
{
	struct task *task = NEW(struct task);
	task->pid = (int)i;
	snprintf(task->name, sizeof task->name, "task %u", i);
	task->children = (struct list_head){&task->children, &task->children};
	list_add(&task->all, &tasks);
	list_add(&task->sibling, parent ? &parent->children : &task->children);
	struct hlist_head *head = &pids[i % 64];
	task->by_pid = (struct hlist_node){head->first, &head->first};
	if (head->first)
		head->first->pprev = &task->by_pid.next;
	head->first = &task->by_pid;
	for (unsigned k = 0; k < 2 + i % 2; k++)
		map(task, i * 4 + k);
	return task;
}

static void fire(struct timer *timer)
{
	timer->at++;
}

int main(void)
{
	struct task *parent = NULL;
	for (unsigned i = 0; i < 400; i++) {
		struct task *task = start(i, parent);
		parent = i % 7 == 0 ? task : parent;
		struct timer *timer = NEW(struct timer);
		timer->at = i * 1000;
		timer->fire = fire;
		list_add(&timer->queue, &timers);
		struct work *work = NEW(struct work);
		work->number = i;
		work->what = text("work", i);
		list_add(&work->queue, &works);
	}
	account_die();
}
