/* Dies of a value that another thread replaces: it was read in between. A handler waits until the next value is there,
 * so that the core always has it.
 * flags: -fno-optimize-sibling-calls */
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#include "death.h"

struct config {
	long pad;
	long limit;
	struct config *volatile inner;
	long (*volatile hook)(long);
};

volatile long sink;
static struct config first = {.limit = 1}, second = {.limit = 2};
static struct config *volatile current = &first;
static struct config *volatile table[4];
static volatile long divisor = 4;
static volatile int cleared, faulted, replaced;

static long plain(long x)
{
	return x + 1;
}

static void on_fault(int number)
{
	sink = number;
	faulted = 1;
	while (!replaced)
		;
	abort();
}

static NOINLINE void *run(void *work)
{
	((void (*)(void))work)();
	return NULL;
}

static void start(void (*work)(void))
{
	pthread_t thread;
	signal(SIGSEGV, on_fault);
	signal(SIGFPE, on_fault);
	if (pthread_create(&thread, NULL, run, (void *)work))
		exit(2);
	while (!cleared)
		;
}

static void wait_for_fault(void)
{
	cleared = 1;
	while (!faulted)
		;
}

static void go_on(void)
{
	replaced = 1;
	for (;;)
		sink++;
}

static NOINLINE long limit_of_current(void)
{
	return current->limit; /* dies: null wild still-null alone */
}

static NOINLINE void reload(void)
{
	current = NULL;
	wait_for_fault();
	current = &second;
	go_on();
}

static void die_null(void)
{
	start(reload);
	sink = limit_of_current();
}

static NOINLINE void reload_wild(void)
{
	current = (struct config *)0x5a5b5c000000;
	wait_for_fault();
	current = &second;
	go_on();
}

static void die_wild(void)
{
	start(reload_wild);
	sink = limit_of_current();
}

static NOINLINE long limit_of_inner(struct config *of)
{
	return of->inner->limit; /* dies: field */
}

static NOINLINE void reload_inner(void)
{
	first.inner = NULL;
	wait_for_fault();
	first.inner = &second;
	go_on();
}

static void die_field(void)
{
	start(reload_inner);
	sink = limit_of_inner(opaque(&first));
}

static NOINLINE long limit_in_table(void)
{
	return table[2]->limit; /* dies: element */
}

static NOINLINE void reload_table(void)
{
	table[2] = NULL;
	wait_for_fault();
	table[2] = &second;
	go_on();
}

static void die_element(void)
{
	start(reload_table);
	sink = limit_in_table();
}

static NOINLINE long call_hook(struct config *of)
{
	return of->hook(3) + 1; /* dies: call */
}

static NOINLINE void reload_hook(void)
{
	first.hook = NULL;
	wait_for_fault();
	first.hook = plain;
	go_on();
}

static void die_call(void)
{
	start(reload_hook);
	sink = call_hook(opaque(&first));
}

static NOINLINE long share(long of)
{
	return of / divisor; /* dies: divisor */
}

static NOINLINE void reload_divisor(void)
{
	divisor = 0;
	wait_for_fault();
	divisor = 4;
	go_on();
}

static void die_divisor(void)
{
	start(reload_divisor);
	sink = share(opaque_long(12));
}

/* The core is made before the next value is there. */
static NOINLINE void reload_slowly(void)
{
	current = NULL;
	cleared = 1;
	for (;;)
		sink++;
}

static void die_still_null(void)
{
	start(reload_slowly);
	replaced = 1;
	sink = limit_of_current();
}

/* Another thread, which has nothing to do with it. */
static void count(void)
{
	cleared = 1;
	for (;;)
		sink++;
}

static void die_alone(void)
{
	current = NULL;
	start(count);
	replaced = 1;
	sink = limit_of_current();
}

DEATHS({"null", die_null}, {"wild", die_wild}, {"field", die_field}, {"element", die_element}, {"call", die_call},
       {"divisor", die_divisor}, {"still-null", die_still_null}, {"alone", die_alone})
