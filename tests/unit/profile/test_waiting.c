/* layer: profile
 *
 * Waits are pairs of a switch-out and a switch-in, and are handed out once a period. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>

#include "core/perf/perf_regs.h"
#include "profile/threads/waiting.h"

enum { PERIOD = 100, THREADS = 8 };

struct taken {
	uint64_t periods[XC_WAITING_KINDS], calls;
	uint64_t by_thread[THREADS];
	uint8_t first; /* of the last stack */
	uint64_t kernel, reg;
};

static void take(void *ctx, const struct xc_waiting_thread *thread, enum xc_waiting_kind kind, uint64_t periods)
{
	struct taken *t = ctx;
	const struct xc_perf_record *sample = &thread->sample;
	t->periods[kind] += periods;
	t->by_thread[thread->tid] += periods;
	t->calls++;
	t->first = sample->stack_len ? sample->stack[0] : 0;
	t->kernel = sample->kernel_count ? sample->kernel[0] : 0;
	t->reg = sample->regs ? sample->regs[0] : 0;
}

static uint64_t registers[64];

static void leave(struct xc_waiting *w, pid_t tid, uint64_t at, bool preempted, const char *stack)
{
	const uint64_t kernel[] = {at};
	registers[0] = at + 1;
	struct xc_perf_record r = {.kind = XC_PERF_SAMPLE,
				   .tid = tid,
				   .time_ns = at,
				   .at_switch = true,
				   .kernel = kernel,
				   .kernel_count = 1,
				   .regs = registers,
				   .stack = (const uint8_t *)stack,
				   .stack_len = strlen(stack)};
	xc_waiting_add(w, &r);
	r = (struct xc_perf_record){
		.kind = XC_PERF_SWITCH, .tid = tid, .time_ns = at, .out = true, .preempted = preempted};
	xc_waiting_add(w, &r);
}

static void come_back(struct xc_waiting *w, pid_t tid, uint64_t at)
{
	const struct xc_perf_record r = {.kind = XC_PERF_SWITCH, .tid = tid, .time_ns = at};
	xc_waiting_add(w, &r);
}

static void many_short_waits_count_as_much_as_one_long_one(void **state)
{
	struct taken t = {.calls = 0};
	struct xc_waiting w;
	(void)state;
	xc_waiting_init(&w, PERIOD, true, take, &t);
	leave(&w, 1, 1000, false, "long");
	come_back(&w, 1, 2000);
	assert_int_equal(t.by_thread[1], 10);
	assert_int_equal(t.calls, 1);
	for (uint64_t i = 0; i < 200; i++) {
		leave(&w, 2, 3000 + 10 * i, false, "short");
		come_back(&w, 2, 3005 + 10 * i);
	}
	assert_int_equal(t.by_thread[2], 10);
	assert_int_equal(w.counts[XC_WAITED], 201);
	assert_int_equal(w.spent_ns[XC_WAITED], 2000);
	xc_waiting_fini(&w);
}

static void a_wait_has_the_sample_of_its_begin_and_whether_it_was_preempted(void **state)
{
	struct taken t = {.calls = 0};
	struct xc_waiting w;
	char stack[] = "a stack that changes";
	(void)state;
	xc_waiting_init(&w, PERIOD, true, take, &t);
	leave(&w, 3, 1000, true, stack);
	memset(stack, 'x', 5);
	registers[0] = 0;
	come_back(&w, 3, 1250);
	assert_int_equal(t.periods[XC_WAIT_PREEMPTED], 2);
	assert_int_equal(t.first, 'a');
	assert_int_equal(t.kernel, 1000);
	assert_int_equal(t.reg, 1001);
	assert_int_equal(w.spent_ns[XC_WAIT_PREEMPTED], 250);
	leave(&w, 3, 1300, false, "short"); /* the rest of a preemption is not a wait's */
	come_back(&w, 3, 1390);
	assert_int_equal(t.calls, 1);
	xc_waiting_fini(&w);
}

