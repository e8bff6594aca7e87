/* layer: core
 *
 * Samples of a counter stand for the period that their thread's event has at the time. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "core/perf/sample_weight.h"

static uint64_t weight_of(struct xc_sample_weight *w, pid_t tid, uint64_t time_ns)
{
	struct xc_perf_record r = {.kind = XC_PERF_SAMPLE, .tid = tid, .time_ns = time_ns};
	xc_sample_weight_take(w, &r);
	return r.period;
}

static void start_thread(struct xc_sample_weight *w, pid_t tid, pid_t parent, uint64_t time_ns)
{
	struct xc_perf_record r = {.kind = XC_PERF_FORK, .tid = tid, .parent = parent, .time_ns = time_ns};
	xc_sample_weight_take(w, &r);
}

static void a_change_reaches_threads_of_the_start_and_those_that_begin_after_it(void **state)
{
	struct xc_sample_weight w = {.period = 0};
	(void)state;
	xc_sample_weight_set(&w, 10, 100);
	assert_int_equal(weight_of(&w, 1, 150), 11);
	start_thread(&w, 2, 1, 160);
	xc_sample_weight_set(&w, 100, 200);
	assert_int_equal(weight_of(&w, 1, 199), 11); /* read after the change, taken before */
	assert_int_equal(weight_of(&w, 1, 201), 101);
	start_thread(&w, 3, 1, 210);
	start_thread(&w, 4, 2, 220); /* of one that kept what it had */
	assert_int_equal(weight_of(&w, 2, 230), 11);
	assert_int_equal(weight_of(&w, 3, 230), 101);
	assert_int_equal(weight_of(&w, 4, 230), 11);
	xc_sample_weight_fini(&w);
}

static void threads_that_ended_take_no_room(void **state)
{
	enum { MANY = 1 << 20, PID = 1 << 22 };
	struct xc_sample_weight w = {.period = 0};
	(void)state;
	xc_sample_weight_set(&w, 10, 100);
	start_thread(&w, PID, 1, 110);
	for (pid_t tid = 2; tid < MANY; tid++) {
		struct xc_perf_record r = {.kind = XC_PERF_EXIT, .tid = tid, .time_ns = 120};
		start_thread(&w, tid, 1, 120);
		xc_sample_weight_take(&w, &r);
	}
	start_thread(&w, MANY, 1, 130);
	xc_sample_weight_set(&w, 100, 200);
	assert_int_equal(weight_of(&w, PID, 210), 11);
	assert_int_equal(weight_of(&w, MANY, 210), 11);
	start_thread(&w, 2, 1, 220); /* the number of one that ended */
	xc_sample_weight_set(&w, 1000, 300);
	assert_int_equal(weight_of(&w, 2, 310), 101);
	assert_in_range(w.inherited.count, 1, 1 << 17);
	xc_sample_weight_fini(&w);
}

static void a_burst_raises_the_period_and_silence_does_not(void **state)
{
	enum { HZ = 100, MS = 1000000 };
	struct xc_sample_weight w = {.period = 0};
	(void)state;
	xc_sample_weight_set(&w, 1, 0);
	assert_int_equal(xc_sample_weight_better(&w, HZ, 100 * MS), 0);
	for (int i = 0; i < 1000; i++)
		weight_of(&w, 1, 0);
	assert_int_equal(xc_sample_weight_better(&w, HZ, 101 * MS), 0); /* too soon to tell */
	const uint64_t better = xc_sample_weight_better(&w, HZ, 200 * MS);
	assert_in_range(better, 80, 100);
	xc_sample_weight_fini(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_change_reaches_threads_of_the_start_and_those_that_begin_after_it),
		cmocka_unit_test(threads_that_ended_take_no_room),
		cmocka_unit_test(a_burst_raises_the_period_and_silence_does_not),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
