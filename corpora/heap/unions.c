/* unions: values of a tag and a union of a number, a text, numbers and structs, in arrays, lists, hash tables and single
 * blocks. The numbers are small ones that could pass for a short text, large ones, and such as look like addresses. */
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include "account.h"

struct point {
	double x, y;
	struct point *next;
};

struct person {
	char *name;
	struct person *friend;
	int age, height;
	struct point *home;
};

enum { NUMBER, WORDS, POINT, PERSON, NUMBERS, SHORTS };

struct value {
	int tag;
	union {
		long n;
		char *text;
		struct point *point;
		struct person *person;
		long *numbers;
		unsigned short *shorts;
	} u;
};

/* The same without a member called tag: only its value tells. */
struct cell {
	char *label;
	int w;
	union {
		char *text;
		int *counts;
		struct person *person;
	};
	struct cell *next;
};

struct slot {
	unsigned hash;
	struct value value;
	struct slot *next;
};

struct stack {
	size_t used, size;
	struct value *items;
};

HELD struct value values[1200];
HELD struct value *single[300];
HELD struct stack *stack;
HELD struct slot *buckets[64];
HELD struct cell *cells;

static PART char *text(const char *what, unsigned number)
{
	char buffer[64];
	size_t size = (size_t)snprintf(buffer, sizeof buffer, "%s %u", what, number) + 1;
	return memcpy(account_is(malloc(size), "char", size), buffer, size);
}

static PART struct point *point(struct point *next)
{
	struct point *point = NEW(struct point);
	*point = (struct point){account_random(100) * 0.5, account_random(100) * 0.25, next};
	return point;
}

static PART struct person *person(unsigned i, struct person *friend)
{
	struct person *person = NEW(struct person);
	*person = (struct person){text("person", i), friend, (int)account_random(90), 170, i % 2 ? point(NULL) : NULL};
	return person;
}

/* Small numbers: each is a letter and seven NULs, or several letters. */
static PART long *numbers(unsigned i)
{
	size_t count = 1 + i % 5;
	long *numbers = NEWS(long, count);
	for (size_t k = 0; k < count; k++)
		numbers[k] = i % 3 ? 32 + (long)account_random(90) : (long)account_random(2000000000);
	return numbers;
}

static PART unsigned short *shorts(unsigned i)
{
	size_t count = 8 + i % 20;
	unsigned short *shorts = NEWS(unsigned short, count);
	for (size_t k = 0; k < count; k++)
		shorts[k] = (unsigned short)(i % 2 ? 0x4141 + account_random(20) : 33 + account_random(90));
	return shorts;
}

static PART void set(struct value *value, unsigned i)
{
	static struct person *last;
	static struct point *corner;
	value->tag = (int)account_random(6);
	if (value->tag == NUMBER)
		value->u.n = i % 2 ? (long)i : (long)(UINT64_C(0x9e3779b97f4a7c15) * i);
	else if (value->tag == WORDS)
		value->u.text = text("some words", i);
	else if (value->tag == POINT)
		value->u.point = corner = point(i % 3 ? corner : NULL);
	else if (value->tag == PERSON)
		value->u.person = last = person(i, i % 3 ? last : NULL);
	else if (value->tag == NUMBERS)
		value->u.numbers = numbers(i);
	else
		value->u.shorts = shorts(i);
}

static PART void add_cell(unsigned i)
{
	struct cell *cell = NEW(struct cell);
	cell->label = text("label", i);
	cell->w = (int)(i % 3);
	cell->next = cells;
	if (cell->w == 0) {
		cell->text = text("a cell's text", i);
	} else if (cell->w == 1) {
		cell->counts = NEWS(int, 6);
		for (int k = 0; k < 6; k++)
			cell->counts[k] = 33 + (int)account_random(90);
	} else {
		cell->person = person(i, NULL);
	}
	cells = cell;
}

int main(void)
{
	for (unsigned i = 0; i < 1200; i++)
		set(&values[i], i);
	for (unsigned i = 0; i < 300; i++)
		set(single[i] = NEW(struct value), i);
	stack = NEW(struct stack);
	stack->size = 500;
	stack->items = NEWS(struct value, stack->size);
	for (unsigned i = 0; i < 450; i++)
		set(&stack->items[stack->used++], i);
	for (unsigned i = 0; i < 600; i++) {
		struct slot *slot = NEW(struct slot);
		slot->hash = i * 2654435761U;
		slot->next = buckets[i % 64];
		set(&slot->value, i);
		buckets[i % 64] = slot;
		add_cell(i);
	}
	account_die();
}
