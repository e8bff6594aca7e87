/* Dies through members of unions: the expression is that of the source, not of another member at the same place.
 * flags: -fno-optimize-sibling-calls */
#include <stdlib.h>
#include <string.h>

#include "death.h"

struct number {
	long high, low;
};

struct value {
	int type;
	unsigned count;
	union {
		int flag;
		double real;
		char *text;
		struct value **items;
		struct pair *pairs;
		struct number *number;
	} as;
};

struct pair {
	char *key;
	struct value *value;
};

union word {
	long whole;
	void *any;
	struct number *number;
	long *longs;
};

struct node {
	union word words[4];
	union { /* nameless */
		struct number *first;
		struct pair *second;
	};
};

volatile long sink;
static union word global;
static struct node node;

static NOINLINE unsigned item(const struct value *v, long i)
{
	return v->as.items[i]->count; /* dies: items */
}

static NOINLINE unsigned paired(const struct value *v, long i)
{
	return v->as.pairs[i].value->count; /* dies: pairs */
}

static NOINLINE long low(const struct value *v)
{
	return v->as.number->low; /* dies: number */
}

static NOINLINE long far_long(const union word *words)
{
	return words[2].longs[3]; /* dies: longs */
}

static NOINLINE long low_of_global(void)
{
	return global.number->low; /* dies: global */
}

static NOINLINE struct value *second(const struct node *of)
{
	return of->second->value; /* dies: nameless */
}

static NOINLINE long length(const struct value *v, long i)
{
	return (long)strlen(v->as.items[i]->as.text) + 1; /* dies: text */
}

static NOINLINE struct value *new_value(void)
{
	return calloc(1, sizeof(struct value));
}

static void die_items(void)
{
	struct value *v = new_value();
	v->as.items = calloc(4, sizeof *v->as.items);
	sink = item(opaque(v), opaque_long(2));
}

static void die_pairs(void)
{
	struct value *v = new_value();
	v->as.pairs = calloc(4, sizeof *v->as.pairs);
	sink = paired(opaque(v), opaque_long(2));
}

static void die_number(void)
{
	sink = low(opaque(new_value()));
}

static void die_longs(void)
{
	sink = far_long(opaque(node.words));
}

static void die_global(void)
{
	KEEP(global);
	sink = low_of_global();
}

static void die_nameless(void)
{
	sink = (long)second(opaque(&node));
}

static void die_text(void)
{
	struct value *v = new_value();
	v->as.items = calloc(4, sizeof *v->as.items);
	v->as.items[1] = new_value();
	sink = length(opaque(v), opaque_long(1));
}

DEATHS({"items", die_items}, {"pairs", die_pairs}, {"number", die_number}, {"longs", die_longs}, {"global", die_global},
       {"nameless", die_nameless}, {"text", die_text})
