/* layer: core
 *
 * A test that must fail: it proves that a failing test fails its program and its suite. Never part of another suite. */
#include "tests/support/check.h"

static void the_canary_dies(void **state)
{
	(void)state;
	assert_int_equal(1, 2);
}

static void its_neighbour_lives(void **state)
{
	(void)state;
	assert_int_equal(1, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_canary_dies),
		cmocka_unit_test(its_neighbour_lives),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
