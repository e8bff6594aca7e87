/* layer: triage */
/* Formats of printf: which argument each conversion takes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>

#include "triage/libc/format_text.h"

enum { MOST = 8 };

static void expect(const char *text, const char *letters, const size_t *arguments)
{
	struct xc_conversion found[MOST];
	size_t count = xc_format_text_parse(text, found, MOST);
	assert_int_equal(count, strlen(letters));
	for (size_t i = 0; i < count; i++) {
		assert_int_equal(found[i].letter, letters[i]);
		assert_int_equal(found[i].argument, arguments[i]);
	}
}

#define EXPECT(text, letters, ...) expect(text, letters, (const size_t[MOST]){__VA_ARGS__})

static void each_conversion_takes_the_next_argument(void **state)
{
	(void)state;
	EXPECT("no conversion", "", 0);
	EXPECT("%s and %d", "sd", 0, 1);
	EXPECT("100%% of %s", "s", 0);
	EXPECT("%m: %s%n", "sn", 0, 1);
	EXPECT("%-10.3s|%+ld|%#zx|%hhu", "sdxu", 0, 1, 2, 3);
	EXPECT("%ls %S %lc %C", "sscc", 0, 1, 2, 3);
}

static void widths_take_arguments(void **state)
{
	(void)state;
	EXPECT("%*s %.*s %*.*d", "ssd", 1, 3, 6);
}

static void floats_have_registers_of_their_own(void **state)
{
	(void)state;
	struct xc_conversion found[MOST];
	EXPECT("%f %s %e %s", "fses", 0, 0, 1, 1);
	assert_int_equal(xc_format_text_parse("%f %e %s", found, MOST), 3);
	assert_int_equal(found[2].floats, 2);
	assert_true(found[2].known);
	assert_int_equal(xc_format_text_parse("%Lf %s", found, MOST), 2);
	assert_false(found[1].known);
}

static void positions_are_followed(void **state)
{
	(void)state;
	EXPECT("%2$s %1$s", "ss", 1, 0);
	EXPECT("%1$*2$d", "d", 0);
}

static void text_that_is_no_format_ends_it(void **state)
{
	(void)state;
	EXPECT("%s then %", "s", 0);
	EXPECT("%s then %!", "s", 0);
	EXPECT("%", "", 0);
	EXPECT("%99999999999999999999s%l", "s", 0);
	EXPECT("%s%s%s%s%s%s%s%s%s%s%s", "ssssssss", 0, 1, 2, 3, 4, 5, 6, 7);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_conversion_takes_the_next_argument), cmocka_unit_test(widths_take_arguments),
		cmocka_unit_test(floats_have_registers_of_their_own),      cmocka_unit_test(positions_are_followed),
		cmocka_unit_test(text_that_is_no_format_ends_it),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
