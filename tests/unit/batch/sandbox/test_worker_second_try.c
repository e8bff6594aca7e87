/* layer: batch tier: check */
/* worker: a core gets a second try, without its heap or after a failure that is not its own. */
#include <sys/mman.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/support/check.h"
#include "tests/unit/batch/sandbox/compromised.h"

/* ---- attacks ---- */

static void takes_memory_for_its_heap(void)
{
	if (with_heap)
		takes_all_memory();
}

static void crashes_at_its_heap(void)
{
	if (with_heap)
		*nowhere = 1;
}

/* As libdw does. */
static void ends_as_libdw_without_memory(void)
{
	if (with_heap)
		exit(EXIT_FAILURE);
}

static bool *failed_before; /* of all processes */

static void fails_for_once(void)
{
	if (!*failed_before) {
		*failed_before = true;
		_exit(9); /* like a worker that could not enter its sandbox */
	}
}

static void fails_each_time(void)
{
	_exit(9);
}

static void fails_with_words(void)
{
	say("{\"schema\":\"xcore.record/1\",\"status\":\"unreadable\",\"path\":\"a\",\"why\":\"the disk is full\"}");
	_exit(9);
}

/* ---- outcomes ---- */

static void a_second_try_leaves_the_heap_out(void **state)
{
	static void (*const whats[])(void) = {takes_memory_for_its_heap, ends_as_libdw_without_memory,
					      crashes_at_its_heap};
	struct xc_arena arena = {0};
	(void)state;
	if (SANITIZED)
		check_skip("a sanitizer takes the crashes");
	for (size_t i = 0; i < XC_COUNT(whats); i++) {
		const struct xc_record *record = after(whats[i], &arena);
		assert_int_equal(record->status, XC_RECORD_OK);
		assert_non_null(strstr(record->note, "heap"));
	}
	assert_null(after(goes_on, &arena)->note);
	expect(takes_all_memory, XC_RECORD_LIMIT, "--worker-memory");
	xc_arena_fini(&arena);
}

static void what_is_not_the_cores_is_tried_again_and_then_told(void **state)
{
	struct xc_arena arena = {0};
	(void)state;
	failed_before = mmap(NULL, 1, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	const struct xc_record *record = after(fails_for_once, &arena);
	assert_true(*failed_before);
	assert_int_equal(record->status, XC_RECORD_OK);
	assert_false(record->unlooked);
	record = after(fails_each_time, &arena);
	assert_false(record->unlooked); /* otherwise each core could exclude itself */
	assert_int_equal(record->status, XC_RECORD_DIED);
	assert_string_equal(record->why, "the worker gave up: the worker ended before it had a core");
	record = after(fails_with_words, &arena);
	assert_int_equal(record->status, XC_RECORD_DIED);
	assert_string_equal(record->why, "the worker gave up: the disk is full");
	assert_false(after(says_garbage, &arena)->unlooked);
	munmap(failed_before, 1);
	xc_arena_fini(&arena);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_second_try_leaves_the_heap_out),
		cmocka_unit_test(what_is_not_the_cores_is_tried_again_and_then_told),
	};
	return cmocka_run_group_tests_name("second_try", tests, NULL, NULL);
}
