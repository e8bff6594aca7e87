/* layer: cli */
/* --thread: which threads each word selects, with and without a crash. */
#include "cli/shared/choose.h"

#include "tests/support/check.h"

static struct xc_thread threads[] = {{.tid = 30, .crashed = true}, {.tid = 10}, {.tid = 20}};
static const struct xc_process crashed = {.target = "core", .threads = threads, .thread_count = 3};
static const struct xc_process calm = {.target = "core", .threads = threads + 1, .thread_count = 2};

/* The selected threads' ids, in the target's order. */
static void selects(const struct xc_process *process, const char *text, const char *wanted)
{
	enum xc_thread_choice choice = XC_THREADS_ALL;
	pid_t tid = -1;
	char got[64] = "";
	CHECK_OK(xc_choose_threads(process, text, &choice, &tid));
	for (size_t i = 0; i < process->thread_count; i++)
		if (xc_choose_takes(choice, tid, &process->threads[i]))
			snprintf(got + strlen(got), sizeof got - strlen(got), "%d ", process->threads[i].tid);
	assert_string_equal(got, wanted);
}

static void words_and_numbers_select_threads(void **state)
{
	(void)state;
	selects(&crashed, NULL, "30 ");
	selects(&crashed, "crashed", "30 ");
	selects(&crashed, "all", "30 10 20 ");
	selects(&crashed, "30", "30 ");
	selects(&crashed, "20", "20 ");
	selects(&calm, NULL, "10 20 ");
	selects(&calm, "all", "10 20 ");
	selects(&calm, "10", "10 ");
}

static void threads_that_are_not_there_are_errors(void **state)
{
	enum xc_thread_choice choice;
	pid_t tid;
	(void)state;
	CHECK_ERROR(xc_choose_threads(&crashed, "40", &choice, &tid), XC_ERR_NOT_FOUND, "core: no thread 40");
	CHECK_ERROR(xc_choose_threads(&crashed, "0", &choice, &tid), XC_ERR_NOT_FOUND, "no thread 0");
	CHECK_ERROR(xc_choose_threads(&calm, "30", &choice, &tid), XC_ERR_NOT_FOUND, "no thread 30");
	CHECK_ERROR(xc_choose_threads(&calm, "crashed", &choice, &tid), XC_ERR_NOT_FOUND, "no thread crashed");
}

static void one_thread_is_a_number_or_the_default(void **state)
{
	const struct xc_thread *thread;
	(void)state;
	CHECK_OK(xc_choose_one(&crashed, "20", &thread));
	assert_int_equal(thread->tid, 20);
	CHECK_OK(xc_choose_one(&crashed, NULL, &thread));
	assert_null(thread);
	CHECK_OK(xc_choose_one(&calm, "crashed", &thread));
	assert_null(thread);
	CHECK_ERROR(xc_choose_one(&crashed, "21", &thread), XC_ERR_NOT_FOUND, "no thread 21");
}

static void other_words_are_mistakes(void **state)
{
	static const char *const wrong[] = {"", "-1", "crash", "ALL", "1,2", "99999999999"};
	(void)state;
	for (size_t i = 0; i < XC_COUNT(wrong); i++) {
		CHECK_ERROR(xc_choose_check(wrong[i]), XC_ERR_USAGE, "neither a thread id, 'all' nor 'crashed'");
		CHECK_ERROR(xc_choose_one_check(wrong[i]), XC_ERR_USAGE, "neither a thread id nor 'crashed'");
	}
	CHECK_ERROR(xc_choose_one_check("all"), XC_ERR_USAGE, "'all'");
	CHECK_OK(xc_choose_check("all"));
	CHECK_OK(xc_choose_check(NULL));
	CHECK_OK(xc_choose_one_check("crashed"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(words_and_numbers_select_threads),
		cmocka_unit_test(threads_that_are_not_there_are_errors),
		cmocka_unit_test(one_thread_is_a_number_or_the_default),
		cmocka_unit_test(other_words_are_mistakes),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
