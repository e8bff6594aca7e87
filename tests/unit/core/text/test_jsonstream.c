/* layer: core */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "core/text/jsonstream.h"
#include "core/text/jsonvalue.h"

struct written {
	char *text;
	size_t size;
	struct xc_jsonstream stream;
};

static void start(struct written *w)
{
	*w = (struct written){0};
	w->stream = xc_jsonstream_start(open_memstream(&w->text, &w->size));
}

static void assert_written(struct written *w, const char *expected)
{
	struct xc_error *err = xc_jsonstream_finish(&w->stream);
	assert_null(err);
	fclose(w->stream.out);
	assert_string_equal(w->text, expected);
	free(w->text);
}

static json_t *two_members(void)
{
	json_t *object = json_object();
	xc_jsonvalue_set(object, "z", xc_jsonvalue_count(1));
	xc_jsonvalue_set(object, "a", json_object());
	return object;
}

static void commas_stand_between_parts_only(void **state)
{
	(void)state;
	struct written w;
	start(&w);
	xc_jsonstream_open(&w.stream, NULL, '{');
	xc_jsonstream_members(&w.stream, json_object());
	xc_jsonstream_members(&w.stream, two_members());
	xc_jsonstream_members(&w.stream, json_object());
	xc_jsonstream_open(&w.stream, "b", '[');
	xc_jsonstream_element(&w.stream, json_null());
	xc_jsonstream_element(&w.stream, two_members());
	xc_jsonstream_open(&w.stream, NULL, '{');
	xc_jsonstream_close(&w.stream, '}');
	xc_jsonstream_close(&w.stream, ']');
	xc_jsonstream_member(&w.stream, "c", xc_jsonvalue_text("d"));
	xc_jsonstream_close(&w.stream, '}');
	assert_written(&w, "{\"z\":1,\"a\":{},\"b\":[null,{\"z\":1,\"a\":{}},{}],\"c\":\"d\"}\n");
}

static void a_line_begins_behind_the_comma(void **state)
{
	(void)state;
	struct written w;
	start(&w);
	xc_jsonstream_open(&w.stream, NULL, '[');
	for (uint64_t i = 0; i < 3; i++) {
		xc_jsonstream_line(&w.stream);
		xc_jsonstream_element(&w.stream, xc_jsonvalue_count(i));
	}
	xc_jsonstream_close(&w.stream, ']');
	assert_written(&w, "[\n0,\n1,\n2]\n");
}

static void any_key_is_quoted_and_cleaned(void **state)
{
	(void)state;
	struct written w;
	start(&w);
	xc_jsonstream_open(&w.stream, NULL, '{');
	xc_jsonstream_open(&w.stream, "a\"\xff", '[');
	xc_jsonstream_close(&w.stream, ']');
	xc_jsonstream_member(&w.stream, "b\n\x7f", json_true());
	xc_jsonstream_close(&w.stream, '}');
	assert_written(&w, "{\"a\\\"\\\\xff\":[],\"b\\n\\\\x7f\":true}\n");
}

static void two_hashes_are_no_command(void **state)
{
	(void)state;
	struct written w;
	start(&w);
	xc_jsonstream_open(&w.stream, NULL, '{');
	xc_jsonstream_member(&w.stream, "##[a]", xc_jsonvalue_text("###[#b]# ##"));
	xc_jsonstream_close(&w.stream, '}');
	assert_written(&w, "{\"#\\u0023[a]\":\"#\\u0023#[#b]# #\\u0023\"}\n");
}

static void seconds_have_nine_digits_and_values_all(void **state)
{
	(void)state;
	struct written w;
	start(&w);
	xc_jsonstream_element(&w.stream, xc_jsonvalue_seconds(0.1234567891234));
	xc_jsonstream_element(&w.stream, xc_jsonvalue_double(1.0 / 3));
	assert_written(&w, "0.123456789,0.33333333333333331\n");
}

static long live_blocks;

static void *count_malloc(size_t size)
{
	live_blocks++;
	return malloc(size);
}

static void count_free(void *block)
{
	live_blocks -= block != NULL;
	free(block);
}

/* Memory stays bounded: jansson holds nothing after each call. */
static void a_part_is_freed_once_it_is_written(void **state)
{
	(void)state;
	struct written w;
	start(&w);
	json_set_alloc_funcs(count_malloc, count_free);
	xc_jsonstream_open(&w.stream, NULL, '{');
	xc_jsonstream_members(&w.stream, two_members());
	assert_int_equal(live_blocks, 0);
	xc_jsonstream_member(&w.stream, "m", two_members());
	assert_int_equal(live_blocks, 0);
	xc_jsonstream_open(&w.stream, "k", '[');
	assert_int_equal(live_blocks, 0);
	xc_jsonstream_element(&w.stream, two_members());
	assert_int_equal(live_blocks, 0);
	w.stream.failure = ENOSPC;
	xc_jsonstream_element(&w.stream, two_members());
	assert_int_equal(live_blocks, 0);
	json_set_alloc_funcs(malloc, free);
	fclose(w.stream.out);
	free(w.text);
}

/* The stream's buffer overflows in the middle, or finish alone flushes it. */
static void a_full_disk_is_an_error(void **state)
{
	(void)state;
	static const int counts[] = {1, 100000};
	for (size_t round = 0; round < XC_COUNT(counts); round++) {
		FILE *out = fopen("/dev/full", "w");
		struct xc_jsonstream stream = xc_jsonstream_start(out);
		xc_jsonstream_open(&stream, NULL, '[');
		for (int i = 0; i < counts[round]; i++)
			xc_jsonstream_element(&stream, json_true());
		xc_jsonstream_close(&stream, ']');
		assert_int_equal(stream.failure, counts[round] == 1 ? 0 : ENOSPC);
		struct xc_error *err = xc_jsonstream_finish(&stream);
		assert_non_null(err);
		assert_int_equal(err->code, XC_ERR_IO);
		assert_non_null(strstr(err->message, strerror(ENOSPC)));
		xc_error_free(err);
		fclose(out);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(commas_stand_between_parts_only),
		cmocka_unit_test(a_line_begins_behind_the_comma),
		cmocka_unit_test(any_key_is_quoted_and_cleaned),
		cmocka_unit_test(two_hashes_are_no_command),
		cmocka_unit_test(seconds_have_nine_digits_and_values_all),
		cmocka_unit_test(a_part_is_freed_once_it_is_written),
		cmocka_unit_test(a_full_disk_is_an_error),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
