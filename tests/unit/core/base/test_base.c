/* layer: core */
#include "tests/support/check.h"

#include <sys/wait.h>
#include <unistd.h>

#include "core/base/base.h"

static void inside_is_inclusive_and_never_wraps(void **state)
{
	(void)state;
	assert_true(xc_inside(10, 1, 10, 10));
	assert_true(xc_inside(10, 11, 10, 20));
	assert_false(xc_inside(10, 12, 10, 20));
	assert_false(xc_inside(9, 1, 10, 20));
	assert_false(xc_inside(21, 1, 10, 20));
	assert_true(xc_inside(UINT64_MAX, 1, 0, UINT64_MAX));
	assert_false(xc_inside(UINT64_MAX, 2, 0, UINT64_MAX));
	assert_false(xc_inside(UINT64_MAX - 1, UINT64_MAX, 0, UINT64_MAX));
	assert_true(xc_inside(0, UINT64_MAX, 0, UINT64_MAX));
}

static void nothing_is_never_inside(void **state)
{
	(void)state;
	assert_false(xc_inside(10, 0, 10, 20));
	assert_false(xc_inside(0, 0, 0, UINT64_MAX));
}

static void alloc_is_zeroed_and_never_null(void **state)
{
	(void)state;
	xc_auto(xc_freep) char *none = xc_alloc(0);
	xc_auto(xc_freep) char *some = xc_alloc(4096);
	assert_non_null(none);
	for (size_t i = 0; i < 4096; i++)
		assert_int_equal(some[i], 0);
}

static void grow_keeps_what_was_there(void **state)
{
	(void)state;
	size_t capacity = 0;
	uint32_t *items = NULL;
	for (uint32_t i = 0; i < 1000; i++) {
		items = xc_grow(items, i, &capacity, sizeof *items);
		assert_true(capacity > i);
		items[i] = i;
	}
	for (uint32_t i = 0; i < 1000; i++)
		assert_int_equal(items[i], i);
	free(items);
}

static void take_hands_over(void **state)
{
	(void)state;
	char *mine = xc_strdup("x"), *was = mine, *yours = xc_take(mine);
	assert_null(mine);
	assert_ptr_equal(yours, was);
	free(yours);
}

static void asprintf_formats_any_length(void **state)
{
	(void)state;
	char longer[5000];
	memset(longer, 'a', sizeof longer - 1);
	longer[sizeof longer - 1] = '\0';
	xc_auto(xc_freep) char *text = xc_asprintf("%s-%d", longer, 7);
	assert_int_equal(strlen(text), sizeof longer + 1);
	assert_string_equal(text + sizeof longer - 1, "-7");
}

static void status_of_child(void (*act)(void), int *status)
{
	pid_t pid = fork();
	assert_true(pid >= 0);
	if (pid == 0) {
		close(2);
		act();
		_exit(0);
	}
	assert_int_equal(waitpid(pid, status, 0), pid);
}

static void alloc_too_much(void)
{
	volatile size_t huge = SIZE_MAX / 2;
	free(xc_alloc(huge));
}

static void grow_too_much(void)
{
	volatile size_t capacity = SIZE_MAX / 2;
	size_t room = capacity;
	free(xc_grow(NULL, capacity, &room, 64));
}

/* Under ASan the allocator itself aborts. */
static void out_of_memory_stops_with_status_5(void **state)
{
	(void)state;
	int status;
	if (UNDER_ASAN)
		check_skip("ASan reports it first");
	status_of_child(alloc_too_much, &status);
	assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 5);
	status_of_child(grow_too_much, &status);
	assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 5);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(inside_is_inclusive_and_never_wraps),
		cmocka_unit_test(nothing_is_never_inside),
		cmocka_unit_test(alloc_is_zeroed_and_never_null),
		cmocka_unit_test(grow_keeps_what_was_there),
		cmocka_unit_test(take_hands_over),
		cmocka_unit_test(asprintf_formats_any_length),
		cmocka_unit_test(out_of_memory_stops_with_status_5),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
