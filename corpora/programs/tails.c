/* Dies of SIGSEGV in main while its threads wait below functions that were left by tail calls of every shape (build with -O2): chains,
 * several ways that are common at one end or at none, rounds, inlined functions, cold parts, other names, pointers, the C library. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "asleep.h"
#include "crash.h"

#define INLINE static inline __attribute__((always_inline))

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t parked_changed = PTHREAD_COND_INITIALIZER, wake = PTHREAD_COND_INITIALIZER;
static volatile int parked, zero;

/* For ever, but the compiler does not know. */
static NOINLINE int rest(int value)
{
	pthread_mutex_lock(&lock);
	parked++;
	pthread_cond_signal(&parked_changed);
	while (parked)
		pthread_cond_wait(&wake, &lock);
	pthread_mutex_unlock(&lock);
	return value + zero;
}

static NOINLINE int chain_three(int value)
{
	return rest(value * 2);
}

static NOINLINE int chain_two(int value)
{
	return chain_three(value * 3);
}

static NOINLINE int chain_one(int value)
{
	return chain_two(value * 5 + zero);
}

static NOINLINE int left(int value)
{
	return rest(value * 7);
}

static NOINLINE int right(int value)
{
	return rest(value + 9);
}

/* No call of the way through left or right is sure. */
static NOINLINE int fork_here(int value)
{
	return value > 5 + zero ? left(value) : right(value);
}

static NOINLINE int before_fork(int value)
{
	return fork_here(value * 11 + zero);
}

static NOINLINE int before_before(int value)
{
	return before_fork(value * 13 + zero);
}

static NOINLINE int after_join(int value)
{
	return rest(value * 15);
}

static NOINLINE int join(int value)
{
	return after_join(value * 17);
}

static NOINLINE int upper(int value)
{
	return join(value * 19);
}

static NOINLINE int lower(int value)
{
	return join(value + 21);
}

static NOINLINE int fork_and_join(int value)
{
	return value > 5 + zero ? upper(value) : lower(value);
}

/* Both ends are sure, the middle is not. */
static NOINLINE int around(int value)
{
	return fork_and_join(value * 23 + zero);
}

static NOINLINE int odd(int value);

static NOINLINE int even(int value)
{
	return value ? odd(value - 1) : rest(value);
}

static NOINLINE int odd(int value)
{
	return value ? even(value - 1) : 29;
}

static NOINLINE int itself(int value, int steps)
{
	if (steps > zero)
		return itself(value * 3, steps - 1);
	return rest(value);
}

static NOINLINE int then_itself(int value)
{
	return itself(value * 31, value + zero);
}

static int (*volatile pointer)(int) = rest;

/* Nothing tells where it jumped. */
static NOINLINE int by_pointer(int value)
{
	return pointer(value * 37);
}

INLINE int inner(int value)
{
	return rest(value * 41);
}

INLINE int outer(int value)
{
	return inner(value + 43);
}

static NOINLINE int from_inlined(int value)
{
	return value > 99 + zero ? 47 : outer(value);
}

/* The second half stands elsewhere. */
static NOINLINE int with_cold_part(int value)
{
	int result = rest(value * 53);

	if (__builtin_expect(result > 1000, 0)) {
		puts("cold");
		abort();
	}
	return result + zero;
}

static NOINLINE int to_cold(int value)
{
	return with_cold_part(value * 59);
}

NOINLINE int real_name(int value);
NOINLINE int other_name(int value) __attribute__((alias("real_name")));

NOINLINE int real_name(int value)
{
	return rest(value * 61);
}

static ssize_t write_nothing(void *cookie, const char *bytes, size_t size)
{
	(void)cookie;
	(void)bytes;
	return rest((int)size);
}

/* glibc writes when the stream's buffer is full, below __printf_fp_l, which is tail-called. */
static NOINLINE int print_float(int value)
{
	static char buffer[16];
	FILE *stream = fopencookie(NULL, "w", (cookie_io_functions_t){.write = write_nothing});

	setvbuf(stream, buffer, _IOFBF, sizeof buffer);
	return fprintf(stream, "%.60f", 1.0 / (value + 2)) + zero;
}

static NOINLINE int shape(long which)
{
	int value = (int)which + 1 + zero;

	switch (which) {
	case 0:
		return chain_one(value) + zero;
	case 1:
		return fork_here(value) + zero;
	case 2:
		return before_before(value) + zero;
	case 3:
		return fork_and_join(value) + zero;
	case 4:
		return around(value) + zero;
	case 5:
		return even(value * 2) + zero;
	case 6:
		return then_itself(value) + zero;
	case 7:
		return by_pointer(value) + zero;
	case 8:
		return from_inlined(value) + zero;
	case 9:
		return to_cold(value) + zero;
	case 10:
		return other_name(value) + zero;
	default:
		return print_float(value) + zero;
	}
}

enum { SHAPES = 12 };

static void *thread_main(void *which)
{
	int result = shape((long)which);

	KEEP_VALUE(result);
	return NULL;
}

int main(void)
{
	pthread_t thread;
	pthread_attr_t attr;

	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, 256 << 10);
	for (long i = 0; i < SHAPES; i++)
		pthread_create(&thread, &attr, thread_main, (void *)i);
	pthread_mutex_lock(&lock);
	while (parked < SHAPES)
		pthread_cond_wait(&parked_changed, &lock);
	pthread_mutex_unlock(&lock);
	await_others();
	crash();
	return 0;
}
