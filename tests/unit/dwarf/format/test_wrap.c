/* layer: dwarf */
#include "dwarf/format/wrap.h"

#include <string.h>

#include "tests/support/check.h"
#include "tests/support/property.h"

static void check(const char *value, unsigned width, const char *wanted)
{
	xc_auto(xc_text_fini) struct xc_text text = {0};
	xc_wrap(&text, value, strlen(value), 0, width);
	assert_string_equal(xc_text_string(&text), wanted);
}

static void what_fits_stays_on_its_line(void **state)
{
	(void)state;
	check("{a = 1, b = 2}", 14, "{a = 1, b = 2}");
	check("", 10, "");
	check("0x10 <a_symbol_that_is_long+4>", 10, "0x10 <a_symbol_that_is_long+4>");
}

static void members_get_a_line_each(void **state)
{
	(void)state;
	check("{a = 1, b = 2}", 13, "{\n  a = 1,\n  b = 2\n}");
	check("{a = {x = 1, y = 2}, b = 2}", 22, "{\n  a = {x = 1, y = 2},\n  b = 2\n}");
	check("{a = {x = 1, y = 2}, b = 2}", 12, "{\n  a = {\n    x = 1,\n    y = 2\n  },\n  b = 2\n}");
	check("std::map with 2 elements = {[\"a\"] = 1, [\"b\"] = 2}", 30,
	      "std::map with 2 elements = {\n  [\"a\"] = 1,\n  [\"b\"] = 2\n}");
}

static void plain_elements_fill_lines(void **state)
{
	(void)state;
	check("{1, 2, 3, 4, 5, 6}", 10, "{\n  1, 2, 3,\n  4, 5, 6\n}");
}

static void strings_and_symbols_are_whole(void **state)
{
	(void)state;
	check("{s = \"a, {b\\\", c}\", c = 44 ',', f = 0x1 <f(int, {x})+1>}", 20,
	      "{\n  s = \"a, {b\\\", c}\",\n  c = 44 ',',\n  f = 0x1 <f(int, {x})+1>\n}");
	check("{f = 0x1 <A<int>::operator<(A<int>, B)>, g = 2}", 20,
	      "{\n  f = 0x1 <A<int>::operator<(A<int>, B)>,\n  g = 2\n}");
}

static void a_value_with_commas_is_one_member(void **state)
{
	(void)state;
	check("{v = std::vector of length 2, capacity 2 = {1, 2}, n = 1}", 30,
	      "{\n  v = std::vector of length 2, capacity 2 = {\n    1, 2\n  },\n  n = 1\n}");
	check("{s = '\\000' <repeats 12 times>, \"\\002\", n = 1}", 20,
	      "{\n  s = '\\000' <repeats 12 times>, \"\\002\",\n  n = 1\n}");
	check("{\"one text\", \"two\"}", 12, "{\n  \"one text\",\n  \"two\"\n}");
}

/* Only white space is added, for any text. */
PROPERTY(nothing_but_white_space_is_added, 4000, 20000)
{
	static const char alphabet[] = "{}{},, ,\"'<>()[]=\\ab12-";
	char value[64] = "", joined[512];
	size_t len = rng_below(rng, sizeof value), kept = 0, at = 0;
	for (size_t i = 0; i < len; i++)
		value[i] = alphabet[rng_below(rng, sizeof alphabet - 1)];
	xc_auto(xc_text_fini) struct xc_text text = {0};
	xc_wrap(&text, value, len, 0, (unsigned)rng_below(rng, 30));
	for (size_t i = 0; i < text.len; i++)
		if (text.bytes[i] != ' ' && text.bytes[i] != '\n')
			joined[kept++ % sizeof joined] = text.bytes[i];
	for (size_t i = 0; i < len; i++)
		if (value[i] != ' ')
			PROPERTY_CHECK(rng, at < kept && joined[at++] == value[i]);
	PROPERTY_CHECK(rng, at == kept);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_fits_stays_on_its_line),       cmocka_unit_test(members_get_a_line_each),
		cmocka_unit_test(plain_elements_fill_lines),         cmocka_unit_test(strings_and_symbols_are_whole),
		cmocka_unit_test(a_value_with_commas_is_one_member), cmocka_unit_test(nothing_but_white_space_is_added),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
