/* layer: dwarf */
/* Lines of addresses: the line tables are written by hand with .loc, so that each address has the intended rows. */
#include "tests/support/scene.h"

#include "dwarf/line/line.h"

struct lines {
	struct scene *scene;
	struct xc_line_tables *lines;
	Dwarf_Die unit;
	xc_addr start; /* of f */
};

/* The unit of f, assembled with debug information of a C file. */
static struct lines lines_by(const char *assembler, const char *body)
{
	struct lines l = {.scene = make_scene(assembler, body), .lines = xc_line_tables_new()};
	l.start = label(l.scene, "f");
	assert_true(xc_unit_cache_at(l.scene->process, l.scene->module, l.start, &l.unit));
	return l;
}

static void end_lines(struct lines *l)
{
	xc_line_tables_free(l->lines);
	end_scene(l->scene);
}

static struct lines lines_of(const char *body)
{
	return lines_by("gcc -x assembler", body);
}

/* A unit that covers f, with a line table and nothing else (DWARF 5, 7.5.1.1). */
#define UNIT                                                                                                           \
	"\t.section .debug_info\n\t.long 9f-8f\n8:\t.value 5\n\t.byte 1, 8\n\t.long .Labbrev\n\t.uleb128 1\n"          \
	"\t.long .Lline\n\t.quad f\n\t.quad .Lend-f\n9:\n"                                                             \
	"\t.section .debug_abbrev\n.Labbrev:\t.uleb128 1, 0x11\n\t.byte 0\n\t.uleb128 0x10, 0x17, 0x11, 1, 0x12, 7, "  \
	"0, 0, 0\n"                                                                                                    \
	"\t.section .debug_line\n.Lline:\n"
#define PROGRAM(rows)                                                                                                  \
	"\t.file 0 \"/src\" \"zero.c\"\n\t.file 1 \"one.c\"\n\t.file 2 \"/usr/include/two.h\"\n\t.file 3 \"sub\" "     \
	"\"/abs/three.h\"\n\t.text\n\t.globl f\nf:\n" rows ".Lend:\n" UNIT

static void expect_line(struct lines *l, uint64_t offset, const char *file, unsigned line, unsigned column)
{
	struct xc_source_location at;
	if (!xc_line_at(l->lines, &l->unit, l->start + offset, &at))
		fail_msg("no line at +%llu", (unsigned long long)offset);
	if (at.line != line || at.column != column || strcmp(at.file, file) != 0)
		fail_msg("+%llu is %s:%u:%u", (unsigned long long)offset, at.file, at.line, at.column);
}

static void the_row_at_or_below_an_address_covers_it(void **state)
{
	(void)state;
	struct lines l = lines_of(PROGRAM("\t.loc 1 10 3\n\tnop\n\tnop\n\t.loc 1 11 5\n\tnop\n\t.loc 2 7 1\n\tret\n"));
	expect_line(&l, 0, "/src/one.c", 10, 3);
	expect_line(&l, 1, "/src/one.c", 10, 3);
	expect_line(&l, 2, "/src/one.c", 11, 5);
	expect_line(&l, 3, "/usr/include/two.h", 7, 1);
	end_lines(&l);
}

static void nothing_is_told_behind_the_end_of_a_sequence(void **state)
{
	(void)state;
	struct xc_source_location at;
	struct lines l = lines_of(PROGRAM("\t.loc 1 10\n\tnop\n\tret\n"));
	expect_line(&l, 1, "/src/one.c", 10, 0);
	assert_false(xc_line_at(l.lines, &l.unit, l.start + 2, &at));
	assert_false(xc_line_at(l.lines, &l.unit, l.start - 1, &at));
	assert_false(xc_line_at(l.lines, &l.unit, 0, &at));
	assert_false(xc_line_at(l.lines, &l.unit, UINT64_MAX, &at));
	end_lines(&l);
}

