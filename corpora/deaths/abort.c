/* Dies because the program said so: abort, assertions, signals that it or others send. */
#include <assert.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "death.h"

struct queue {
	unsigned head, size;
	const char *name;
	struct queue *next;
};

volatile long sink;

static NOINLINE void give_up(const char *why)
{
	sink = why[0];
	abort(); /* dies: abort */
}

static NOINLINE void fatal(const char *why)
{
	fprintf(stderr, "fatal: %s\n", why);
	abort(); /* the program's own way to die; dies: fatal */
}

static NOINLINE void check_queue(const struct queue *q)
{
	assert(q->head < q->size); /* dies: assert */
	sink = q->head;
}

static NOINLINE void check_next(const struct queue *q, int limit)
{
	assert(q->next != NULL && q->next->head + 1 <= (unsigned)limit); /* dies: assert-next */
	sink = q->head;
}

static NOINLINE void check_text(const struct queue *q)
{
	assert(strcmp(q->name, "input") == 0 && "the queue has the wrong name"); /* dies: assert-text */
	sink = q->head;
}

static inline unsigned next_of(const struct queue *q)
{
	assert(q->size != 0); /* dies: assert-inlined */
	return (q->head + 1) % q->size;
}

static NOINLINE void advance(struct queue *q)
{
	q->head = next_of(q);
	KEEP(*q);
}

static NOINLINE void check_never(int state)
{
	switch (state) {
	case 1:
		sink = 1;
		break;
	default:
		assert(!"a state that cannot be"); /* dies: assert-never */
	}
}

static NOINLINE void kill_self(int number)
{
	raise(number); /* dies: raise-abort raise-quit raise-trap raise-segv */
	sink = number;
}

static void die_abort(void)
{
	give_up(opaque("nothing is left to do"));
	sink = 1;
}

static NOINLINE void read_config(const char *path)
{
	if (opaque(path))
		fatal("no configuration"); /* dies: fatal */
	sink = 2;
}

static void die_fatal(void)
{
	read_config("/nowhere");
	sink = 1;
}

static void die_assert(void)
{
	struct queue q = {.head = 12, .size = 8, .name = "jobs"};
	check_queue(opaque(&q));
	sink = 1;
}

static void die_assert_next(void)
{
	struct queue second = {.head = 9, .size = 20}, q = {.head = 2, .size = 20, .next = &second};
	check_next(opaque(&q), (int)opaque_long(5));
	sink = 1;
}

static void die_assert_text(void)
{
	struct queue q = {.head = 12, .size = 8, .name = "output"};
	check_text(opaque(&q));
	sink = 1;
}

static void die_assert_inlined(void)
{
	struct queue q = {.head = 12, .name = "jobs"};
	advance(opaque(&q));
	sink = 1;
}

static void die_assert_never(void)
{
	check_never((int)opaque_long(4));
	sink = 1;
}

static void die_raise_abort(void)
{
	kill_self((int)opaque_long(SIGABRT));
}

static void die_raise_quit(void)
{
	kill_self((int)opaque_long(SIGQUIT));
}

static void die_raise_trap(void)
{
	kill_self((int)opaque_long(SIGTRAP));
}

static void die_raise_segv(void)
{
	kill_self((int)opaque_long(SIGSEGV));
}

/* Waits for somebody to send a signal. */
static NOINLINE void wait_for_work(void)
{
	static const char ready[] = "ready\n";
	if (write(1, ready, sizeof ready - 1) < 0)
		exit(2);
	for (;;)
		pause(); /* dies: killed-abort killed-quit killed-segv */
}

/* A function that does not return, and is no way to die. */
static NOINLINE _Noreturn void serve_forever(void)
{
	for (;;)
		if (++sink > 5)
			abort(); /* dies: abort-loop */
}

static void die_abort_loop(void)
{
	sink = 0;
	serve_forever();
}

DEATHS({"abort", die_abort}, {"fatal", die_fatal}, {"assert", die_assert}, {"assert-next", die_assert_next},
       {"assert-text", die_assert_text}, {"assert-inlined", die_assert_inlined}, {"assert-never", die_assert_never},
       {"raise-abort", die_raise_abort}, {"raise-quit", die_raise_quit}, {"raise-trap", die_raise_trap},
       {"raise-segv", die_raise_segv}, {"killed-abort", wait_for_work}, {"killed-quit", wait_for_work},
       {"killed-segv", wait_for_work}, {"abort-loop", die_abort_loop})
