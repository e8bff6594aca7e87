/* leaks: blocks that nobody can reach any more, of every kind, among others that are reached in odd ways. */
#include <pthread.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include "account.h"

struct node {
	struct node *next, *prev;
	int id;
	char name[20];
};

struct tree {
	struct tree *left, *right;
	long key;
};

struct message {
	unsigned length;
	struct node *about;
	char text[];
};

struct held {
	int tag;
	struct node *node;
};

HELD struct node *kept, *cleared, *ring_entry;
HELD struct tree *kept_tree;
HELD struct held *holders[64];
HELD char *inside[32];
HELD uintptr_t *mapped;
HELD __thread struct node *own;
HELD pthread_key_t key;

static PART struct node *make_node(int id)
{
	struct node *node = NEW(struct node);
	node->id = id;
	strcpy(node->name, "node");
	return node;
}

static PART struct node *make_list(int count, int doubly)
{
	struct node *head = NULL;
	for (int i = 0; i < count; i++) {
		struct node *node = make_node(i);
		node->next = head;
		if (doubly && head)
			head->prev = node;
		head = node;
	}
	return head;
}

static PART struct tree *make_tree(int depth)
{
	if (!depth)
		return NULL;
	struct tree *tree = NEW(struct tree);
	tree->key = depth;
	tree->left = make_tree(depth - 1);
	tree->right = make_tree(depth - 1);
	return tree;
}

static PART void leak_tree(struct tree *tree)
{
	if (!tree)
		return;
	account_leaked(tree);
	leak_tree(tree->left);
	leak_tree(tree->right);
}

/* Everything after the head, which may lead back to it. */
static PART void leak_list(struct node *head)
{
	struct node *at = head;
	do {
		account_leaked(at);
		at = at->next;
	} while (at && at != head);
}

static PART void leak_single(void)
{
	for (int i = 0; i < 400; i++)
		account_leaked(account_is(malloc(8 + account_random(300)), "char|void", 1));
	for (int i = 0; i < 100; i++)
		account_leaked(make_node(i));
}

static PART void leak_groups(void)
{
	for (int i = 0; i < 40; i++) {
		leak_list(make_list(10, i & 1));
		struct node *ring = make_list(6, 1), *last = ring;
		while (last->next)
			last = last->next;
		last->next = ring;
		ring->prev = last;
		leak_list(ring);
	}
	leak_tree(make_tree(8));
	for (int i = 0; i < 50; i++) { /* two that hold each other, in the middle */
		struct message *a = account_is(calloc(1, sizeof *a + 30), "struct message", 1);
		a->about = account_leaked(make_node(i));
		a->about->next = (struct node *)&a->text[4];
		account_leaked(a);
	}
}

/* The only pointer is in a block that was freed: its content may still be there. */
static PART void leak_behind_freed(void)
{
	for (int i = 0; i < 60; i++) {
		struct held *holder = NEW(struct held);
		struct node *padding = make_node(i);
		holder->node = account_leaked(make_node(i));
		holder->node->next = account_leaked(make_node(-i));
		free(holder);
		account_leaked(padding);
	}
	char *large = malloc(3000); /* goes to the unsorted bin */
	void *fence = account_is(malloc(100), "char", 100);
	memset(large, 0, 3000);
	*(void **)(large + 1504) = account_leaked(make_node(1));
	free(large);
	account_leaked(fence);
}

static PART void leak_cleared(void)
{
	cleared = make_list(20, 1);
	leak_list(cleared);
	cleared = NULL;
	for (int i = 0; i < 64; i++) {
		holders[i] = NEW(struct held);
		holders[i]->node = make_node(i);
		if (i % 3 == 0) { /* the pointer is overwritten */
			account_leaked(holders[i]->node);
			holders[i]->node = NULL;
		}
	}
}

/* Left far below where the stack will be at the end. */
static PART void leak_below_stack(void)
{
	struct node *volatile deep[40000];
	deep[5] = account_leaked(make_node(5));
	__asm__ volatile("" : : "r"(deep) : "memory");
}

static PART void keep(void)
{
	kept = make_list(300, 1);
	kept_tree = make_tree(7);
	ring_entry = make_list(2, 1);
	own = make_list(4, 0);
	pthread_key_create(&key, NULL);
	pthread_setspecific(key, make_list(4, 0));
	for (int i = 0; i < 32; i++) { /* only a pointer into the middle is kept */
		char *text = account_is(calloc(1, 80), "char", 80);
		inside[i] = text + 9 + i;
	}
	mapped = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	mapped[100] = (uintptr_t)make_list(5, 0);
}

struct work {
	pthread_barrier_t *started;
	int id;
};

/* A thread that waits, with blocks in its frame, in its TLS, and nowhere. */
static PART void wait_with(struct node *mine)
{
	struct node *volatile on_stack = mine;
	for (;;)
		pause();
	(void)on_stack;
}

static PART void leak_in_thread(void)
{
	for (int i = 0; i < 10; i++) {
		account_leaked(make_node(i));
		free(make_node(i));
	}
}

static void *run(void *argument)
{
	pthread_barrier_t *started = argument;
	own = make_list(3, 0);
	leak_in_thread();
	account_scrub();
	pthread_barrier_wait(started);
	wait_with(make_list(3, 0));
	return NULL;
}

static PART void start_threads(void)
{
	static pthread_barrier_t started;
	pthread_t thread;
	pthread_barrier_init(&started, NULL, 5);
	for (int i = 0; i < 4; i++)
		pthread_create(&thread, NULL, run, &started);
	pthread_barrier_wait(&started);
}

int main(void)
{
	keep();
	leak_below_stack();
	leak_single();
	leak_groups();
	leak_behind_freed();
	leak_cleared();
	start_threads();
	usleep(200000); /* until all of them wait */
	account_die();
}
