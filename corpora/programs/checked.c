/* Dies of SIGABRT because the C library or the compiler's check noticed the damage. Arguments: double-free,
 * heap-overflow (writes over the next chunk's size, noticed by free), bad-free (a pointer into the stack),
 * smash (stack protector), fortify (strcpy into too small a field; build with -O2 -D_FORTIFY_SOURCE=2). */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "crash.h"

struct record {
	char name[8];
	int id;
};

static NOINLINE void release(void *block)
{
	free(block);
}

static NOINLINE void double_free(void)
{
	char *block = malloc(48);

	strcpy(block, "freed twice");
	release(block);
	release(opaque(block));
}

/* Two chunks above the tcache's sizes stand side by side; the first is written far past its end. */
static NOINLINE void heap_overflow(size_t excess)
{
	char *first = malloc(2000), *second = malloc(2000), *third = malloc(2000);

	KEEP(third);
	memset(opaque(first), 'A', 2000 + excess);
	release(second);
}

static NOINLINE void bad_free(void)
{
	char local[64] = ""; /* zero, where the chunk's size would be */

	release(malloc(24)); /* a first free would start an arena of its own, and a core of 64 MiB */
	release(opaque(local + 16));
}

static NOINLINE void smash_stack(const char *text)
{
	char name[16] = "";

	memcpy(opaque(name), text, strlen(text) + 1);
	KEEP(name);
}

static NOINLINE void fill_record(struct record *record, const char *name)
{
	strcpy(record->name, name);
	KEEP(*record); /* not a tail call */
}

int main(int argc, char **argv)
{
	static char long_text[] = "much longer than the sixteen bytes that were set aside for it";
	struct record record = {.id = 5};
	const char *how = argc == 2 ? argv[1] : "";

	if (strcmp(how, "double-free") == 0)
		double_free();
	if (strcmp(how, "heap-overflow") == 0)
		heap_overflow(40);
	if (strcmp(how, "bad-free") == 0)
		bad_free();
	if (strcmp(how, "smash") == 0)
		smash_stack(opaque(long_text));
	if (strcmp(how, "fortify") == 0)
		fill_record(&record, opaque(long_text));
	KEEP(record);
	return 2;
}
