/* layer: core */
#include "tests/support/check.h"

#include "core/base/text.h"

static void check_escaped(const char *bytes, size_t len, const char *wanted)
{
	struct xc_text text = {0};
	xc_text_escaped(&text, bytes, len);
	assert_string_equal(xc_text_string(&text), wanted);
	xc_text_fini(&text);
}

#define ESCAPED(literal, wanted) check_escaped(literal, sizeof(literal) - 1, wanted)

static void check_name(const char *name, const char *wanted)
{
	struct xc_text text = {0};
	xc_text_name(&text, name);
	assert_string_equal(xc_text_string(&text), wanted);
	xc_text_fini(&text);
}

static void plain_text_stays(void **state)
{
	(void)state;
	ESCAPED("", "");
	ESCAPED("plain ~ text", "plain ~ text");
	ESCAPED("gr\xc3\xbc\xc3\x9f", "gr\xc3\xbc\xc3\x9f");
	ESCAPED("\xe2\x82\xac \xf0\x9f\x98\x80", "\xe2\x82\xac \xf0\x9f\x98\x80");
	ESCAPED("\xf4\x8f\xbf\xbd", "\xf4\x8f\xbf\xbd");
}

static void letters_escape_what_c_names(void **state)
{
	(void)state;
	ESCAPED("\n\t\r\\\"", "\\n\\t\\r\\\\\\\"");
	ESCAPED("a\0b", "a\\000b");
}

static void every_control_character_is_escaped(void **state)
{
	(void)state;
	for (int c = 0; c < 0x20; c++) {
		char byte = (char)c;
		struct xc_text text = {0};
		xc_text_escaped(&text, &byte, 1);
		xc_text_name(&text, (char[]){byte, 0});
		for (size_t i = 0; i < text.len; i++)
			assert_true(text.bytes[i] >= 0x20 && text.bytes[i] < 0x7f);
		xc_text_fini(&text);
	}
	ESCAPED("\x1b[31m\x7f", "\\033[31m\\177");
}

static void c1_controls_are_escaped_and_what_follows_them_is_not(void **state)
{
	(void)state;
	ESCAPED("\xc2\x9b"
		"1m",
		"\\302\\2331m"); /* U+009B is CSI to many terminals */
	ESCAPED("\xc2\x80\xc2\x9f", "\\302\\200\\302\\237");
	ESCAPED("\xc2\xa0", "\xc2\xa0");
	ESCAPED("\x9b"
		"1m",
		"\\2331m");
}

static void malformed_utf8_is_escaped(void **state)
{
	(void)state;
	ESCAPED("\xc0\xaf", "\\300\\257");                   /* overlong slash */
	ESCAPED("\xe0\x80\xaf", "\\340\\200\\257");          /* overlong in three */
	ESCAPED("\xf0\x80\x80\xaf", "\\360\\200\\200\\257"); /* and in four */
	ESCAPED("\xed\xa0\x80", "\\355\\240\\200");          /* a surrogate */
	ESCAPED("\xf4\x90\x80\x80", "\\364\\220\\200\\200"); /* beyond U+10FFFF */
	ESCAPED("\xf8\x88\x80\x80\x80", "\\370\\210\\200\\200\\200");
	ESCAPED("\xff\xfe", "\\377\\376");
	ESCAPED("\xe2\x82", "\\342\\202");   /* cut at the end */
	ESCAPED("\xe2\x82z", "\\342\\202z"); /* cut in the middle */
	ESCAPED("\xc3\xc3\xbc", "\\303\xc3\xbc");
}

static void a_character_cut_by_the_length_does_not_read_on(void **state)
{
	(void)state;
	char *exact = malloc(3); /* ASan checks its end */
	memcpy(exact, "\xf0\x9f\x98", 3);
	check_escaped(exact, 3, "\\360\\237\\230");
	check_escaped(exact, 1, "\\360");
	free(exact);
}

static void what_reorders_text_is_escaped(void **state)
{
	(void)state;
	static const char *const hostile[] = {
		"\xe2\x80\x8e", "\xe2\x80\x8f", /* LRM, RLM */
		"\xe2\x80\xaa", "\xe2\x80\xab", "\xe2\x80\xac", "\xe2\x80\xad",
		"\xe2\x80\xae",                                                 /* embeddings, overrides */
		"\xe2\x81\xa6", "\xe2\x81\xa7", "\xe2\x81\xa8", "\xe2\x81\xa9", /* isolates */
		"\xe2\x80\xa8", "\xe2\x80\xa9",                                 /* line, paragraph separator */
		"\xd8\x9c",                                                     /* Arabic letter mark */
	};
	for (size_t i = 0; i < XC_COUNT(hostile); i++) {
		assert_int_equal(xc_text_plain_length(hostile[i], strlen(hostile[i])), 0);
		struct xc_text text = {0};
		xc_text_name(&text, hostile[i]);
		xc_text_escaped(&text, hostile[i], strlen(hostile[i]));
		for (size_t j = 0; j < text.len; j++)
			assert_true((unsigned char)text.bytes[j] < 0x80);
		xc_text_fini(&text);
	}
	ESCAPED("\xe2\x80\x94\xe2\x80\xa6\xe2\x80\xaf\xe2\x81\xa5", "\xe2\x80\x94\xe2\x80\xa6\xe2\x80\xaf\xe2\x81\xa5");
}

