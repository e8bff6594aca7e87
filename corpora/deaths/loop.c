/* Runs in loops that do not end, or only late, until somebody who watches sends a signal. The functions call another
 * one before: what a function without calls keeps below its stack pointer is not known of a running process. */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <string.h>

#include "hang.h"

struct node {
	struct node *next;
	int key;
};

struct table {
	struct node *slots[64];
	unsigned mask;
};

struct parser {
	const char *text;
	size_t at, length;
};

static volatile long sum;
static atomic_int state;

static void say_ready(void)
{
	if (write(1, "ready\n", 6) < 0)
		exit(2);
}

/* ---- counters that do not get there ---- */

static NOINLINE long stride(long upto, long step)
{
	say_ready();
	for (long i = 0; i < upto; i += step) /* dies: step-zero */
		sum++;                        /* dies: step-zero */
	return sum;
}

static NOINLINE long up_to_last(unsigned count)
{
	say_ready();
	for (unsigned i = 0; i <= count - 1; i++) /* dies: underflow */
		sum += i;                         /* dies: underflow */
	return sum;
}

static NOINLINE long by_twos(unsigned from)
{
	say_ready();
	for (unsigned i = from; i != 0; i -= 2) /* dies: odd */
		sum += i;                       /* dies: odd */
	return sum;
}

static NOINLINE long away_from(volatile long *to)
{
	say_ready();
	for (long i = 0; i < *to; i--) /* dies: away */
		sum += i;              /* dies: away */
	return sum;
}

static NOINLINE long far_off(volatile long *to)
{
	say_ready();
	for (long i = 0; i < *to; i++) /* dies: far */
		sum += i;              /* dies: far */
	return sum;
}

/* ---- loops that stay where they are ---- */

static NOINLINE int next_letter(struct parser *p)
{
	if (p->text[p->at] < 'a' || p->text[p->at] > 'z')
		return 0; /* and it stays there */
	p->at++;
	return 1;
}

static NOINLINE long parse(struct parser *p)
{
	say_ready();
	long letters = 0;
	while (p->at < p->length)          /* dies: stays */
		letters += next_letter(p); /* dies: stays */
	return letters;
}

static NOINLINE struct node *probe(struct table *t, int key)
{
	say_ready();
	unsigned i = (unsigned)key & t->mask;
	while (t->slots[i] && t->slots[i]->key != key) /* dies: full-table */
		i = (i + 1) & t->mask;                 /* dies: full-table */
	return t->slots[i];
}

static NOINLINE long search(const int *sorted, int count, int key)
{
	say_ready();
	int lo = 0, hi = count - 1;
	while (lo < hi) { /* dies: halves */
		int middle = (lo + hi) / 2;
		if (sorted[middle] <= key) /* dies: halves */
			lo = middle;
		else
			hi = middle - 1;
	}
	return lo;
}

/* ---- waiting by turning ---- */

static NOINLINE void await_state(void)
{
	say_ready();
	while (!atomic_load(&state)) /* dies: yields */
		sched_yield();       /* dies: yields */
}

static NOINLINE void take_state(void)
{
	say_ready();
	int free = 1;
	while (!atomic_compare_exchange_weak(&state, &free, 2)) /* dies: exchange */
		free = 1;                                       /* dies: exchange */
}

/* ---- calls that transfer nothing ---- */

static NOINLINE long read_much(int from, long want)
{
	say_ready();
	char bytes[64];
	long got = 0;
	while (got < want) { /* dies: end-of-file */
		ssize_t n = read(from, bytes, sizeof bytes);
		if (n < 0)
			return -1;
		got += n;
	}
	return got;
}

static NOINLINE long read_again(int from)
{
	say_ready();
	char bytes[64];
	for (;;) { /* dies: again */
		ssize_t n = read(from, bytes, sizeof bytes);
		if (n > 0 || (n < 0 && errno != EAGAIN))
			return n;
	}
}

/* ---- that end one day ---- */

/* It tries each way to share the letters among the stars. */
static NOINLINE bool matches(const char *pattern, const char *text)
{
	if (!*pattern)
		return !*text;
	if (pattern[1] != '*')
		return *text == *pattern && matches(pattern + 1, text + 1);
	for (;; text++) {
		if (matches(pattern + 2, text))
			return true;
		if (*text != *pattern)
			return false;
	}
}

static NOINLINE long hail(unsigned long n)
{
	say_ready();
	while (n != 0) /* dies: scatters */
		n = n * 6364136223846793005u + 1442695040888963407u, sum++;
	return sum;
}

static NOINLINE long first_set(const volatile char *bytes, long count)
{
	say_ready();
	long found = 0;
	for (;;) {
		for (long i = 0; i < count; i++)
			found += bytes[i];
		if (found)
			return found;
		sum++;
	}
}

/* ---- */

static void die_step_zero(void)
{
	stride(100, opaque_long(0));
}

static void die_underflow(void)
{
	up_to_last((unsigned)opaque_long(0));
}

static void die_odd(void)
{
	by_twos((unsigned)opaque_long(7));
}

static void die_away(void)
{
	volatile long to = 10;
	away_from(&to);
}

static void die_far(void)
{
	volatile long to = 1L << 62;
	far_off(&to);
}

static void die_stays(void)
{
	struct parser parser = {"abc;def", 0, 7};
	parse(opaque(&parser));
}

static void die_full_table(void)
{
	static struct node nodes[64];
	struct table table = {.mask = 63};
	for (int i = 0; i < 64; i++)
		nodes[i].key = i, table.slots[i] = &nodes[i];
	probe(opaque(&table), 1000);
}

static void die_halves(void)
{
	static const int sorted[] = {1, 3, 5, 7, 9};
	search(opaque((void *)sorted), 5, 3);
}

static void die_yields(void)
{
	await_state();
}

static void die_exchange(void)
{
	take_state();
}

static void die_end_of_file(void)
{
	int from = open("/dev/null", O_RDONLY);
	read_much(from, 1000);
}

static void die_again(void)
{
	int ends[2];
	if (pipe(ends) || fcntl(ends[0], F_SETFL, O_NONBLOCK))
		exit(2);
	read_again(ends[0]);
}

static void die_matches(void)
{
	say_ready();
	matches("a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*b", "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa");
}

static void die_scatters(void)
{
	hail((unsigned long)opaque_long(1));
}

static void die_zeros(void)
{
	first_set(calloc(1, 1 << 24), 1 << 24);
}

DEATHS({"step-zero", die_step_zero}, {"underflow", die_underflow}, {"odd", die_odd}, {"away", die_away},
       {"far", die_far}, {"stays", die_stays}, {"full-table", die_full_table}, {"halves", die_halves},
       {"yields", die_yields}, {"exchange", die_exchange}, {"end-of-file", die_end_of_file}, {"again", die_again},
       {"matches", die_matches}, {"scatters", die_scatters}, {"zeros", die_zeros})
