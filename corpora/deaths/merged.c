/* Dies in a call that does not return, of which the function has several: an optimizer makes one of them.
 * flags: -fno-optimize-sibling-calls */
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>

#include "death.h"

struct queue {
	unsigned head, size;
	long sum;
	struct queue *next;
};

volatile long sink;

static NOINLINE __attribute__((noreturn)) void give_up(const char *why)
{
	fputs(why, stderr);
	abort();
}

static NOINLINE long aborts(const struct queue *q)
{
	if (q->head > q->size)
		abort(); /* dies: first */
	sink = q->head;
	if (q->sum < 0)
		abort(); /* dies: second */
	sink = q->sum;
	if (!q->next)
		abort(); /* dies: third */
	return q->next->sum;
}

static NOINLINE long traps(const struct queue *q)
{
	if (q->head > q->size)
		__builtin_trap(); /* dies: trap-first */
	sink = q->head;
	if (q->sum < 0)
		__builtin_trap(); /* dies: trap-second */
	sink = q->sum;
	return q->next->sum;
}

static NOINLINE long gives_up(const struct queue *q)
{
	if (q->head > q->size)
		give_up("the queue is bad\n"); /* dies: function-first */
	sink = q->head;
	if (q->sum < 0)
		give_up("the queue is bad\n"); /* dies: function-second */
	return q->next->sum;
}

/* One call in the source: its line is right whatever led there. */
static NOINLINE long once(const struct queue *q)
{
	if (q->head > q->size || q->sum < 0)
		abort(); /* dies: once */
	sink = q->sum;
	return q->next->sum;
}

static void die_first(void)
{
	static const struct queue q = {5, 3, 0, NULL};
	sink = aborts(opaque(&q));
}

static void die_second(void)
{
	static const struct queue q = {2, 3, -1, NULL};
	sink = aborts(opaque(&q));
}

static void die_third(void)
{
	static const struct queue q = {2, 3, 1, NULL};
	sink = aborts(opaque(&q));
}

static void die_trap_first(void)
{
	static const struct queue q = {5, 3, 0, NULL};
	sink = traps(opaque(&q));
}

static void die_trap_second(void)
{
	static const struct queue q = {2, 3, -1, NULL};
	sink = traps(opaque(&q));
}

static void die_function_first(void)
{
	static const struct queue q = {5, 3, 0, NULL};
	sink = gives_up(opaque(&q));
}

static void die_function_second(void)
{
	static const struct queue q = {2, 3, -1, NULL};
	sink = gives_up(opaque(&q));
}

static void die_once(void)
{
	static const struct queue q = {2, 3, -1, NULL};
	sink = once(opaque(&q));
}

DEATHS({"first", die_first}, {"second", die_second}, {"third", die_third}, {"trap-first", die_trap_first},
       {"trap-second", die_trap_second}, {"function-first", die_function_first},
       {"function-second", die_function_second}, {"once", die_once})
