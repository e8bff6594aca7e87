/* layer: triage
 *
 * Functions of the C library are known by the names that its symbols and its debug information have. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "triage/waits/wait_kind.h"

static void expect(const char *function, enum xc_wait_kind kind, bool timed)
{
	struct xc_wait wait = {.kind = XC_WAIT_NONE};
	xc_wait_kind_update(&wait, function);
	assert_int_equal(wait.kind, kind);
	assert_int_equal(wait.timed, timed);
}

static void prefixes_and_versions_do_not_hide_a_name(void **state)
{
	(void)state;
	expect("pthread_cond_wait", XC_WAIT_CONDITION, false);
	expect("___pthread_cond_wait", XC_WAIT_CONDITION, false);
	expect("pthread_cond_wait@@GLIBC_2.3.2", XC_WAIT_CONDITION, false);
	expect("__GI___pthread_mutex_lock", XC_WAIT_MUTEX, false);
}

static void names_of_functions_with_wide_times_end_in_64(void **state)
{
	(void)state;
	expect("___pthread_cond_timedwait64", XC_WAIT_CONDITION, true);
	expect("___pthread_cond_clockwait64", XC_WAIT_CONDITION, true);
	expect("___pthread_mutex_timedlock64", XC_WAIT_MUTEX, true);
	expect("___pthread_rwlock_timedrdlock64", XC_WAIT_READ_LOCK, true);
	expect("___pthread_rwlock_clockwrlock64", XC_WAIT_WRITE_LOCK, true);
	expect("___sem_timedwait64", XC_WAIT_SEMAPHORE, true);
	expect("___pthread_clockjoin_np64", XC_WAIT_THREAD, true);
	expect("__cnd_timedwait64", XC_WAIT_CONDITION, true);
	expect("pthread_cond_timedwait64.part.0", XC_WAIT_CONDITION, true);
}

static void other_names_are_not_taken(void **state)
{
	(void)state;
	expect("pthread_cond_timedwait6", XC_WAIT_NONE, false);
	expect("pthread_cond_timedwait640", XC_WAIT_NONE, false);
	expect("pthread_cond_timedwait_64", XC_WAIT_NONE, false);
	expect("sem_wait_for", XC_WAIT_NONE, false);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(prefixes_and_versions_do_not_hide_a_name),
		cmocka_unit_test(names_of_functions_with_wide_times_end_in_64),
		cmocka_unit_test(other_names_are_not_taken),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
