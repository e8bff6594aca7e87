/* layer: batch */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "batch/util/glob.h"

static bool matches(const char *pattern, const char *text)
{
	return xc_glob_matches(pattern, strlen(pattern), text);
}

static void a_name_without_a_star_is_the_whole_name(void **state)
{
	(void)state;
	assert_true(matches("free", "free"));
	assert_false(matches("free", "freeze_ctx"));
	assert_false(matches("free", "my_free"));
	assert_true(matches("", ""));
	assert_false(matches("", "x"));
	assert_false(matches("x", ""));
}

static void a_star_stands_for_anything_and_nothing(void **state)
{
	(void)state;
	assert_true(matches("*", ""));
	assert_true(matches("__*_chk", "__memcpy_chk"));
	assert_false(matches("__*_chk", "__memcpy_chk2"));
	assert_true(matches("std::*::__throw_*", "std::vector<T>::__throw_out_of_range"));
	assert_true(matches("a*b*c", "abbcbc"));
	assert_false(matches("a*b*c", "abbcb"));
	assert_true(matches("**x", "xx"));
}

static void only_the_given_length_is_the_pattern(void **state)
{
	(void)state;
	assert_true(xc_glob_matches("libc*|other", 5, "libc.so.6"));
	assert_false(xc_glob_matches("libc*|other", 4, "libc.so.6"));
}

/* Backtracking over every star would take years. */
static void many_stars_are_no_trouble(void **state)
{
	(void)state;
	char *text = malloc(4097);
	memset(text, 'a', 4096);
	text[4096] = '\0';
	assert_false(matches("*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*b", text));
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_name_without_a_star_is_the_whole_name),
		cmocka_unit_test(a_star_stands_for_anything_and_nothing),
		cmocka_unit_test(only_the_given_length_is_the_pattern),
		cmocka_unit_test(many_stars_are_no_trouble),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
