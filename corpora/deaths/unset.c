/* Dies of SIGSEGV of local variables that were never set: they hold what lay on the stack.
 * flags: -fno-optimize-sibling-calls -Wno-uninitialized
 * flags gcc: -Wno-maybe-uninitialized */
#include <stdio.h>
#include <stdlib.h>

#include "death.h"

struct part {
	int kind;
	struct part *next;
	long weight;
};

struct cursor {
	long position, end;
	struct part *part;
};

volatile long sink;
static struct part good = {1, NULL, 5};
static long table[8] = {1, 2, 3, 4, 5, 6, 7, 8};

static NOINLINE void scribble(void)
{
	volatile unsigned long words[160];
	for (size_t i = 0; i < 160; i++)
		words[i] = 0x1122334455660000 + i * 0x11;
	KEEP(words);
}

static NOINLINE struct part *new_part(void)
{
	return opaque(&good);
}

static NOINLINE long weight_of(const struct part *part)
{
	return part->weight + 1; /* dies: passed */
}

static NOINLINE long plain(void)
{
	struct part *volatile part;
	long room[6];
	KEEP(room);
	return part->weight + 1; /* dies: plain */
}

static NOINLINE void write_plain(long weight)
{
	struct part *volatile part;
	long room[6];
	KEEP(room);
	part->weight = weight; /* dies: write */
}

/* The other members are set. */
static NOINLINE long field(long position)
{
	struct cursor cursor;
	cursor.position = position;
	cursor.end = position + 7;
	sink = cursor.position + cursor.end;
	return cursor.part->weight + 1; /* dies: field */
}

static NOINLINE long pass_on(void)
{
	struct part *volatile part;
	long room[6];
	KEEP(room);
	return weight_of(part) + 1;
}

/* Set on the other way only. */
static NOINLINE long branch(int how)
{
	struct part *part;
	long room[6];
	KEEP(room);
	if (how == 77)
		part = new_part();
	return part->weight + 1; /* dies: branch */
}

/* Its address is given away, and nothing comes back. */
static NOINLINE int find(struct part **found, int kind)
{
	if (kind != good.kind)
		return -1;
	*found = &good;
	return 0;
}

static NOINLINE long filled(int kind)
{
	struct part *part;
	long room[6];
	KEEP(room);
	find(&part, kind);
	return part->weight + 1; /* dies: filled */
}

static NOINLINE long index_of(void)
{
	volatile long i;
	long room[6];
	KEEP(room);
	return table[i] + 1; /* dies: index */
}

static NOINLINE size_t length(void)
{
	const char *volatile name;
	long room[6];
	KEEP(room);
	return strlen(name) + 1; /* dies: library */
}

/* Set at the end of each round, and used in the first. */
static NOINLINE long walk(int rounds)
{
	struct part *last;
	long sum = 0, room[6];
	KEEP(room);
	for (int i = 0; i < rounds; i++) {
		sum += last->weight; /* dies: round */
		last = new_part();
	}
	return sum;
}

typedef long visit(const struct part *part);

static NOINLINE long call(void)
{
	visit *volatile how;
	long room[6];
	KEEP(room);
	return how(&good) + 1; /* dies: call */
}

static volatile long three = 3;

/* So that the variables do not lie where the frames of main's own calls did. */
static NOINLINE long below(int which)
{
	long room[8];
	KEEP(room);
	switch (which) {
	case 0:
		return plain();
	case 1:
		write_plain(3);
		return 1;
	case 2:
		return field(three);
	case 3:
		return pass_on();
	case 4:
		return branch((int)three);
	case 5:
		return filled((int)three);
	case 6:
		return index_of();
	case 7:
		return (long)length();
	case 8:
		return walk((int)three);
	default:
		return call();
	}
}

#define DEATH(name, which)                                                                                             \
	static void die_##name(void)                                                                                   \
	{                                                                                                              \
		scribble();                                                                                            \
		sink = below((int)opaque_long(which));                                                                 \
	}
DEATH(plain, 0)
DEATH(write, 1)
DEATH(field, 2)
DEATH(passed, 3)
DEATH(branch, 4)
DEATH(filled, 5)
DEATH(index, 6)
DEATH(library, 7)
DEATH(round, 8)
DEATH(call, 9)

DEATHS({"plain", die_plain}, {"write", die_write}, {"field", die_field}, {"passed", die_passed}, {"branch", die_branch},
       {"filled", die_filled}, {"index", die_index}, {"library", die_library}, {"round", die_round}, {"call", die_call})
