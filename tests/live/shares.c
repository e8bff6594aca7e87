/* shares: spends its CPU time in functions in known shares, by its own clock: recursive, inlined, called last, with
 * vectors, in a signal handler on a stack of its own, 300 KiB deep, and in threads that live for 3 ms. Prints "ready";
 * when its input ends, a line "NAME NANOSECONDS" for each. */
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define NOINLINE __attribute__((noinline, noclone))

enum kind { RECURSIVE, INLINED, CALLED_LAST, VECTORS, HANDLER, DEEP, SHORT_LIVED, KINDS };

static const char *const names[KINDS] = {"recursive", "inlined", "called_last", "vectors",
					 "handler",   "deep",    "short_lived"};
#ifndef VECTORS_MS
#define VECTORS_MS 9
#endif
enum { TAKEN_MS = 2 };
static const unsigned quota_ms[KINDS] = {12, 8, 6, VECTORS_MS, 6, 12, 3};
static uint64_t spent[KINDS];
static volatile uint64_t sink;

static uint64_t cpu_ns(void)
{
	struct timespec t;
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

/* Spend the quota of a kind, which books what it was. Of a time in which a host took the processor away, and which its
 * guest's clock counts all the same, a profiler's timer sees the end alone: it is not booked. */
static inline __attribute__((always_inline)) void burn(enum kind kind)
{
	const uint64_t begun = cpu_ns(), until = begun + quota_ms[kind] * UINT64_C(1000000);
	const uint64_t most = until + TAKEN_MS * UINT64_C(1000000);
	uint64_t now;
	do {
		for (unsigned i = 0; i < 100000; i++)
			sink += i;
	} while ((now = cpu_ns()) < until);
	__atomic_fetch_add(&spent[kind], (now < most ? now : most) - begun, __ATOMIC_RELAXED);
}

NOINLINE void recursive(unsigned depth)
{
	if (depth)
		recursive(depth - 1);
	else
		burn(RECURSIVE);
	sink++;
}

static inline __attribute__((always_inline)) void inlined(void)
{
	burn(INLINED);
}

NOINLINE void with_inlined(void)
{
	inlined();
	sink++;
}

NOINLINE void called_last(unsigned unused)
{
	burn(CALLED_LAST);
	sink += unused;
}

NOINLINE void calls_last(unsigned unused)
{
	sink++;
	called_last(unused); /* a jump */
}

NOINLINE void vectors(void)
{
	typedef float vec __attribute__((vector_size(16)));
	vec v = {1, 2, 3, 4};
	for (unsigned i = 0; i < 1000; i++)
		v = v * v - v;
	burn(VECTORS);
	sink += (uint64_t)(v[0] > 2);
}

static void handler(int number)
{
	burn(HANDLER);
	sink += (uint64_t)number;
}

NOINLINE void deep(void)
{
	volatile char room[300 << 10];
	room[0] = 1;
	burn(DEEP);
	sink += (uint64_t)room[0];
}

NOINLINE void *short_lived(void *unused)
{
	burn(SHORT_LIVED);
	sink++;
	return unused;
}

static void run_thread(void)
{
	pthread_t thread;
	if (pthread_create(&thread, NULL, short_lived, NULL) == 0)
		pthread_join(thread, NULL);
}

NOINLINE void one_round(void)
{
	recursive(60);
	with_inlined();
	calls_last(1);
	vectors();
	raise(SIGUSR1);
	deep();
	run_thread();
}

int main(void)
{
	static char other_stack[64 << 10];
	const stack_t stack = {.ss_sp = other_stack, .ss_size = sizeof other_stack};
	struct sigaction action = {.sa_handler = handler, .sa_flags = SA_ONSTACK};
	struct pollfd input = {.fd = 0, .events = POLLIN};
	sigaltstack(&stack, NULL);
	sigaction(SIGUSR1, &action, NULL);
	puts("ready");
	fflush(stdout);
	while (poll(&input, 1, 0) == 0)
		one_round();
	for (int i = 0; i < KINDS; i++)
		printf("%s %llu\n", names[i], (unsigned long long)spent[i]);
	return 0;
}
