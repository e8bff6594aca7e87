/* layer: batch */
/* The name of a program, independent of its release. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "batch/util/program_name.h"
#include "core/base/base.h"

struct name {
	const char *given, *wanted;
};

static void expect(const struct name *names, size_t count)
{
	struct xc_arena arena = {0};
	for (size_t i = 0; i < count; i++)
		assert_string_equal(xc_program_name(names[i].given, &arena), names[i].wanted);
	xc_arena_fini(&arena);
}

static void numbers_of_releases_go(void **state)
{
	(void)state;
	static const struct name names[] = {
		{"app-1.2.3", "app"},
		{"app-1.2.4", "app"},
		{"app_1.2.3", "app"},
		{"app_v2.0-rc1", "app"},
		{"app-v2.0-rc.1", "app"},
		{"app-1.0-rc", "app"},
		{"app-1.0rc1", "app"},
		{"app-1.2~beta", "app"},
		{"app-1.2.3-1", "app"},
		{"app-1.2.20261122-1-rc2", "app"},
		{"sha-256-1.2", "sha-256"},
		{"python3.11", "python"},
		{"parse-9f2c01d4e5b6a788", "parse"},
	};
	expect(names, XC_COUNT(names));
}

static void other_names_stay(void **state)
{
	(void)state;
	static const struct name names[] = {
		{"worker", "worker"},
		{"md5", "md5"},
		{"x264", "x264"},
		{"a.out", "a.out"},
		{"", ""},
		{"1.2.3", "1.2.3"},
		{"-1", "-1"},
		{"7", "7"},
		{"app-", "app-"},
		{"app-1.x", "app-1.x"},
		{"search", "search"},
		{"app-deadbeef", "app-deadbeef"},
		{"..1", "..1"},
		{"-1.2", "-1.2"},
		{"rc", "rc"},
		{"app-rc1", "app-rc1"},
	};
	expect(names, XC_COUNT(names));
	assert_null(xc_program_name(NULL, NULL));
}

/* Some programs have numbers in their names, too. */
static void a_number_without_a_dot_is_a_part_of_the_name(void **state)
{
	(void)state;
	static const char *const names[] = {"test_1", "test_2", "case-17", "case-18",        "sha-256",   "sha-512",
					    "test.1", "app-v2", "app-12",  "app-20261122-1", "test-1-rc2"};
	for (size_t i = 0; i < XC_COUNT(names); i++)
		expect(&(struct name){names[i], names[i]}, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(numbers_of_releases_go),
		cmocka_unit_test(other_names_stay),
		cmocka_unit_test(a_number_without_a_dot_is_a_part_of_the_name),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
