/* layer: core */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include <jansson.h>

#include "../../core/json.h"

static void assert_json(struct xc_json *json, const char *expected)
{
	struct xc_error *err = xc_json_finish(json);
	assert_null(err);
	assert_string_equal(xc_text_string(&json->text), expected);
	xc_text_fini(&json->text);
}

static void commas_stand_between_values_only(void **state)
{
	(void)state;
	struct xc_json json = xc_json_start(NULL);
	xc_json_open(&json, '{');
	xc_json_put_count(&json, "a", 1);
	xc_json_key(&json, "b");
	xc_json_open(&json, '[');
	xc_json_null(&json);
	xc_json_newline(&json);
	xc_json_bool(&json, true);
	xc_json_open(&json, '{');
	xc_json_close(&json, '}');
	xc_json_close(&json, ']');
	xc_json_put_address(&json, "c", UINT64_MAX);
	xc_json_close(&json, '}');
	assert_json(&json, "{\"a\":1,\"b\":[null,\ntrue,{}],\"c\":\"0xffffffffffffffff\"}\n");
}

static void numbers_beyond_2_to_53_are_strings(void **state)
{
	(void)state;
	struct xc_json json = xc_json_start(NULL);
	xc_json_open(&json, '[');
	xc_json_count(&json, UINT64_C(1) << 53);
	xc_json_count(&json, (UINT64_C(1) << 53) + 1);
	xc_json_count(&json, UINT64_MAX);
	xc_json_integer(&json, INT64_MIN);
	xc_json_integer(&json, -1);
	xc_json_close(&json, ']');
	assert_json(&json,
		    "[9007199254740992,\"9007199254740993\",\"18446744073709551615\",\"-9223372036854775808\",-1]\n");
}

static void doubles_that_json_lacks_are_strings(void **state)
{
	(void)state;
	struct xc_json json = xc_json_start(NULL);
	xc_json_open(&json, '[');
	xc_json_double(&json, 0.25);
	xc_json_double(&json, -INFINITY);
	xc_json_double(&json, NAN);
	xc_json_close(&json, ']');
	assert_json(&json, "[0.25,\"-inf\",\"nan\"]\n");
}

static void strings_are_escaped_by_kind(void **state)
{
	(void)state;
	struct xc_json json = xc_json_start(NULL);
	xc_json_open(&json, '[');
	xc_json_string(&json, "a\"b\\c\n\033\x7f");
	xc_json_string(&json, "\xc3\xa4\xe2\x82\xac\xf0\x9f\x90\x9b");
	xc_json_string(&json, "\xff\xc2\x9b\xe2\x80\xae\xc3");
	xc_json_string(&json, NULL);
	xc_json_close(&json, ']');
	assert_json(&json, "[\"a\\\"b\\\\c\\u000a\\u001b\\u007f\",\"\xc3\xa4\xe2\x82\xac\xf0\x9f\x90\x9b\","
			   "\"\\\\xff\\\\xc2\\\\x9b\\\\xe2\\\\x80\\\\xae\\\\xc3\",null]\n");
}

/* Any bytes at all: jansson (strict UTF-8) must read what we write, and ASCII must come back as it was. */
static void any_bytes_give_json_that_another_reader_accepts(void **state)
{
	(void)state;
	uint32_t seed = 12345;
	for (int round = 0; round < 5000; round++) {
		char bytes[24] = {0};
		bool ascii = true;
		for (size_t i = 0; i + 1 < sizeof bytes; i++) {
			seed = seed * 1664525u + 1013904223u;
			bytes[i] = (char)(seed >> 24);
			ascii &= (unsigned char)bytes[i] < 0x80;
			if (round % 3 == 0)
				bytes[i] &= 0x7f;
		}
		ascii |= round % 3 == 0;
		struct xc_json json = xc_json_start(NULL);
		xc_json_open(&json, '[');
		xc_json_string(&json, bytes);
		xc_json_close(&json, ']');
		struct xc_error *err = xc_json_finish(&json);
		assert_null(err);
		json_t *read = json_loads(json.text.bytes, 0, NULL);
		assert_non_null(read);
		if (ascii)
			assert_string_equal(json_string_value(json_array_get(read, 0)), bytes);
		json_decref(read);
		xc_text_fini(&json.text);
	}
}

static void a_full_disk_is_an_error(void **state)
{
	(void)state;
	FILE *out = fopen("/dev/full", "w");
	struct xc_json json = xc_json_start(out);
	xc_json_null(&json);
	struct xc_error *err = xc_json_finish(&json);
	assert_non_null(err);
	assert_int_equal(err->code, XC_ERR_IO);
	xc_error_free(err);
	fclose(out);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(commas_stand_between_values_only),
		cmocka_unit_test(numbers_beyond_2_to_53_are_strings),
		cmocka_unit_test(doubles_that_json_lacks_are_strings),
		cmocka_unit_test(strings_are_escaped_by_kind),
		cmocka_unit_test(any_bytes_give_json_that_another_reader_accepts),
		cmocka_unit_test(a_full_disk_is_an_error),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
