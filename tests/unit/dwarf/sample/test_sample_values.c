/* layer: dwarf
 *
 * Values of a dimension: equal texts have one number, and there is an end to their number and length. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "dwarf/sample/sample_values.h"

static uint32_t add(struct xc_sample_values *v, const char *text)
{
	return xc_sample_values_add(v, text, strlen(text));
}

static void equal_texts_have_one_number(void **state)
{
	(void)state;
	struct xc_sample_values v = {0};
	const uint32_t one = add(&v, "/one"), two = add(&v, "/two"), empty = add(&v, "");
	assert_true(one >= XC_SAMPLED_TEXTS && two >= XC_SAMPLED_TEXTS && empty >= XC_SAMPLED_TEXTS);
	assert_true(one != two && two != empty);
	assert_int_equal(add(&v, "/one"), one);
	assert_int_equal(xc_sample_values_add(&v, "/one\0more", 9), one);
	assert_int_equal(xc_sample_values_add(&v, "/one and more", 4), one);
	assert_string_equal(xc_sample_values_text(&v, two), "/two");
	assert_string_equal(xc_sample_values_text(&v, XC_SAMPLED_NONE), "(none)");
	assert_string_equal(xc_sample_values_text(&v, XC_SAMPLED_NOT_READ), "(not read)");
	xc_sample_values_fini(&v);
}

static void more_than_are_kept_are_others(void **state)
{
	(void)state;
	struct xc_sample_values v = {0};
	char text[32];
	for (unsigned turn = 0; turn < 2; turn++)
		for (unsigned i = 0; i < 2 * XC_SAMPLED_MOST; i++) {
			snprintf(text, sizeof text, "value %u", i);
			const uint32_t number = add(&v, text);
			assert_int_equal(number == XC_SAMPLED_OTHERS, i >= XC_SAMPLED_MOST);
			assert_string_equal(xc_sample_values_text(&v, number),
					    i >= XC_SAMPLED_MOST ? "(others)" : text);
		}
	xc_sample_values_fini(&v);
}

static void a_long_text_ends_between_characters(void **state)
{
	(void)state;
	struct xc_sample_values v = {0};
	char text[4 * XC_SAMPLED_BYTES] = "x";
	for (size_t i = 1; i + 2 < sizeof text; i += 2)
		memcpy(text + i, "\xc3\xa4", 3);
	const char *kept = xc_sample_values_text(&v, add(&v, text));
	assert_int_equal(strlen(kept), XC_SAMPLED_BYTES - 1); /* an odd number of bytes */
	assert_memory_equal(kept, text, strlen(kept));
	memset(text, 0x80, sizeof text - 1); /* no character begins anywhere */
	assert_string_equal(xc_sample_values_text(&v, add(&v, text)), "");
	xc_sample_values_fini(&v);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(equal_texts_have_one_number),
		cmocka_unit_test(more_than_are_kept_are_others),
		cmocka_unit_test(a_long_text_ends_between_characters),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