static void of_rows_with_one_address_the_last_counts(void **state)
{
	(void)state;
	struct lines l = lines_of(PROGRAM("\t.loc 1 10\n\t.loc 1 20\n\t.loc 1 30\n\tnop\n\tret\n"));
	expect_line(&l, 0, "/src/one.c", 30, 0);
	expect_line(&l, 1, "/src/one.c", 30, 0);
	end_lines(&l);
}

static void a_statement_goes_before_what_is_none(void **state)
{
	(void)state;
	struct lines l = lines_of(
		PROGRAM("\t.loc 1 10 0 is_stmt 1\n\t.loc 1 20 0 is_stmt 0\n\tnop\n\t.loc 1 30 0 is_stmt 0\n\tret\n"));
	expect_line(&l, 0, "/src/one.c", 10, 0);
	expect_line(&l, 1, "/src/one.c", 30, 0);
	end_lines(&l);
}

/* Code that belongs to no particular line. Rows by clang, because GNU as omits line 0. */
static void line_zero_belongs_to_the_row_before_it(void **state)
{
	(void)state;
	struct xc_source_location at;
	struct lines l = lines_by("clang -x assembler",
				  PROGRAM("\t.loc 1 0\n\tnop\n\t.loc 1 10\n\tnop\n\t.loc 1 0\n\tnop\n\tret\n"));
	assert_false(xc_line_at(l.lines, &l.unit, l.start, &at));
	expect_line(&l, 1, "/src/one.c", 10, 0);
	expect_line(&l, 2, "/src/one.c", 10, 0);
	end_lines(&l);
}

static void files_are_told_by_number(void **state)
{
	(void)state;
	struct lines l = lines_of(PROGRAM("\t.loc 1 10\n\tnop\n\t.loc 2 3\n\tret\n"));
	assert_string_equal(xc_line_file(l.lines, &l.unit, 1), "/src/one.c");
	assert_string_equal(xc_line_file(l.lines, &l.unit, 2), "/usr/include/two.h");
	assert_string_equal(xc_line_file(l.lines, &l.unit, 3), "/abs/three.h");
	assert_null(xc_line_file(l.lines, &l.unit, 4));
	assert_null(xc_line_file(l.lines, &l.unit, UINT64_MAX));
	end_lines(&l);
}

/* Each statement of a straight-line function, for any compiler and version of DWARF. */
static void compiled_lines_follow_the_source(void **state)
{
	(void)state;
	static const char *const compilers[] = {"gcc -g -O0 -x c", "gcc -gdwarf-4 -O0 -x c", "gcc -gdwarf-3 -O0 -x c",
						"clang -g -O0 -x c", "clang -gdwarf-4 -O0 -x c"};
	for (size_t i = 0; i < XC_COUNT(compilers); i++) {
		unsigned last = 0, changes = 0;
		struct xc_line_tables *lines = xc_line_tables_new();
		struct scene *s =
			make_scene(compilers[i],
				   "int g;\nint f(int a)\n{\n\tg = a;\n\tg = a * 2;\n\tg = a + 3;\n\treturn g;\n}\n");
		const struct xc_place *place = xc_debuginfo_place(s->process, label(s, "f"));
		for (xc_addr at = label(s, "f"); at < label(s, "f") + 100; at++) {
			struct xc_source_location line;
			if (!xc_line_at(lines, (Dwarf_Die *)&place->unit, at, &line))
				break;
			assert_true(line.line >= last);
			changes += line.line != last;
			last = line.line;
		}
		assert_in_range(last, 7, 8);
		assert_in_range(changes, 5, 6); /* clang's return instruction is on the line of the return */
		xc_line_tables_free(lines);
		end_scene(s);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_row_at_or_below_an_address_covers_it),
		cmocka_unit_test(nothing_is_told_behind_the_end_of_a_sequence),
		cmocka_unit_test(of_rows_with_one_address_the_last_counts),
		cmocka_unit_test(a_statement_goes_before_what_is_none),
		cmocka_unit_test(line_zero_belongs_to_the_row_before_it),
		cmocka_unit_test(files_are_told_by_number),
		cmocka_unit_test(compiled_lines_follow_the_source),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
