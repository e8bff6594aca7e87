/* Dies of SIGSEGV through a pointer that a loop moves on, an index that counts from the end, or a key that others pass on. */
#include <limits.h>
#include <stdlib.h>

#include "death.h"

struct phrase {
	long length;
	const unsigned char *positions; /* "3, 2, END_OF_COLUMN, number of the next column, 4, END_OF_LIST" */
	int column;
};

enum { END_OF_LIST = 0, END_OF_COLUMN = 1 };

struct item {
	long key;
	long value;
};

struct row {
	long count;
	struct item *items[4];
};

struct entry {
	char *name;
	unsigned long hash;
};

volatile long sink;
volatile int columns = 8;

/* ---- who dies ---- */

/* The number's bytes. */
static NOINLINE int read_number(const unsigned char *from, int *number)
{
	*number = *from & 0x7f;
	return *from & 0x80 ? 2 : 1;
}

/* Not known to the compiler, which would else see what it leaves as it was. */
static int (*volatile reader)(const unsigned char *from, int *number) = read_number;

static NOINLINE int count_positions(const struct phrase *phrase, int *counts)
{
	const unsigned char *at = phrase->positions;
	int column = 0;
	for (;;) {
		int count = 0;
		while (*at > END_OF_COLUMN) { /* dies: position-list */
			at++;
			count++;
		}
		counts[column] = count;
		if (*at == END_OF_LIST)
			return column;
		at++;
		at += reader(at, &column);
		if (column >= columns)
			return -1;
	}
}

static NOINLINE long last_value(const struct row *row, long count)
{
	return row->items[count - 1]->value + 1; /* dies: last-item */
}

static NOINLINE void write_digits(unsigned number, int count)
{
	char digits[8];
	for (int i = count; --i >= 0; number >>= 4)
		digits[i] = "0123456789abcdef"[number & 15]; /* dies: digits */
	KEEP(digits);
}

/* No address at all: x86 has another signal for what is counted from the stack's registers. */
static NOINLINE void write_far(long at)
{
	char digits[8];
	digits[at] = 'x'; /* dies: far-digit */
	KEEP(digits);
}

/* It begins with a good pointer, and a step leads to NULL. */
static NOINLINE long sum_steps(const unsigned char *from, long step, int count)
{
	long sum = 0;
	for (const unsigned char *at = from; count-- > 0; at += step)
		sum += *at; /* dies: step-to-null */
	return sum;
}

static NOINLINE unsigned long hash_of(const char *key)
{
	unsigned long hash = 5381;
	while (*key) /* dies: unrelated-free not-freed copied-key */
		hash = hash * 33 + (unsigned char)*key++;
	return hash;
}

static NOINLINE long forget_hash(struct entry *entry, const char *key)
{
	entry->hash ^= hash_of(key);
	return 1;
}

static NOINLINE long forget(struct entry *entry, const char *key)
{
	free(entry->name);
	entry->name = NULL;
	return forget_hash(entry, key) + 1; /* dies: freed-key */
}

/* Three that free something, and not the key's block. */
static NOINLINE long drop_older(struct entry *entry, struct item *older, const char *key)
{
	free(older);
	return forget_hash(entry, key) + 1;
}

static NOINLINE long drop_named(struct entry *entry, const char *key, int named)
{
	if (named)
		free(entry->name);
	return forget_hash(entry, key) + 1;
}

static NOINLINE long report_drop(struct entry *entry, const char *key)
{
	char *copy = strdup("dropped");
	KEEP(*copy);
	free(copy);
	return forget_hash(entry, key) + 1;
}

/* And who did. */
static NOINLINE void drop_name(struct entry *entry)
{
	free(entry->name);
}

/* ---- how they come to it ---- */

static void position_list(void)
{
	int counts[16];
	struct phrase phrase = {.length = 3};
	sink = count_positions(opaque(&phrase), opaque(counts));
}

static void last_item(void)
{
	struct item item = {.value = 4};
	struct row row = {.count = 1, .items = {&item}};
	sink = last_value(opaque(&row), opaque_long(3));
}

/* What was to be made positive stays negative, and less by one it is large. */
static void digits(void)
{
	write_digits(0x1234, (int)opaque_long(INT_MAX));
}

static void far_digit(void)
{
	write_far(opaque_long(1L << 60));
}

static void step_to_null(void)
{
	unsigned char bytes[] = "abc";
	sink = sum_steps(bytes, -opaque_long((long)bytes), 2);
}

static NOINLINE void begin(struct entry *entry)
{
	entry->name = malloc(1 << 20);
	memset(entry->name, 'k', (1 << 20) - 1);
	entry->name[(1 << 20) - 1] = '\0';
}

static void freed_key(void)
{
	struct entry entry = {.hash = 1};
	begin(&entry);
	sink = forget(opaque(&entry), opaque(entry.name));
}

static void unrelated_free(void)
{
	struct entry entry = {.hash = 1};
	begin(&entry);
	drop_name(&entry);
	sink = drop_older(opaque(&entry), malloc(sizeof(struct item)), opaque(entry.name));
}

static void not_freed(void)
{
	struct entry entry = {.hash = 1};
	begin(&entry);
	drop_name(&entry);
	sink = drop_named(opaque(&entry), opaque(entry.name), (int)opaque_long(0));
}

static void copied_key(void)
{
	struct entry entry = {.hash = 1};
	begin(&entry);
	drop_name(&entry);
	sink = report_drop(opaque(&entry), opaque(entry.name));
}

DEATHS({"position-list", position_list}, {"last-item", last_item}, {"digits", digits}, {"far-digit", far_digit},
       {"step-to-null", step_to_null}, {"freed-key", freed_key}, {"unrelated-free", unrelated_free},
       {"not-freed", not_freed}, {"copied-key", copied_key})
