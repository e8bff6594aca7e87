/* layer: batch */
/* pool: returns the requested strings, stored once if possible, for any number of them. */
#include "tests/support/check.h"

#include <stdio.h>

#include "batch/util/pool.h"

enum { MANY = 50000 };

static void equal_bytes_are_one_copy(void **state)
{
	struct xc_arena arena = {0};
	struct xc_pool pool = {.arena = &arena};
	const char **kept = xc_alloc(MANY * sizeof *kept);
	char text[32];
	unsigned twice = 0;
	(void)state;
	for (unsigned i = 0; i < MANY; i++) {
		snprintf(text, sizeof text, "text %u and more", i);
		kept[i] = xc_pool_text(&pool, text, i % 2 ? sizeof text : 6);
	}
	for (unsigned i = 0; i < MANY; i++) {
		snprintf(text, sizeof text, "text %u and more", i);
		if (i % 2 == 0)
			text[6] = '\0';
		assert_string_equal(kept[i], text);
		twice += xc_pool_text(&pool, text, sizeof text) != kept[i];
	}
	assert_in_range(twice, 0, MANY / 100);
	assert_true(pool.table.count < MANY);
	xc_pool_fini(&pool);
	assert_string_equal(kept[1], "text 1 and more");
	free(kept);
	xc_arena_fini(&arena);
}

static void lengths_and_nuls_count(void **state)
{
	struct xc_arena arena = {0};
	struct xc_pool pool = {.arena = &arena};
	(void)state;
	const char *none = xc_pool_bytes(&pool, NULL, 0), *one = xc_pool_bytes(&pool, "a\0b", 1);
	const char *two = xc_pool_bytes(&pool, "a\0b", 2), *three = xc_pool_bytes(&pool, "a\0b", 3);
	assert_string_equal(none, "");
	assert_string_equal(one, "a");
	assert_true(one != two && two != three);
	assert_memory_equal(three, "a\0b", 4);
	assert_ptr_equal(xc_pool_bytes(&pool, "a\0c", 2), two);
	assert_null(xc_pool_text(&pool, NULL, 7));
	xc_pool_fini(&pool);
	pool.single = true;
	assert_ptr_not_equal(xc_pool_text(&pool, "a", 7), xc_pool_text(&pool, "a", 7));
	xc_pool_fini(&pool);
	xc_arena_fini(&arena);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(equal_bytes_are_one_copy),
		cmocka_unit_test(lengths_and_nuls_count),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
