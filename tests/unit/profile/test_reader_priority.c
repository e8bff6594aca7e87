/* layer: profile
 *
 * The reader's priority: raised and restored, not inherited, ended when it does not wait. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <sched.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "profile/reader_priority.h"

/* Of this process, which was started at any priority. */
static int policy(void)
{
	return sched_getscheduler(0) & ~SCHED_RESET_ON_FORK;
}

static void what_was_raised_is_restored(void **state)
{
	const int policy_before = policy(), nice_before = getpriority(PRIO_PROCESS, 0);
	struct rlimit before, after;
	(void)state;
	assert_int_equal(getrlimit(RLIMIT_RTTIME, &before), 0);
	for (unsigned i = 0; i < 3; i++) {
		xc_reader_priority_raise();
		assert_int_equal(xc_reader_priority_is_real_time(), policy() == SCHED_RR && policy_before != SCHED_RR);
		xc_reader_priority_follow(0);
		assert_int_equal(getpriority(PRIO_PROCESS, 0), nice_before);
		xc_reader_priority_restore();
		assert_int_equal(policy(), policy_before);
		assert_int_equal(getpriority(PRIO_PROCESS, 0), nice_before);
		assert_false(xc_reader_priority_is_real_time());
	}
	assert_int_equal(getrlimit(RLIMIT_RTTIME, &after), 0);
	assert_int_equal(before.rlim_cur, after.rlim_cur);
	assert_int_equal(before.rlim_max, after.rlim_max);
}

static void what_is_less_urgent_stays_so(void **state)
{
	int status;
	(void)state;
	const pid_t pid = fork();
	if (!pid) {
		(void)!nice(1);
		xc_reader_priority_raise();
		_exit(xc_reader_priority_is_real_time() || policy() == SCHED_RR);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
}

static void children_do_not_inherit_it(void **state)
{
	int status;
	(void)state;
	xc_reader_priority_raise();
	const pid_t pid = fork();
	if (!pid)
		_exit(policy() == SCHED_RR);
	xc_reader_priority_restore();
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
}

static void real_time_ends_without_a_wait(void **state)
{
	(void)state;
	xc_reader_priority_raise();
	if (!xc_reader_priority_is_real_time()) {
		xc_reader_priority_restore();
		skip();
	}
	const uint64_t until = xc_thread_cpu_ns() + 2000000000;
	while (xc_reader_priority_is_real_time() && xc_thread_cpu_ns() < until)
		;
	assert_false(xc_reader_priority_is_real_time());
	assert_int_equal(policy(), SCHED_OTHER);
	xc_reader_priority_restore();
	assert_int_equal(policy(), SCHED_OTHER);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_was_raised_is_restored),
		cmocka_unit_test(what_is_less_urgent_stays_so),
		cmocka_unit_test(children_do_not_inherit_it),
		cmocka_unit_test(real_time_ends_without_a_wait),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
