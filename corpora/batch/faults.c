/* Dies of faults that triage tools are known to take for each other: instructions that are no mov, and stacks of which one frame is left. */
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "death.h"

volatile long sink;

static void *nowhere(void)
{
	return opaque((void *)(uintptr_t)0x123456789000);
}

/* ---- other instructions than mov ---- */

static NOINLINE void compare(const int *counter)
{
	__asm__ volatile("cmpl $0, (%0)" : : "r"(counter) : "cc", "memory"); /* dies: compare */
}

static NOINLINE void add(int *counter)
{
	__asm__ volatile("addl $1, (%0)" : : "r"(counter) : "cc", "memory"); /* dies: add */
}

static NOINLINE void push(const long *word)
{
	__asm__ volatile("pushq (%0)" : : "r"(word) : "cc", "memory"); /* dies: push */
}

static NOINLINE void fill(char *to, size_t size)
{
	__asm__ volatile("rep stosb" : "+D"(to), "+c"(size) : "a"(0) : "memory"); /* dies: fill */
}

static NOINLINE void move(char *to, const char *from, size_t size)
{
	__asm__ volatile("rep movsb" : "+D"(to), "+S"(from), "+c"(size) : : "memory"); /* dies: move */
}

static NOINLINE size_t measure(const char *text)
{
	return strlen(text) + 1; /* glibc's compares 32 bytes at once; dies: vector */
}

static void die_compare(void)
{
	compare(nowhere());
	sink++;
}

static void die_add(void)
{
	add(nowhere());
	sink++;
}

static void die_push(void)
{
	push(nowhere());
	sink++;
}

static void die_fill(void)
{
	fill(nowhere(), 64);
	sink++;
}

static void die_move(void)
{
	char room[64];
	move(opaque(room), nowhere(), sizeof room);
	sink++;
}

static void die_vector(void)
{
	sink = (long)measure(nowhere());
}

/* ---- one function that dies, by three ways to it and by none: no two of them have the same code, which compilers would fold ---- */

static NOINLINE void touch(long *word)
{
	*word = 1; /* dies: by-reader by-writer by-closer by-nobody */
}

static NOINLINE void read_header(long *word)
{
	touch(word);
	sink++;
}

static NOINLINE void read_all(long *word)
{
	read_header(word);
	sink++;
}

static NOINLINE void flush_page(long *word)
{
	touch(word);
	sink += 2;
}

static NOINLINE void write_all(long *word)
{
	flush_page(word);
	sink += 2;
}

static NOINLINE void drop_handle(long *word)
{
	touch(word);
	sink += 3;
}

static NOINLINE void close_all(long *word)
{
	drop_handle(word);
	sink += 3;
}

static void die_by_reader(void)
{
	read_all(nowhere());
	sink++;
}

static void die_by_writer(void)
{
	write_all(nowhere());
	sink++;
}

static void die_by_closer(void)
{
	close_all(nowhere());
	sink++;
}

/* A stack that holds nothing: nobody knows who called. */
static void die_by_nobody(void)
{
	char *stack = mmap(NULL, 16384, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	__asm__ volatile("movq %0, %%rsp\n\txorl %%ebp, %%ebp\n\tpushq $0\n\tjmpq *%1"
			 :
			 : "r"(stack + 8192), "r"(touch), "D"(nowhere())
			 : "memory");
}

DEATHS({"compare", die_compare}, {"add", die_add}, {"push", die_push}, {"fill", die_fill}, {"move", die_move},
       {"vector", die_vector}, {"by-reader", die_by_reader}, {"by-writer", die_by_writer}, {"by-closer", die_by_closer},
       {"by-nobody", die_by_nobody})
