/* Dies because the stack is used up. The main stack is limited to 256 KiB first: the kernel asks the limit at each growth, so the core
 * stays small. */
#include <alloca.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <ucontext.h>

#include "death.h"

struct tree {
	struct tree *left, *right;
	long weight;
};

volatile long sink;
static volatile unsigned long bottom; /* never reached */
static struct tree *root;

static NOINLINE unsigned long descend(unsigned long depth)
{
	char room[40] = "room";
	KEEP(room);
	return depth == bottom ? depth : descend(depth + 1) * 3 + depth;
}

static NOINLINE unsigned long parse_list(unsigned long depth, const char *text);

static NOINLINE unsigned long parse_atom(unsigned long depth, const char *text)
{
	char copy[24] = "atom";
	KEEP(copy);
	return depth == bottom ? depth : parse_list(depth + 1, text) + 1;
}

static NOINLINE unsigned long parse_value(unsigned long depth, const char *text)
{
	return depth == bottom ? depth : parse_atom(depth + 1, text) + 1;
}

static NOINLINE unsigned long parse_list(unsigned long depth, const char *text)
{
	return depth == bottom ? depth : parse_value(depth + 1, text) + 1;
}

/* The tree is a ring. */
static NOINLINE long weigh(const struct tree *tree)
{
	return tree ? weigh(tree->left) + weigh(tree->right) + tree->weight : 0;
}

static NOINLINE unsigned long big_frames(unsigned long depth)
{
	unsigned char buffer[16384];
	memset(opaque(buffer), (int)depth, sizeof buffer);
	KEEP(buffer);
	return depth == bottom ? depth : big_frames(depth + 1) + buffer[depth % sizeof buffer];
}

/* One frame that is larger than the whole stack. */
static NOINLINE long huge_local(long at)
{
	char buffer[1 << 20];
	((volatile char *)buffer)[at] = 1;
	KEEP(buffer);
	return buffer[at];
}

static NOINLINE long allocate(size_t size)
{
	char *room = alloca(size);
	memset(opaque(room), 1, size);
	KEEP(*room);
	return room[0];
}

static NOINLINE long variable_length(size_t size)
{
	char room[size];
	for (size_t i = 0; i < size; i += 512)
		((volatile char *)room)[size - 1 - i] = 1;
	KEEP(room);
	return room[0];
}

/* Recursion through the C library. */
static int compare(const void *a, const void *b)
{
	long numbers[4] = {3, *(const long *)a, *(const long *)b, 1};
	if (numbers[1] == (long)bottom)
		return 0;
	qsort(opaque(numbers), 4, sizeof numbers[0], compare);
	KEEP(numbers);
	return (int)numbers[0];
}

/* Two functions that call each other as a bad random number has it. */
static NOINLINE unsigned long sum(unsigned number);

static NOINLINE unsigned long product(unsigned number)
{
	char room[24] = "product";
	KEEP(room);
	number = number * 1103515245 + 12345;
	return !number + (number >> 16 & 1 ? sum(number) + 1 : product(number) + 2);
}

static NOINLINE unsigned long sum(unsigned number)
{
	char room[24] = "sum";
	KEEP(room);
	number = number * 1664525 + 1013904223;
	return !number + (number >> 16 & 1 ? sum(number) + 1 : product(number) + 2);
}

static void limit_stack(void)
{
	struct rlimit limit = {.rlim_cur = 256 * 1024, .rlim_max = 8 << 20};
	if (setrlimit(RLIMIT_STACK, &limit))
		exit(2);
}

static void die_self(void)
{
	limit_stack();
	sink = (long)descend(1);
}

static void die_mutual(void)
{
	limit_stack();
	sink = (long)parse_list(1, opaque("(((("));
}

static void die_walk(void)
{
	limit_stack();
	root = calloc(1, sizeof *root);
	root->left = calloc(1, sizeof *root);
	root->left->left = root;
	sink = weigh(root);
}

static void die_big(void)
{
	limit_stack();
	sink = (long)big_frames(1);
}

static void die_huge(void)
{
	limit_stack();
	sink = huge_local(opaque_long(5));
}

static void die_alloca(void)
{
	limit_stack();
	sink = allocate((size_t)opaque_long(1 << 20));
}

static void die_vla(void)
{
	limit_stack();
	sink = variable_length((size_t)opaque_long(1 << 20));
}

static void die_callback(void)
{
	limit_stack();
	sink = compare(opaque(&(long){1}), opaque(&(long){2}));
}

static void *in_thread(void *argument)
{
	sink = (long)descend(1);
	return argument;
}

static void run_thread(size_t size)
{
	pthread_attr_t attributes;
	pthread_t thread;
	if (pthread_attr_init(&attributes) || pthread_attr_setstacksize(&attributes, size) ||
	    pthread_create(&thread, &attributes, in_thread, NULL))
		exit(2);
	pthread_join(thread, NULL);
}

static void die_thread(void)
{
	run_thread(512 * 1024);
}

static void die_small_thread(void)
{
	run_thread(32 * 1024);
}

static void die_unordered(void)
{
	limit_stack();
	sink = (long)sum(1);
}

static void report(int number)
{
	(void)number;
	abort();
}

/* The handler cannot be called: there is no room for its frame. */
static void die_caught(void)
{
	limit_stack();
	signal(SIGSEGV, report);
	sink = (long)descend(1);
}

static ucontext_t scheduler, coroutine;

static void run_coroutine(void)
{
	sink = (long)descend(1);
}

static void die_coroutine(void)
{
	size_t page = 4096, size = 64 * 1024;
	char *room = mmap(NULL, page + size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (room == MAP_FAILED || mprotect(room, page, PROT_NONE) || getcontext(&coroutine))
		exit(2);
	coroutine.uc_stack.ss_sp = room + page;
	coroutine.uc_stack.ss_size = size;
	coroutine.uc_link = &scheduler;
	makecontext(&coroutine, run_coroutine, 0);
	swapcontext(&scheduler, &coroutine);
}

DEATHS({"self", die_self}, {"mutual", die_mutual}, {"walk", die_walk}, {"big", die_big}, {"huge", die_huge},
       {"alloca", die_alloca}, {"vla", die_vla}, {"callback", die_callback}, {"thread", die_thread},
       {"small-thread", die_small_thread}, {"unordered", die_unordered}, {"caught", die_caught},
       {"coroutine", die_coroutine})
