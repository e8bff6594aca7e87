/* layer: dwarf */
/* The field at an offset: each path is written next to the compiler's offset. */
#include "tests/support/compile_program.h"

#include "dwarf/types/field.h"

#define OFFSET(type, path) "{__builtin_offsetof(" type ", " path "), \"." path "\"},"

static const char source[] =
	"#line 1 \"/src/field.cc\"\n"
	"struct point { int x, y; };\n"
	"struct base { long id; char tag[6]; };\n"
	"struct derived : base { point *at; };\n"
	"struct all { char name[5]; point pair[3]; struct { short inner; union { long plain; point *pointer; }; };\n"
	"  unsigned bits : 3; base b; union { double d; struct { int low, high; } words; } u; point tail[]; };\n"
	"struct expected { unsigned long offset; const char *path; };\n"
	"all *pa; derived *pd; point *pp;\n"
	"expected table[] = {" OFFSET("all", "name[4]") OFFSET("all", "pair[0].x") OFFSET("all", "pair[2].y")
		OFFSET("all", "inner") OFFSET("all", "pointer") OFFSET("all", "b.id") OFFSET("all", "b.tag[5]")
			OFFSET("all", "u.d") OFFSET("all", "u.words.high")
				OFFSET("all", "tail[7].y") "};\n"
							   "unsigned long count = sizeof table / sizeof *table;\n";

static const char *path_of(const struct xc_type *type, uint64_t offset, uint64_t *rest)
{
	static char path[200];
	struct xc_text text = {0};
	xc_field_path(&text, type, offset, rest);
	snprintf(path, sizeof path, "%s", xc_text_string(&text));
	xc_text_fini(&text);
	return path;
}

static void offsets_of_the_compiler_give_the_path_back(void **state)
{
	(void)state;
	struct compiled *c = compile("g++ -g -x c++", source);
	const struct xc_type *all = xc_type_strip(type_of(c, "pa")->target);
	xc_addr table = value_of(c, "table").addr;
	uint64_t count, offset, rest;
	xc_addr text;
	assert_true(xc_space_peek_uint(c->process->space, value_of(c, "count").addr, 8, &count));
	assert_int_equal(count, 10);
	for (uint64_t i = 0; i < count; i++) {
		char expected[64];
		assert_true(xc_space_peek_uint(c->process->space, table + 16 * i, 8, &offset));
		assert_true(xc_space_peek_uint(c->process->space, table + 16 * i + 8, 8, &text));
		assert_true(xc_space_peek_string(c->process->space, text, expected, sizeof expected - 1, NULL) > 0);
		assert_string_equal(path_of(all, offset, &rest), expected);
		assert_int_equal(rest, 0);
	}
	release(c);
}

static void the_type_and_the_rest_are_told(void **state)
{
	(void)state;
	struct compiled *c = compile("g++ -g -x c++", source);
	const struct xc_type *derived = xc_type_strip(type_of(c, "pd")->target);
	uint64_t rest;
	assert_string_equal(xc_type_name(xc_field_path(NULL, derived, 16, &rest)), "point *");
	assert_int_equal(rest, 0);
	assert_string_equal(path_of(derived, 3, &rest), ".id"); /* of the base, which has no name */
	assert_int_equal(rest, 3);
	assert_string_equal(path_of(derived, 14, &rest), ""); /* padding */
	assert_int_equal(rest, 14);
	assert_string_equal(path_of(derived, 400, &rest), "");
	assert_ptr_equal(xc_field_path(NULL, derived, 400, NULL), derived);
	release(c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(offsets_of_the_compiler_give_the_path_back),
		cmocka_unit_test(the_type_and_the_rest_are_told),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
