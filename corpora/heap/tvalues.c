/* tvalues: the values and collected objects of an interpreter of Lua's kind: a union and a byte, strings behind their
 * headers, tables of an array and nodes, closures that end in arrays, blocks that the embedding program owns. */
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include "account.h"

#define COMMON                                                                                                         \
	struct object *next;                                                                                           \
	unsigned char tt, marked

struct object {
	COMMON;
};

union payload {
	struct object *gc;
	void *p;
	int (*f)(void *);
	long i;
	double n;
};

struct tvalue {
	union payload value_;
	unsigned char tt_;
};

struct string {
	COMMON;
	unsigned char extra;
	unsigned hash;
	size_t len;
	char contents[1];
};

struct node {
	struct tvalue val, key;
	int next;
};

struct table {
	COMMON;
	unsigned char flags, lsizenode;
	unsigned asize;
	struct tvalue *array;
	struct node *node;
	struct table *metatable;
	struct object *gclist;
};

struct closure {
	COMMON;
	unsigned char nupvalues;
	struct object *gclist;
	int (*f)(void *);
	struct tvalue upvalue[1];
};

struct state {
	struct object *all;
	struct tvalue *stack, *top;
	struct tvalue registry;
	struct string **strings;
	unsigned string_size;
};

enum { NIL, NUMBER, INTEGER, LIGHT, STRING = 68, TABLE, CLOSURE };

HELD struct state *L;

static PART void *link_in(void *block, unsigned char tt)
{
	struct object *object = block;
	object->tt = tt;
	object->next = L->all;
	L->all = object;
	return object;
}

static int function(void *state)
{
	return state != NULL;
}

static PART struct string *string(unsigned i)
{
	char text[64];
	size_t len = (size_t)snprintf(text, sizeof text, "string %u%s", i, i % 3 ? "" : " that is longer than others");
	struct string *string = account_is(calloc(1, offsetof(struct string, contents) + len + 1), "struct string", 1);
	link_in(string, STRING);
	string->hash = i * 2654435761U;
	string->len = len;
	memcpy(string->contents, text, len + 1);
	L->strings[i % L->string_size] = string;
	return string;
}

static PART void set(struct tvalue *value, unsigned depth);

static PART struct table *table(unsigned depth)
{
	struct table *table = link_in(NEW(struct table), TABLE);
	table->asize = account_random(6);
	table->lsizenode = (unsigned char)(1 + account_random(2));
	table->array = table->asize ? NEWS(struct tvalue, table->asize) : NULL;
	table->node = NEWS(struct node, 1 << table->lsizenode);
	for (unsigned i = 0; i < table->asize; i++)
		set(&table->array[i], depth - 1);
	for (int i = 0; i < 1 << table->lsizenode; i++) {
		set(&table->node[i].val, depth - 1);
		table->node[i].key.value_.gc = (struct object *)string(account_random(5000));
		table->node[i].key.tt_ = STRING;
	}
	return table;
}

static PART struct closure *closure(unsigned depth)
{
	unsigned count = 1 + account_random(3);
	struct closure *closure = account_is(
		calloc(1, offsetof(struct closure, upvalue) + count * sizeof(struct tvalue)), "struct closure", 1);
	link_in(closure, CLOSURE);
	closure->nupvalues = (unsigned char)count;
	closure->f = function;
	for (unsigned i = 0; i < count; i++)
		set(&closure->upvalue[i], depth - 1);
	return closure;
}

/* What only the embedding program knows: numbers that look like short texts. */
static PART void *light(void)
{
	uint64_t *block = account_is(calloc(5, sizeof *block), "uint64_t|void", 5);
	for (int i = 0; i < 5; i++)
		block[i] = 65 + account_random(50);
	return block;
}

static PART void set(struct tvalue *value, unsigned depth)
{
	static const unsigned char kinds[] = {NUMBER, INTEGER, LIGHT, STRING, STRING, TABLE, TABLE, CLOSURE};
	value->tt_ = kinds[account_random(depth ? 8 : 5)];
	if (value->tt_ == NUMBER)
		value->value_.n = account_random(100) * 0.5;
	else if (value->tt_ == INTEGER)
		value->value_.i = account_random(100);
	else if (value->tt_ == LIGHT)
		value->value_.p = light();
	else if (value->tt_ == STRING)
		value->value_.gc = (struct object *)string(account_random(5000));
	else if (value->tt_ == TABLE)
		value->value_.gc = (struct object *)table(depth);
	else
		value->value_.gc = (struct object *)closure(depth);
}

int main(void)
{
	L = NEW(struct state);
	L->string_size = 256;
	L->strings = NEWS(struct string *, L->string_size);
	L->stack = NEWS(struct tvalue, 100);
	L->top = L->stack + 60;
	set(&L->registry, 3);
	for (struct tvalue *at = L->stack; at < L->top; at++)
		set(at, 3);
	account_die();
}