static void lost_records_invent_no_time(void **state)
{
	struct taken t = {.calls = 0};
	struct xc_waiting w;
	(void)state;
	xc_waiting_init(&w, PERIOD, true, take, &t);
	come_back(&w, 4, 5000); /* it left before it was looked at */
	assert_int_equal(t.calls, 0);
	leave(&w, 4, 6000, false, "one");
	leave(&w, 4, 9000, false, "two"); /* its coming back was lost */
	assert_int_equal(w.unpaired, 1);
	come_back(&w, 4, 9100);
	come_back(&w, 4, 99100);
	assert_int_equal(t.periods[XC_WAITED], 1);
	leave(&w, 4, 99200, false, "three");
	xc_waiting_end(&w, 99700);
	assert_int_equal(t.periods[XC_WAITED], 6);
	assert_true(xc_waiting_knows(&w, 4));
	assert_false(xc_waiting_knows(&w, 5));
	xc_waiting_fini(&w);
}

/* Leaves at `at`, without a sample. */
static void only_leave(struct xc_waiting *w, pid_t tid, uint64_t at)
{
	const struct xc_perf_record r = {.kind = XC_PERF_SWITCH, .tid = tid, .time_ns = at, .out = true};
	xc_waiting_add(w, &r);
}

static void see(struct xc_waiting *w, pid_t tid, uint64_t at_ns)
{
	for (size_t i = 0; i < w->thread_count; i++)
		if (w->threads[i].tid == tid)
			w->threads[i].look.at_ns = at_ns;
}

static void a_wait_is_where_it_was_looked_at_only_if_it_went_on_after_the_look(void **state)
{
	struct taken t = {.calls = 0};
	struct xc_waiting w;
	(void)state;
	xc_waiting_init(&w, PERIOD, false, take, &t);
	only_leave(&w, 1, 1000);
	see(&w, 1, 1100);
	come_back(&w, 1, 1500);
	assert_int_equal(t.periods[XC_WAITED], 5);
	only_leave(&w, 1, 2000); /* the look at the wait before does not count */
	come_back(&w, 1, 2200);
	assert_int_equal(t.periods[XC_WAIT_UNSEEN], 2);
	only_leave(&w, 1, 3000);
	see(&w, 1, 3301); /* it had come back while it was looked at */
	come_back(&w, 1, 3300);
	assert_int_equal(t.periods[XC_WAIT_UNSEEN], 5);
	only_leave(&w, 1, 4000);
	see(&w, 1, 4100);
	xc_waiting_lost(&w);
	come_back(&w, 1, 4400);
	assert_int_equal(t.periods[XC_WAIT_UNSEEN], 9);
	assert_int_equal(w.spent_ns[XC_WAIT_UNSEEN], 900);
	assert_int_equal(w.counts[XC_WAITED], 1);
	xc_waiting_fini(&w);
}

static void threads_that_end_leave_no_memory_and_their_short_waits_count(void **state)
{
	enum { BORN = 20000, LENGTH = PERIOD / 4 };
	struct taken t = {.calls = 0};
	struct xc_waiting w;
	(void)state;
	xc_waiting_init(&w, PERIOD, true, take, &t);
	w.random = 1;
	for (uint64_t i = 0; i < BORN; i++) {
		const pid_t tid = 1 + (pid_t)(i % 3); /* ids come again */
		xc_waiting_fork(&w, tid);
		come_back(&w, tid, 1000 * i);
		leave(&w, tid, 1000 * i + 10, false, "brief");
		come_back(&w, tid, 1000 * i + 10 + LENGTH);
		xc_waiting_exit(&w, tid);
		assert_int_equal(xc_waiting_back(&w, tid), 0);
	}
	assert_true(w.thread_count <= 3);
	assert_in_range(t.periods[XC_WAITED], BORN / 4 - 600, BORN / 4 + 600); /* 10 standard deviations */
	xc_waiting_fini(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(many_short_waits_count_as_much_as_one_long_one),
		cmocka_unit_test(a_wait_has_the_sample_of_its_begin_and_whether_it_was_preempted),
		cmocka_unit_test(lost_records_invent_no_time),
		cmocka_unit_test(a_wait_is_where_it_was_looked_at_only_if_it_went_on_after_the_look),
		cmocka_unit_test(threads_that_end_leave_no_memory_and_their_short_waits_count),
	};
	return xc_perf_regs_mask() ? cmocka_run_group_tests(tests, NULL, NULL) : 0;
}
