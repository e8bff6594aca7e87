/* Dies because a sanitizer reports.
 * flags: -fsanitize=address -fno-omit-frame-pointer -fno-optimize-sibling-calls */
#include <stdlib.h>

#include "death.h"

struct node {
	long value;
	struct node *next;
};

volatile long sink;
long table[8];

static NOINLINE long value_of(const struct node *node)
{
	return node->value + 1; /* dies: freed */
}

static NOINLINE void put(char *to, long i)
{
	to[i] = 'x'; /* dies: overrun */
	sink = i;
}

static NOINLINE long entry(long i)
{
	return table[i] + 1; /* dies: global */
}

static NOINLINE long local(long i)
{
	long numbers[4] = {1, 2, 3, 4};
	KEEP(numbers);
	return numbers[i] + 1; /* dies: stack */
}

static NOINLINE void release(void *block)
{
	free(block); /* dies: twice */
	sink = 1;
}

static NOINLINE long null_value(const struct node *node)
{
	return node->value + 1; /* dies: null */
}

static void die_freed(void)
{
	struct node *node = calloc(1, sizeof *node);
	free(opaque(node));
	sink = value_of(opaque(node));
}

static void die_overrun(void)
{
	char *block = malloc(40);
	put(opaque(block), opaque_long(40));
}

static void die_global(void)
{
	sink = entry(opaque_long(8));
}

static void die_stack(void)
{
	sink = local(opaque_long(4));
}

static void die_twice(void)
{
	char *block = malloc(40);
	release(opaque(block));
	release(opaque(block));
}

static void die_null(void)
{
	sink = null_value(opaque(NULL));
}

DEATHS({"freed", die_freed}, {"overrun", die_overrun}, {"global", die_global}, {"stack", die_stack},
       {"twice", die_twice}, {"null", die_null})
