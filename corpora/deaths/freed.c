/* Dies of SIGSEGV through a block that was freed, or past the end of one. */
#include <stdlib.h>

#include "death.h"

struct node {
	struct node *next;
	long key;
	char name[16];
	long value;
	int (*close)(struct node *node);
	struct node *parent;
};

struct timer {
	int (*fire)(struct timer *timer);
	long due;
	void *argument;
};

struct cache {
	long size;
	struct node *last;
};

volatile long sink;
struct cache *cache;

/* ---- use after free ---- */

static NOINLINE long next_value(const struct node *node)
{
	return node->next->value + 1; /* dies: read owned-read */
}

static NOINLINE void set_next(struct node *node, long value)
{
	node->next->value = value; /* dies: write */
}

static NOINLINE int expire(struct timer *timer)
{
	return timer->fire(timer) + 1; /* dies: call */
}

static NOINLINE long parent_value(const struct node *node)
{
	return node->parent->value + 1; /* dies: reused-read */
}

static NOINLINE long far_value(const struct node *nodes)
{
	return nodes[1000].value + 1; /* dies: unmapped-read unmapped-inside */
}

static NOINLINE void destroy(void *block)
{
	free(block);
}

static struct node *new_node(void)
{
	struct node *node = calloc(1, sizeof *node);
	node->next = calloc(1, sizeof *node);
	node->parent = node->next;
	return opaque(node);
}

static int on_fire(struct timer *timer)
{
	return (int)timer->due;
}

static void read_freed(void)
{
	struct node *node = new_node();
	destroy(node);
	sink = next_value(opaque(node));
}

static void write_freed(void)
{
	struct node *node = new_node();
	destroy(node);
	set_next(opaque(node), 5);
}

static void call_freed(void)
{
	struct timer *timer = malloc(sizeof *timer);
	*timer = (struct timer){.fire = on_fire, .due = 7};
	destroy(opaque(timer));
	sink = expire(opaque(timer));
}

/* Somebody else still has it. */
static void owned_read(void)
{
	cache = calloc(1, sizeof *cache);
	cache->last = new_node();
	destroy(cache->last);
	sink = next_value(opaque(cache->last));
}

/* The block belongs to somebody else by now, who wrote a text into it. */
static void reused_read(void)
{
	struct node *node = new_node();
	destroy(node);
	char *text = malloc(sizeof *node);
	memset(opaque(text), 'k', sizeof *node - 1);
	KEEP(*text);
	sink = parent_value(opaque(node));
}

/* A block so large that the C library gave its pages back. */
static void unmapped_read(void)
{
	struct node *nodes = calloc(4000, sizeof *nodes);
	KEEP(*nodes);
	destroy(opaque(nodes));
	sink = far_value(opaque(nodes));
}

static void unmapped_inside(void)
{
	struct node *nodes = calloc(9000, sizeof *nodes);
	struct node *some = opaque(nodes + 500);
	KEEP(*nodes);
	destroy(opaque(nodes));
	sink = far_value(opaque(some));
}

/* ---- past the end ---- */

static NOINLINE void fill(long *items, long count)
{
	for (long i = 0; i < count; i++)
		((volatile long *)items)[i] = i; /* dies: overrun-write */
}

static NOINLINE long sum(const long *items, long count)
{
	long total = 0;
	for (long i = 0; i < count; i++)
		total += ((const volatile long *)items)[i]; /* dies: overrun-read */
	return total;
}

static void overrun_write(void)
{
	long *items = malloc(20 * sizeof *items);
	fill(opaque(items), opaque_long(1L << 40));
}

static void overrun_read(void)
{
	long *items = calloc(20, sizeof *items);
	sink = sum(opaque(items), opaque_long(1L << 40));
}

DEATHS({"read", read_freed}, {"write", write_freed}, {"call", call_freed}, {"owned-read", owned_read},
       {"reused-read", reused_read}, {"unmapped-read", unmapped_read}, {"unmapped-inside", unmapped_inside},
       {"overrun-write", overrun_write}, {"overrun-read", overrun_read})
