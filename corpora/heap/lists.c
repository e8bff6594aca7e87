/* lists: nodes that lie in the middle of what they link, as in the kernel and in BSD; owners are found by container_of. */
#include <stdint.h>
#include <string.h>
#include <sys/queue.h>
#include "account.h"

#define container_of(ptr, type, member) ((type *)((char *)(ptr)-offsetof(type, member)))

struct list_head {
	struct list_head *next, *prev;
};

struct hlist_node {
	struct hlist_node *next, **pprev;
};

struct task {
	int pid;
	char name[16];
	struct list_head tasks;    /* of all */
	struct list_head children; /* head of its children */
	struct list_head sibling;  /* in its parent's children */
	struct task *parent;
	struct hlist_node by_pid;
};

struct event {
	uint64_t when;
	TAILQ_ENTRY(event) queued;
	struct task *task;
};

struct buffer {
	size_t used;
	SLIST_ENTRY(buffer) free_list;
	LIST_ENTRY(buffer) in_use;
	unsigned char data[96];
};

struct request {
	int method;
	char path[24];
	STAILQ_ENTRY(request) waiting;
	struct buffer *body;
};

/* A list whose nodes are not embedded: each carries a void pointer. */
struct cell {
	void *data;
	struct cell *next;
};

HELD struct list_head tasks = {&tasks, &tasks};
HELD struct hlist_node *pid_hash[64];
TAILQ_HEAD(events, event);
SLIST_HEAD(spare, buffer);
LIST_HEAD(used, buffer);
STAILQ_HEAD(waiting, request);
HELD struct events events = TAILQ_HEAD_INITIALIZER(events);
HELD struct spare spare = SLIST_HEAD_INITIALIZER(spare);
HELD struct used used = LIST_HEAD_INITIALIZER(used);
HELD struct waiting waiting = STAILQ_HEAD_INITIALIZER(waiting);
HELD struct cell *cells;

static void list_add(struct list_head *node, struct list_head *head)
{
	node->next = head->next;
	node->prev = head;
	head->next->prev = node;
	head->next = node;
}

static PART struct task *fork_task(int pid, struct task *parent)
{
	struct task *task = NEW(struct task);
	task->pid = pid;
	strcpy(task->name, "worker");
	task->children.next = task->children.prev = &task->children;
	list_add(&task->tasks, &tasks);
	task->parent = parent;
	if (parent)
		list_add(&task->sibling, &parent->children);
	else
		task->sibling.next = task->sibling.prev = &task->sibling;
	struct hlist_node **bucket = &pid_hash[pid % 64];
	task->by_pid.next = *bucket;
	task->by_pid.pprev = bucket;
	if (*bucket)
		(*bucket)->pprev = &task->by_pid.next;
	*bucket = &task->by_pid;
	return task;
}

static PART void fork_tasks(struct task *parent, int depth, int *pid)
{
	for (int i = 0; i < 6 && depth; i++) {
		*pid += 1;
		fork_tasks(fork_task(*pid, parent), depth - 1, pid);
	}
}

static PART void fill_queues(void)
{
	struct list_head *at = tasks.next;
	for (int i = 0; i < 600; i++, at = at->next == &tasks ? tasks.next : at->next) {
		struct event *event = NEW(struct event);
		event->when = 100 * (uint64_t)i;
		event->task = container_of(at, struct task, tasks);
		TAILQ_INSERT_TAIL(&events, event, queued);
		struct buffer *buffer = NEW(struct buffer);
		buffer->used = account_random(96);
		if (i % 3)
			LIST_INSERT_HEAD(&used, buffer, in_use);
		else
			SLIST_INSERT_HEAD(&spare, buffer, free_list);
		struct request *request = NEW(struct request);
		request->method = i % 4;
		request->body = buffer;
		strcpy(request->path, "/index.html");
		STAILQ_INSERT_TAIL(&waiting, request, waiting);
	}
}

/* void pointers, one kind of object in all: the events. */
static PART void fill_cells(void)
{
	struct event *event;
	TAILQ_FOREACH(event, &events, queued)
	{
		struct cell *cell = NEW(struct cell);
		cell->data = event; // cppcheck-suppress uninitvar
		cell->next = cells;
		cells = cell;
	}
}

static PART void finish_some(void)
{
	for (int i = 0; i < 100; i++) {
		struct request *request = STAILQ_FIRST(&waiting);
		STAILQ_REMOVE_HEAD(&waiting, waiting);
		free(request);
	}
}

int main(void)
{
	int pid = 1;
	struct task *init = fork_task(pid, NULL);
	fork_tasks(init, 4, &pid);
	fill_queues();
	fill_cells();
	finish_some();
	account_die();
}
