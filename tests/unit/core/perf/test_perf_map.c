/* layer: core
 *
 * perf maps: names by address, of which that written last holds. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/perf/perf_map.h"

static struct xc_code_names *map_of(const char *text)
{
	struct xc_code_names *names = xc_code_names_new();
	xc_perf_map_read(names, text, strlen(text));
	return names;
}

static const char *name_at(struct xc_code_names *names, xc_addr addr)
{
	const struct xc_code_name *found = xc_code_names_find(names, addr);
	return found ? found->name : NULL;
}

static void a_name_may_have_spaces_and_holds_for_all_of_its_code(void **state)
{
	(void)state;
	struct xc_code_names *map = map_of("1000 20 LazyCompile:~parse /app.js:7\n2000 1 f\n");
	assert_string_equal(name_at(map, 0x1000), "LazyCompile:~parse /app.js:7");
	assert_string_equal(name_at(map, 0x101f), "LazyCompile:~parse /app.js:7");
	assert_null(name_at(map, 0x1020));
	assert_null(name_at(map, 0xfff));
	assert_string_equal(name_at(map, 0x2000), "f");
	xc_code_names_free(map);
}

static void what_was_written_last_holds(void **state)
{
	(void)state;
	struct xc_code_names *map = map_of("1000 100 old\n1000 10 new\n1080 10 other\n");
	assert_string_equal(name_at(map, 0x1008), "new");
	assert_string_equal(name_at(map, 0x1040), "old");
	assert_string_equal(name_at(map, 0x1088), "other");
	xc_code_names_free(map);
}

static void lines_that_are_none_are_left_out(void **state)
{
	(void)state;
	struct xc_code_names *map =
		map_of("\nabc\n1000\n1000 10\n1000 0 empty\nffffffffffffffff 10 beyond\n zz 1 x\n3000 10 last");
	assert_null(name_at(map, 0x1000));
	assert_null(name_at(map, UINT64_MAX));
	assert_null(name_at(map, 0x3000)); /* its line has no end: it may not be whole */
	xc_code_names_free(map);
	assert_null(name_at(NULL, 0x1000));
}

static void names_are_kept_up_to_a_bound(void **state)
{
	enum { LINES = 70000, LINE = 1015 };
	(void)state;
	char *text = malloc((size_t)LINES * LINE + 1);
	assert_non_null(text);
	for (int i = 0; i < LINES; i++)
		snprintf(text + (size_t)i * LINE, LINE + 1, "%08x 1 %01003d\n", i + 1, i);
	struct xc_code_names *map = xc_code_names_new();
	xc_perf_map_read(map, text, (size_t)LINES * LINE);
	assert_non_null(name_at(map, 67000)); /* of 1000 bytes each */
	assert_null(name_at(map, 67200));
	xc_code_names_free(map);
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_name_may_have_spaces_and_holds_for_all_of_its_code),
		cmocka_unit_test(what_was_written_last_holds),
		cmocka_unit_test(lines_that_are_none_are_left_out),
		cmocka_unit_test(names_are_kept_up_to_a_bound),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
