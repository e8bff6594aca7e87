/* Dies because control goes where no code is.
 * flags: -fno-stack-protector */
#include <dlfcn.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "death.h"

struct button {
	const char *label;
	int (*press)(int how);
};

volatile long sink;
static unsigned char table[64];
static int (*last)(int how);

static NOINLINE int press(const struct button *button, int how)
{
	return button->press(how) + 1; /* dies: call-unmapped call-noncanonical call-heap call-data call-page */
}

static NOINLINE double apply(double (*const *functions)(double), double x)
{
	return functions[1](x) + 1; /* dies: call-unloaded */
}

static NOINLINE int press_last(int how)
{
	return last(how); /* a tail call where the optimiser is allowed one */
}

static void push(void *where)
{
	struct button button = {"start", (int (*)(int))where};
	sink = press(opaque(&button), 3);
}

static void call_unmapped(void)
{
	push(opaque((void *)0x123456789000));
}

static void call_noncanonical(void)
{
	push(opaque((void *)(uintptr_t)0x7d31c0de98765432));
}

static void call_heap(void)
{
	push(opaque(calloc(1, 64)));
}

static void call_data(void)
{
	push(opaque(table));
}

/* Of a page that may be read only. */
static void call_page(void)
{
	push(mmap(NULL, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
}

/* A library that is no longer there, and tables of its functions that still are. */
static void call_unloaded(void)
{
	static const char *const names[] = {"cos", "sin", "tan", "log"};
	static void *functions[4];
	void *library = dlopen("libm.so.6", RTLD_NOW);
	for (int i = 0; library && i < 4; i++)
		functions[i] = dlsym(library, names[i]);
	KEEP(functions);
	if (library)
		dlclose(library);
	sink = (long)apply(opaque(functions), 0.5);
}

static void call_stack(void)
{
	unsigned char code[64] = {0x90, 0x90, 0xc3};
	KEEP(code);
	push(opaque(code));
}

static void jump_unmapped(void)
{
	last = (int (*)(int))opaque((void *)0x123456789000);
	press_last(4);
}

static void jump_noncanonical(void)
{
	last = (int (*)(int))opaque((void *)(uintptr_t)0x7d31c0de98765432);
	press_last(4);
}

static NOINLINE void spread(volatile uintptr_t *to, uintptr_t word, size_t count)
{
	for (size_t i = 0; i < count; i++)
		to[i] = word;
}

/* Overwrites what lies above its local, the return address too. */
static NOINLINE void copy_words(uintptr_t word, size_t count)
{
	volatile uintptr_t local[4];
	spread(opaque(local), word, count);
	KEEP(local); /* dies: return-noncanonical */
} /* dies: return-noncanonical */

static void return_unmapped(void)
{
	copy_words(0x123456789000, (size_t)opaque_long(10));
	sink = 1;
}

static void return_noncanonical(void)
{
	copy_words(UINT64_C(0x4141414141414141), (size_t)opaque_long(10));
	sink = 1;
}

static void return_null(void)
{
	copy_words(0, (size_t)opaque_long(10));
	sink = 1;
}

DEATHS({"call-unmapped", call_unmapped}, {"call-noncanonical", call_noncanonical}, {"call-heap", call_heap},
       {"call-data", call_data}, {"call-page", call_page}, {"call-stack", call_stack}, {"call-unloaded", call_unloaded},
       {"jump-unmapped", jump_unmapped}, {"jump-noncanonical", jump_noncanonical}, {"return-unmapped", return_unmapped},
       {"return-noncanonical", return_noncanonical}, {"return-null", return_null})
