/* layer: core */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "core/text/jsonvalue.h"

/* Takes value. */
static void assert_dump(json_t *value, const char *expected)
{
	char *text = json_dumps(value, JSON_COMPACT | JSON_ENCODE_ANY);
	assert_non_null(text);
	assert_string_equal(text, expected);
	free(text);
	json_decref(value);
}

static void numbers_beyond_2_to_53_are_strings(void **state)
{
	(void)state;
	const int64_t largest = INT64_C(1) << 53;
	assert_dump(xc_jsonvalue_count(0), "0");
	assert_dump(xc_jsonvalue_count((uint64_t)largest), "9007199254740992");
	assert_dump(xc_jsonvalue_count((uint64_t)largest + 1), "\"9007199254740993\"");
	assert_dump(xc_jsonvalue_count(UINT64_MAX), "\"18446744073709551615\"");
	assert_dump(xc_jsonvalue_integer(-1), "-1");
	assert_dump(xc_jsonvalue_integer(-largest), "-9007199254740992");
	assert_dump(xc_jsonvalue_integer(-largest - 1), "\"-9007199254740993\"");
	assert_dump(xc_jsonvalue_integer(largest + 1), "\"9007199254740993\"");
	assert_dump(xc_jsonvalue_integer(INT64_MIN), "\"-9223372036854775808\"");
}

static void addresses_are_hex_strings(void **state)
{
	(void)state;
	assert_dump(xc_jsonvalue_address(0), "\"0x0\"");
	assert_dump(xc_jsonvalue_address(UINT64_MAX), "\"0xffffffffffffffff\"");
}

static void doubles_that_json_lacks_are_strings(void **state)
{
	(void)state;
	assert_dump(xc_jsonvalue_double(0.25), "0.25");
	assert_dump(xc_jsonvalue_double(INFINITY), "\"inf\"");
	assert_dump(xc_jsonvalue_double(-INFINITY), "\"-inf\"");
	assert_dump(xc_jsonvalue_double(NAN), "\"nan\"");
}

static void text_is_kept_and_everything_else_is_spelt_out(void **state)
{
	(void)state;
	assert_dump(xc_jsonvalue_text(NULL), "null");
	assert_dump(xc_jsonvalue_text(""), "\"\"");
	assert_dump(xc_jsonvalue_text("a\"b\\c\n\033"), "\"a\\\"b\\\\c\\n\\u001B\"");
	assert_dump(xc_jsonvalue_text("\xc3\xa4\xe2\x82\xac\xf0\x9f\x90\x9b"),
		    "\"\xc3\xa4\xe2\x82\xac\xf0\x9f\x90\x9b\"");
	assert_dump(xc_jsonvalue_text("\xff|\x7f|\xc2\x9b|\xe2\x80\xae|\xc3"),
		    "\"\\\\xff|\\\\x7f|\\\\xc2\\\\x9b|\\\\xe2\\\\x80\\\\xae|\\\\xc3\"");
}

static void a_later_member_replaces_the_value_and_keeps_the_place(void **state)
{
	(void)state;
	json_t *object = json_object();
	xc_jsonvalue_set(object, "z", xc_jsonvalue_count(1));
	xc_jsonvalue_set(object, "a\xff", xc_jsonvalue_count(2));
	xc_jsonvalue_set(object, "z", json_true());
	assert_dump(object, "{\"z\":true,\"a\\\\xff\":2}");
}

/* No byte below a space and no DEL may be written raw; sanitising removes all C1 controls. */
static bool is_safe(const char *text)
{
	for (const unsigned char *p = (const unsigned char *)text; *p; p++)
		if (*p < 0x20 || *p == 0x7f || (p[0] == 0xc2 && p[1] < 0xa0))
			return false;
	return true;
}

/* Arbitrary bytes, from all 256 or only ASCII: the output is safe, and printable ASCII is unchanged. */
static void any_bytes_can_be_written_and_read_again(void **state)
{
	(void)state;
	uint32_t seed = 12345;
	for (int round = 0; round < 5000; round++) {
		char bytes[24] = {0};
		bool same = true;
		for (size_t i = 0; i + 1 < sizeof bytes; i++) {
			seed = seed * 1664525u + 1013904223u;
			unsigned char c = (unsigned char)(seed >> (round % 3 ? 24 : 25));
			bytes[i] = (char)c;
			same &= c < 0x7f;
		}
		json_t *value = xc_jsonvalue_text(bytes);
		char *text = json_dumps(value, JSON_ENCODE_ANY);
		assert_non_null(text);
		assert_true(is_safe(text));
		json_t *read = json_loads(text, JSON_DECODE_ANY, NULL);
		assert_non_null(read);
		assert_true(json_equal(read, value));
		if (same)
			assert_string_equal(json_string_value(read), bytes);
		json_decref(read);
		json_decref(value);
		free(text);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(numbers_beyond_2_to_53_are_strings),
		cmocka_unit_test(addresses_are_hex_strings),
		cmocka_unit_test(doubles_that_json_lacks_are_strings),
		cmocka_unit_test(text_is_kept_and_everything_else_is_spelt_out),
		cmocka_unit_test(a_later_member_replaces_the_value_and_keeps_the_place),
		cmocka_unit_test(any_bytes_can_be_written_and_read_again),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
