/* tables: one thread, one arena in one piece, N blocks in a doubly linked list, a tree, a hash table and sessions; one in a hundred leaked, in
 * groups of one to four. tables N [single]: the list is singly linked. */
#include <malloc.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include "account.h"

struct list_node {
	int id;
	unsigned value;
	char *key;
	struct list_node *next, *prev;
};

struct tree_node {
	uint64_t key;
	struct tree_node *left, *right;
	char *text;
};

struct entry {
	char *key;
	void *value;
	struct entry *next;
};

struct session {
	int fd;
	unsigned size;
	char *buffer, *peer;
	struct session *next;
	struct list_node *current;
};

struct lost {
	struct lost *next;
	char data[40];
};

HELD struct list_node *list_head;
HELD struct tree_node *tree;
HELD struct entry **buckets;
HELD size_t bucket_count;
HELD struct session *sessions;
HELD int doubly = 1;

static char *text(const char *what, long number, size_t least)
{
	char buffer[128];
	size_t size = (size_t)snprintf(buffer, sizeof buffer, "%s %ld", what, number) + 1;
	char *copy = calloc(1, size < least ? least : size);
	account_is(copy, "char", size);
	return memcpy(copy, buffer, size);
}

static PART void fill_list(long count)
{
	for (long i = 0; i < count; i++) {
		struct list_node *node = NEW(struct list_node);
		node->id = (int)i;
		node->value = account_random(1000);
		node->key = text("the key of a node", i, 64);
		node->next = list_head;
		if (list_head && doubly)
			list_head->prev = node;
		list_head = node;
	}
}

static PART struct tree_node *fill_tree(long lo, long hi)
{
	if (lo >= hi)
		return NULL;
	struct tree_node *node = NEW(struct tree_node);
	long middle = lo + (hi - lo) / 2;
	node->key = (uint64_t)middle;
	node->text = text("leaf", middle, 24 + account_random(300));
	node->left = fill_tree(lo, middle);
	node->right = fill_tree(middle + 1, hi);
	return node;
}

static PART void fill_hash(long count)
{
	bucket_count = (size_t)count / 2 + 1;
	buckets = NEWS(struct entry *, bucket_count);
	for (long i = 0; i < count; i++) {
		struct entry *entry = NEW(struct entry);
		size_t at = (size_t)((uint64_t)i * UINT64_C(0x9e3779b97f4a7c15) >> 20) % bucket_count;
		entry->key = text("entry", i, 56);
		entry->value = i % 2 ? text("value", i, 130) : NULL;
		entry->next = buckets[at];
		buckets[at] = entry;
	}
}

static PART void fill_sessions(long count)
{
	for (long i = 0; i < count; i++) {
		struct session *session = NEW(struct session);
		session->fd = (int)i;
		session->size = 200 + account_random(1600);
		session->buffer = calloc(1, session->size);
		account_is(session->buffer, "char", session->size);
		session->peer = text("10.0.0.1:", i, 0);
		session->current = list_head;
		session->next = sessions;
		sessions = session;
	}
}

static PART void lose(long count)
{
	for (long groups = 0; count > 0; groups++) {
		struct lost *head = NULL;
		for (long i = 0; i <= groups % 4 && count > 0; i++, count--) {
			struct lost *lost = NEW(struct lost);
			lost->next = head;
			head = account_leaked(lost);
		}
	}
}

/* What was freed between them stays free: small pieces in bins, large ones joined. */
static PART void make_holes(long count)
{
	void *before = NULL;
	for (long i = 0; i < count; i++) {
		void *hole = malloc(1040 + account_random(400));
		free(before);
		before = hole;
		struct session *session = NEW(struct session);
		session->next = sessions;
		sessions = session;
	}
	free(before);
}

int main(int argc, char **argv)
{
	long count = argc > 1 ? atol(argv[1]) : 1000000;
	doubly = argc < 3;
	mallopt(M_MMAP_MAX, 0);
	mallopt(M_TRIM_THRESHOLD, 1 << 30);
	fill_list(count * 13 / 100);
	tree = fill_tree(0, count * 9 / 100);
	lose(count / 200);
	fill_hash(count * 2 / 10);
	fill_sessions(count * 2 / 100);
	lose(count / 200);
	make_holes(count / 100);
	account_die();
}
