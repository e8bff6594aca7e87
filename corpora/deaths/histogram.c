/* Dies of a pointer near NULL. A histogram has one bin too few: what it counts goes over the header of the next block,
 * and over the pointer behind it. Or the header is overwritten, and the pointer has nothing to do with it. */
#include <stdlib.h>
#include <string.h>

#include "death.h"

struct source {
	const char *name;
	struct source *peer;
	long total;
};

static volatile long sink;
static char *volatile label;
static long *volatile counts;

static NOINLINE long balance(const struct source *s)
{
	return s->total - s->peer->total; /* dies: neighbour alone null */
}

static NOINLINE void count(long bin, long value)
{
	counts[bin] = value;
}

static NOINLINE struct source *new_source(void)
{
	struct source *s = calloc(1, sizeof *s);
	s->name = "source";
	s->peer = opaque(s);
	return s;
}

static void neighbour(void)
{
	counts = calloc(9, sizeof *counts);
	struct source *s = new_source();
	for (long bin = 0; bin < 12; bin++)
		count(bin, 100 + bin);
	sink = balance(opaque(s));
}

/* A NUL went over the header: the text was one too long. The pointer was set to a number by the program itself. */
static void alone(void)
{
	label = malloc(24);
	struct source *s = new_source();
	strcpy(opaque(label), "twenty-four letters long");
	s->peer = opaque((void *)0x71);
	sink = balance(opaque(s));
}

/* The pointer is NULL, as it was before the header was overwritten. */
static void null(void)
{
	counts = calloc(9, sizeof *counts);
	struct source *s = new_source();
	s->peer = NULL;
	count(9, 100);
	sink = balance(opaque(s));
}

DEATHS({"neighbour", neighbour}, {"alone", alone}, {"null", null})
