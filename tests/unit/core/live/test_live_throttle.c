/* layer: core
 *
 * Reading with a simulated clock: for any pattern of bytes and CPU time, long-term use stays within the rates, and a
 * single query is never delayed. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdlib.h>

#include "core/live/live_throttle.h"

static const uint64_t MS = 1000000, SECOND = 1000000000, MB = 1 << 20;

static void what_one_question_reads_is_free(void **state)
{
	struct xc_live_throttle pace;
	uint64_t cpu = 0;
	(void)state;
	xc_live_throttle_init(&pace, MB, MS);
	for (uint64_t read = MB / 4; read < XC_THROTTLE_FREE_BYTES; read += MB / 4, cpu += 10 * MS)
		assert_int_equal(xc_live_throttle_charge(&pace, MB / 4, cpu, cpu), 0);
	xc_live_throttle_charge(&pace, MB, cpu, cpu);
	assert_true(xc_live_throttle_charge(&pace, 2 * MB, cpu + MS, cpu + MS) > SECOND / 2);
}

/* Reads and works at random for `seconds` of a clock that also runs during sleep. Returns the use of both resources. */
struct used {
	double bytes, cpu_ns, seconds;
	unsigned sleeps;
};

static struct used run(struct xc_live_throttle *pace, unsigned seed, double seconds)
{
	uint64_t wall = 77, cpu = 5;
	struct used used = {0};
	srand(seed);
	while ((double)wall < seconds * (double)SECOND) {
		uint64_t bytes = (uint64_t)rand() % 300000, work = (uint64_t)rand() % (3 * MS);
		used.bytes += (double)bytes;
		used.cpu_ns += (double)work;
		cpu += work;
		wall += work + (uint64_t)rand() % MS;
		uint64_t sleep = xc_live_throttle_charge(pace, bytes, wall, cpu);
		used.sleeps += sleep > 0;
		wall += sleep;
	}
	used.seconds = (double)wall / (double)SECOND;
	return used;
}

static void a_loop_stays_within_both_rates(void **state)
{
	(void)state;
	const uint64_t rates[][2] = {{100 * MB, 40 * MS}, {0, 40 * MS}, {MB, 0}, {MB, 500 * MS}, {10 * MB, 1 * MS}};
	for (size_t i = 0; i < XC_COUNT(rates); i++) {
		struct xc_live_throttle pace;
		xc_live_throttle_init(&pace, rates[i][0], rates[i][1]);
		xc_live_throttle_begin(&pace);
		struct used used = run(&pace, 4711 + (unsigned)i, 200);
		if (rates[i][0])
			assert_true(used.bytes <= (double)rates[i][0] * (used.seconds + .25) + 300000);
		if (rates[i][1])
			assert_true(used.cpu_ns <= (double)rates[i][1] * (used.seconds + .25) + 3 * (double)MS);
		/* At least nine tenths of one limit are used: it does not sleep needlessly. */
		assert_true(used.bytes > .9 * (double)rates[i][0] * used.seconds ||
			    used.cpu_ns > .9 * (double)rates[i][1] * used.seconds);
		assert_true(used.sleeps < 20 * used.seconds + 1); /* and rarely wakes */
	}
}

static void no_limit_never_sleeps(void **state)
{
	struct xc_live_throttle pace;
	(void)state;
	xc_live_throttle_init(&pace, 0, 0);
	xc_live_throttle_begin(&pace);
	assert_int_equal(run(&pace, 1, 5).sleeps, 0);
}

static void a_forked_child_begins_with_its_own_clock(void **state)
{
	struct xc_live_throttle pace;
	(void)state;
	xc_live_throttle_init(&pace, 0, 40 * MS);
	xc_live_throttle_begin(&pace);
	assert_int_equal(xc_live_throttle_charge(&pace, 1, SECOND, 900 * MS), 0);
	assert_int_equal(xc_live_throttle_charge(&pace, 1, SECOND, 10 * MS), 0); /* 10 ms of 40 */
	assert_true(xc_live_throttle_charge(&pace, 1, SECOND, 50 * MS) > 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_one_question_reads_is_free),
		cmocka_unit_test(a_loop_stays_within_both_rates),
		cmocka_unit_test(no_limit_never_sleeps),
		cmocka_unit_test(a_forked_child_begins_with_its_own_clock),
	};
	return cmocka_run_group_tests_name("live_throttle", tests, NULL, NULL);
}