static void names_keep_quotes_and_show_bytes_in_hex(void **state)
{
	(void)state;
	check_name("a###[b] #c ##", "a\\x23\\x23#[b] #c \\x23#");
	check_name("lib\"x\".so", "lib\"x\".so");
	check_name("a\x1b[2Jb", "a\\x1b[2Jb");
	check_name("\xff"
		   "gr\xc3\xbc",
		   "\\xffgr\xc3\xbc");
	check_name("\xc2\x9b", "\\xc2\\x9b");
	check_name("", "");
}

static void sizes_have_three_digits_and_a_unit(void **state)
{
	(void)state;
	static const struct {
		uint64_t bytes;
		const char *text;
	} cases[] = {{0, "0 B"},
		     {1023, "1023 B"},
		     {1024, "1.00 KiB"},
		     {1536, "1.50 KiB"},
		     {10 << 10, "10.0 KiB"},
		     {100 << 10, "100 KiB"},
		     {(1 << 20) - 1, "1.00 MiB"},
		     {UINT64_C(5) << 40, "5.00 TiB"},
		     {UINT64_MAX, "16.0 EiB"}};
	for (size_t i = 0; i < XC_COUNT(cases); i++) {
		struct xc_text text = {0};
		xc_text_size(&text, cases[i].bytes);
		assert_string_equal(xc_text_string(&text), cases[i].text);
		xc_text_fini(&text);
	}
}

static void printf_is_whole_at_every_length(void **state)
{
	(void)state;
	struct xc_text text = {0};
	char piece[600];
	size_t wanted = 0;
	for (size_t len = 0; len < sizeof piece; len++) {
		memset(piece, 'a' + (int)(len % 26), len);
		piece[len] = '\0';
		xc_text_printf(&text, "%s", piece);
		wanted += len;
		assert_int_equal(text.len, wanted);
		assert_int_equal(strlen(xc_text_string(&text)), wanted);
	}
	xc_text_fini(&text);
}

static void take_empties_the_text(void **state)
{
	(void)state;
	struct xc_text text = {0};
	assert_string_equal(xc_text_string(&text), "");
	xc_auto(xc_freep) char *none = xc_text_take(&text);
	assert_string_equal(none, "");
	xc_text_add(&text, "ab");
	xc_text_char(&text, 'c');
	xc_auto(xc_freep) char *some = xc_text_take(&text);
	assert_string_equal(some, "abc");
	assert_null(text.bytes);
	assert_int_equal(text.len, 0);
}

static void readable_text_ends_where_bytes_are_no_characters(void **state)
{
	(void)state;
	assert_int_equal(xc_text_readable_length("a b\tc\r\nd\xc3\xa9", 10), 10);
	assert_int_equal(xc_text_readable_length("abc\0def", 7), 3);
	assert_int_equal(xc_text_readable_length("abc\xff", 4), 3);
	assert_int_equal(xc_text_readable_length("ab\xc3\xa9", 3), 2); /* half a character */
	assert_int_equal(xc_text_readable_length("\x1b[0m", 4), 0);
	assert_int_equal(xc_text_readable_length("", 0), 0);
}

static void text_is_found_around_a_place(void **state)
{
	static const char bytes[] = "\xff"
				    "ab\xc3\xa9"
				    "cd\x01"
				    "ef";
	size_t begin;
	(void)state;
	assert_int_equal(xc_text_readable_around(bytes, 10, 4, &begin), 6); /* within a character */
	assert_int_equal(begin, 1);
	assert_int_equal(xc_text_readable_around(bytes, 10, 7, &begin), 6); /* it ends there */
	assert_int_equal(begin, 1);
	assert_int_equal(xc_text_readable_around(bytes, 10, 8, &begin), 2);
	assert_int_equal(begin, 8);
	assert_int_equal(xc_text_readable_around(bytes, 10, 0, &begin), 0);
	assert_int_equal(xc_text_readable_around("\xff\xfe", 2, 1, &begin), 0);
	assert_int_equal(begin, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(plain_text_stays),
		cmocka_unit_test(letters_escape_what_c_names),
		cmocka_unit_test(every_control_character_is_escaped),
		cmocka_unit_test(c1_controls_are_escaped_and_what_follows_them_is_not),
		cmocka_unit_test(malformed_utf8_is_escaped),
		cmocka_unit_test(a_character_cut_by_the_length_does_not_read_on),
		cmocka_unit_test(what_reorders_text_is_escaped),
		cmocka_unit_test(names_keep_quotes_and_show_bytes_in_hex),
		cmocka_unit_test(sizes_have_three_digits_and_a_unit),
		cmocka_unit_test(printf_is_whole_at_every_length),
		cmocka_unit_test(take_empties_the_text),
		cmocka_unit_test(readable_text_ends_where_bytes_are_no_characters),
		cmocka_unit_test(text_is_found_around_a_place),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
