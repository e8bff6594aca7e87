/* Dies of SIGSEGV through what is not an element of its array: an index past the last, or before the first; and through
 * numbers that are taken for pointers. */
#include <stdint.h>
#include <stdlib.h>

#include "death.h"

enum { PARTS = 4 };

struct part {
	int kind;
	struct part *owner;
	long weight;
};

typedef long (*handler)(struct part *);

static struct {
	handler handlers[PARTS];
	unsigned long ticks;
} engine = {.ticks = 9};

static struct {
	long count;
	struct part *parts[PARTS];
	const char *name;
} pool = {.count = 3, .name = "names are text"};

static struct {
	struct part *cells[3][PARTS];
	long full;
} grid = {.full = 5};

struct list {
	struct part *parts[PARTS];
	long used;
	struct part *spare;
};

struct tail {
	long count;
	struct part *parts[2]; /* or more */
};

static struct part one = {.weight = 1};
static long scores[PARTS];
volatile long sink;

/* ---- who dies ---- */

static NOINLINE void call_handler(long i)
{
	sink = engine.handlers[i](&one) + 1; /* dies: call-past */
}

static NOINLINE long weigh(long i)
{
	return pool.parts[i]->weight + 1; /* dies: before */
}

static NOINLINE long weigh_owner(long i)
{
	return pool.parts[i]->owner->weight + 1; /* dies: text */
}

static NOINLINE long weigh_cell(long i, long k)
{
	return grid.cells[i][k]->weight + 1; /* dies: cell */
}

static NOINLINE long weigh_listed(const struct list *list, long i)
{
	return list->parts[i]->weight + 1; /* dies: block null */
}

static NOINLINE long weigh_tail(const struct tail *tail, long i)
{
	return tail->parts[i]->weight + 1; /* dies: tail */
}

static NOINLINE long weigh_part(const struct part *part)
{
	return part->weight + 1; /* dies: passed descriptor offset */
}

static NOINLINE void score(long i)
{
	scores[i] = 5; /* dies: far */
	KEEP(scores);
}

static NOINLINE long weigh_local(long i)
{
	struct list list = {.used = 7};
	list.parts[0] = &one;
	KEEP(list);
	return list.parts[i]->weight + 1; /* dies: local */
}

/* ---- how they come to it ---- */

static void call_past(void)
{
	call_handler(opaque_long(PARTS));
}

static void before(void)
{
	sink = weigh(opaque_long(-1));
}

static void text(void)
{
	sink = weigh_owner(opaque_long(PARTS));
}

static void cell(void)
{
	sink = weigh_cell(opaque_long(2), opaque_long(PARTS));
}

static struct list *new_list(void)
{
	struct list *list = calloc(1, sizeof *list);
	list->used = 3;
	return opaque(list);
}

static void block(void)
{
	sink = weigh_listed(new_list(), opaque_long(PARTS));
}

static void null(void)
{
	sink = weigh_listed(new_list(), opaque_long(PARTS + 1));
}

/* The array is as long as its block: this element exists. */
static void tail(void)
{
	struct tail *long_tail = calloc(1, sizeof *long_tail + 8 * sizeof long_tail->parts[0]);
	sink = weigh_tail(opaque(long_tail), opaque_long(5));
}

static void passed(void)
{
	sink = weigh_part(pool.parts[opaque_long(-1)]);
}

static void local(void)
{
	sink = weigh_local(opaque_long(PARTS));
}

static void far(void)
{
	score(opaque_long(1L << 40));
}

/* A file descriptor as the argument of a callback. */
static void descriptor(void)
{
	sink = weigh_part(opaque((void *)(uintptr_t)17));
}

/* The member of an object that is not there. */
static void offset(void)
{
	struct list *none = opaque(NULL);
	sink = weigh_part((struct part *)&none->spare);
}

DEATHS({"call-past", call_past}, {"before", before}, {"text", text}, {"cell", cell}, {"block", block}, {"null", null},
       {"tail", tail}, {"passed", passed}, {"local", local}, {"far", far}, {"descriptor", descriptor},
       {"offset", offset})
