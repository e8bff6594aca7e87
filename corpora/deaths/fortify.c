/* Dies of SIGABRT because a checked function of the C library was to write past the end of its destination.
 * flags: -D_FORTIFY_SOURCE=2 -fno-optimize-sibling-calls */
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/select.h>
#include <unistd.h>

#include "death.h"

struct record {
	char name[8];
	int id;
};

volatile long sink;
static struct record record;
static char title[24];
static jmp_buf back;
static const char text[] = "a name much longer than anybody thought of when this was written";

static NOINLINE void fill_name(struct record *to, const char *name)
{
	strcpy(to->name, name); /* dies: strcpy */
	KEEP(*to);
}

static NOINLINE void fill_title(const char *from, size_t size)
{
	memcpy(title, from, size); /* dies: memcpy */
	KEEP(title);
}

static NOINLINE void append(const char *from)
{
	char local[16] = "name: ";
	strcat(local, from); /* dies: strcat */
	KEEP(local);
}

static NOINLINE void print_into(const char *from)
{
	char local[16];
	sprintf(local, "name: %s", from); /* dies: sprintf */
	KEEP(local);
}

static NOINLINE void clear(size_t size)
{
	char *block = malloc(40);
	memset(block, 0, size); /* dies: memset */
	sink = (long)block;
}

static NOINLINE void watch(int fd)
{
	fd_set set;
	FD_ZERO(&set);
	FD_SET(fd, &set); /* dies: fdset */
	KEEP(set);
}

static NOINLINE int save(void)
{
	return setjmp(back);
}

static NOINLINE void recover(int how)
{
	longjmp(back, how); /* dies: longjmp */
}

static NOINLINE void print_user(char *format)
{
	int written = 0;
	printf(format, &written); /* dies: format */
	sink = written;
}

static void die_strcpy(void)
{
	fill_name(&record, opaque(text));
}

static void die_memcpy(void)
{
	fill_title(opaque(text), (size_t)opaque_long(sizeof text));
}

static void die_strcat(void)
{
	append(opaque(text));
}

static void die_sprintf(void)
{
	print_into(opaque(text));
}

static void die_memset(void)
{
	clear((size_t)opaque_long(400));
}

static void die_fdset(void)
{
	watch((int)opaque_long(2000));
}

/* The frame that is to be gone back to has returned. */
static NOINLINE int save_below(void)
{
	char room[2000];
	KEEP(room);
	return save() + 1;
}

static void die_longjmp(void)
{
	sink = save_below();
	recover((int)opaque_long(1));
}

static void die_format(void)
{
	static char format[] = "user %n\n";
	print_user(opaque(format));
}

DEATHS({"strcpy", die_strcpy}, {"memcpy", die_memcpy}, {"strcat", die_strcat}, {"sprintf", die_sprintf},
       {"memset", die_memset}, {"fdset", die_fdset}, {"longjmp", die_longjmp}, {"format", die_format})
