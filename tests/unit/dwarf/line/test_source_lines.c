/* layer: dwarf */
/* Source lines around a crash, from arbitrary files. */
#include "dwarf/line/source_lines.h"

#include <stdlib.h>
#include <string.h>

#include "tests/support/check.h"
#include "core/process/source_roots.h"
#include "tests/support/scratch.h"

static struct xc_source_roots roots;
static struct xc_process process = {.source_roots = &roots};

static char *lines_of(const char *bytes, size_t len, unsigned line, unsigned around)
{
	scratch_file("source.c", bytes, len);
	return xc_source_lines(&process, scratch_path("source.c"), line, around);
}

static void expect(const char *source, unsigned line, unsigned around, const char *expected)
{
	char *got = lines_of(source, strlen(source), line, around);
	if (!expected)
		assert_null(got);
	else
		assert_string_equal(got, expected);
	free(got);
}

static void the_line_stands_between_its_neighbours(void **state)
{
	(void)state;
	expect("a\nb\nc\nd\ne\n", 3, 1, "      2  b\n→     3  c\n      4  d\n");
	expect("a\nb\nc", 1, 2, "→     1  a\n      2  b\n      3  c\n");
	expect("a\nb\nc", 3, 1, "      2  b\n→     3  c\n");
}

static void indentation_that_all_have_is_left_out(void **state)
{
	(void)state;
	expect("\t\tif (x)\n\n\t\t\treturn y;\n", 3, 2, "      1  if (x)\n      2  \n→     3          return y;\n");
	expect("    a\n\tb\n", 1, 1, "→     1  a\n      2      b\n");
}

static void lines_that_are_not_there_give_nothing(void **state)
{
	(void)state;
	expect("a\nb\n", 4, 1, NULL);
	expect("a\nb\n", 0, 1, NULL);
	expect("", 1, 1, NULL);
	assert_null(xc_source_lines(&process, scratch_path("missing.c"), 1, 1));
	assert_null(xc_source_lines(&process, "relative.c", 1, 1));
	assert_null(xc_source_lines(&process, NULL, 1, 1));
	assert_null(xc_source_lines(&process, scratch_dir(), 1, 1));
}

static void any_bytes_are_shown_harmlessly(void **state)
{
	(void)state;
	char *got = lines_of("\033[31m\xff\0x\n", 10, 1, 1000);
	assert_non_null(got);
	assert_null(strchr(got, '\033'));
	free(got);
	char wide[1000];
	memset(wide, 'w', sizeof wide);
	got = lines_of(wide, sizeof wide, 1, 1);
	assert_in_range(strlen(got), 100, 300);
	free(got);
}

static void single_lines_come_in_any_order(void **state)
{
	(void)state;
	struct xc_source_reader *reader = xc_source_reader_new(&process);
	static const char source[] = "\tone\ntwo\n\n    four";
	const char *path = scratch_file("source.c", source, sizeof source - 1);
	assert_string_equal(xc_source_reader_line(reader, path, 4), "four");
	assert_string_equal(xc_source_reader_line(reader, path, 1), "one");
	assert_string_equal(xc_source_reader_line(reader, path, 3), "");
	assert_null(xc_source_reader_line(reader, path, 5));
	assert_null(xc_source_reader_line(reader, path, 0));
	assert_null(xc_source_reader_line(reader, scratch_path("missing.c"), 1));
	assert_null(xc_source_reader_line(reader, NULL, 1));
	xc_source_reader_free(reader);
}

static void without_a_reader_no_line_is_available(void **state)
{
	(void)state;
	assert_null(xc_source_reader_line(NULL, "a.c", 1));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_line_stands_between_its_neighbours),
		cmocka_unit_test(indentation_that_all_have_is_left_out),
		cmocka_unit_test(lines_that_are_not_there_give_nothing),
		cmocka_unit_test(any_bytes_are_shown_harmlessly),
		cmocka_unit_test(single_lines_come_in_any_order),
		cmocka_unit_test(without_a_reader_no_line_is_available),
	};
	xc_source_roots_add(&roots, scratch_dir());
	const int failed = cmocka_run_group_tests(tests, NULL, NULL);
	xc_source_roots_fini(&roots);
	return failed;
}
