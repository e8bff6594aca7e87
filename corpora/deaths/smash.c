/* Dies of SIGABRT because the stack protector found a local array written past its end.
 * flags: -fstack-protector-strong -fno-optimize-sibling-calls -U_FORTIFY_SOURCE */
#include <stdio.h>

#include "death.h"

struct record {
	int id;
	char name[12];
};

volatile long sink;
static const char text[] = "a name much longer than anybody thought of when this was written, and then some more of it";

static NOINLINE void write_bytes(char *to, const char *from, size_t size)
{
	for (size_t i = 0; i < size; i++)
		((volatile char *)to)[i] = from[i];
}

static NOINLINE void copy_name(const char *name)
{
	char local[16];
	strcpy(opaque(local), name);
	KEEP(local); /* dies: strcpy */
} /* dies: strcpy */

/* Just over the canary, not the return address. */
static NOINLINE void copy_bytes(const char *from, size_t size)
{
	char bytes[24];
	write_bytes(opaque(bytes), from, size);
	KEEP(bytes); /* dies: short */
} /* dies: short */

static NOINLINE void format_line(const char *user, int number)
{
	char line[20];
	int shown = number * 2;
	sprintf(opaque(line), "user %s has %d", user, shown);
	KEEP(line); /* dies: sprintf */
} /* dies: sprintf */

static NOINLINE void fill_record(const char *name, size_t size)
{
	struct record record = {.id = 7};
	write_bytes(opaque(record.name), name, size);
	KEEP(record); /* dies: field */
} /* dies: field */

static NOINLINE void count_numbers(long first, size_t count)
{
	long numbers[10];
	volatile long *to = opaque(numbers);
	for (size_t i = 0; i < count; i++)
		to[i] = first + (long)i;
	KEEP(numbers); /* dies: numbers */
} /* dies: numbers */

static void die_strcpy(void)
{
	copy_name(opaque(text));
	sink = 1;
}

static void die_short(void)
{
	copy_bytes(opaque(text), (size_t)opaque_long(30));
	sink = 1;
}

static void die_sprintf(void)
{
	format_line(opaque("somebody with a long name"), 21);
	sink = 1;
}

static void die_field(void)
{
	fill_record(opaque(text), (size_t)opaque_long(40));
	sink = 1;
}

static void die_numbers(void)
{
	count_numbers(opaque_long(1000), (size_t)opaque_long(14));
	sink = 1;
}

DEATHS({"strcpy", die_strcpy}, {"short", die_short}, {"sprintf", die_sprintf}, {"field", die_field},
       {"numbers", die_numbers})
