/* layer: core */
#include "tests/support/check.h"

#include <sys/wait.h>
#include <unistd.h>

#include "core/base/arena.h"

static void memory_is_zeroed_aligned_and_disjoint(void **state)
{
	(void)state;
	enum { COUNT = 3000 };
	struct xc_arena arena = {0};
	static uint8_t *got[COUNT];
	for (size_t i = 0; i < COUNT; i++) {
		got[i] = xc_arena_alloc(&arena, i);
		assert_int_equal((uintptr_t)got[i] % 16, 0);
		for (size_t j = 0; j < i; j++)
			assert_int_equal(got[i][j], 0);
		memset(got[i], (int)(i & 0xff), i);
	}
	for (size_t i = 0; i < COUNT; i++)
		for (size_t j = 0; j < i; j++)
			assert_int_equal(got[i][j], i & 0xff);
	xc_arena_fini(&arena);
}

static void a_request_larger_than_any_block_is_served(void **state)
{
	(void)state;
	struct xc_arena arena = {0};
	char *small = xc_arena_strdup(&arena, "before");
	uint8_t *large = xc_arena_alloc(&arena, 5 << 20);
	memset(large, 0xff, 5 << 20);
	char *after = xc_arena_strdup(&arena, "after");
	assert_string_equal(small, "before");
	assert_string_equal(after, "after");
	xc_arena_fini(&arena);
}

static void strndup_stops_at_a_nul_and_at_max(void **state)
{
	(void)state;
	static const char unterminated[4] = {'a', 'b', 'c', 'd'};
	struct xc_arena arena = {0};
	assert_string_equal(xc_arena_strndup(&arena, unterminated, 4), "abcd");
	assert_string_equal(xc_arena_strndup(&arena, "ab\0cd", 5), "ab");
	assert_string_equal(xc_arena_strndup(&arena, "abc", 0), "");
	assert_null(xc_arena_strdup(&arena, NULL));
	xc_arena_fini(&arena);
}

static void printf_is_whole_whatever_its_length(void **state)
{
	(void)state;
	struct xc_arena arena = {0};
	char longer[70000];
	memset(longer, 'q', sizeof longer - 1);
	longer[sizeof longer - 1] = '\0';
	assert_int_equal(strlen(xc_arena_printf(&arena, "%s%d", longer, 12)), sizeof longer + 1);
	xc_arena_fini(&arena);
}

static void fini_leaves_it_ready_for_use(void **state)
{
	(void)state;
	struct xc_arena arena = {0};
	xc_arena_fini(&arena);
	assert_string_equal(xc_arena_strdup(&arena, "again"), "again");
	xc_arena_fini(&arena);
	assert_null(arena.blocks);
}

/* A size near 2^64 must not round to a small one. */
static void a_size_that_wraps_stops_the_program(void **state)
{
	(void)state;
	int status;
	pid_t pid = fork();
	assert_true(pid >= 0);
	if (pid == 0) {
		struct xc_arena arena = {0};
		volatile size_t huge = SIZE_MAX - 3;
		close(2);
		memset(xc_arena_alloc(&arena, huge), 1, 1);
		_exit(0);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(!WIFEXITED(status) || WEXITSTATUS(status) != 0);
	if (!UNDER_ASAN)
		assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 5);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(memory_is_zeroed_aligned_and_disjoint),
		cmocka_unit_test(a_request_larger_than_any_block_is_served),
		cmocka_unit_test(strndup_stops_at_a_nul_and_at_max),
		cmocka_unit_test(printf_is_whole_whatever_its_length),
		cmocka_unit_test(fini_leaves_it_ready_for_use),
		cmocka_unit_test(a_size_that_wraps_stops_the_program),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
