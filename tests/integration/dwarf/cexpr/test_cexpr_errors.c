/* layer: dwarf */
/* Expressions that cannot be evaluated: the error shows the spot and helps; hostile ones end. */
#include "tests/integration/dwarf/cexpr/evaluated.h"

static void errors_show_the_spot(void **state)
{
	(void)state;
	expect_error("head->foo", "no member `foo` in `struct node`", "      ^~~");
	expect_error("head->lenght_of_it", "did you mean `length_of_it`?", "      ^~~~~~~~~~~~");
	expect_error("1 + head.length", "did you mean `length_of_it`?", "         ^~~~~~");
	expect_error("*wild", "cannot read 32 bytes at 0x10: not mapped", "^");
	expect_error("1 + wild->value", "cannot read 4 bytes at 0x18: not mapped", "          ^~~~~");
	expect_error("wild->next->value", "cannot read 8 bytes at 0x10: not mapped", "      ^~~~");
	expect_error("nothing->value", "cannot read 4 bytes at 0x8: not mapped", "         ^~~~~");
	expect_error("numbers + head", "cannot be added", "        ^");
	expect_error("*opaque", "points to an unknown type", "^");
	expect_error("first + 1", "`struct node` is not a number", "      ^");
	expect_error("counter.x", "`int` has no members", "        ^");
	expect_error("counter[1]", "`int` has no elements", "       ^~~");
	expect_error("&1", "is not in memory", " ^");
	expect_error("&first.flags", "a bit-field has no address", "       ^~~~~");
	expect_error("1 / (counter - 11)", "division by zero", "  ^");
	expect_error("1 << 32", "a shift by 32 of the 32 bits", "  ^~");
	expect_error("counter = 3", "nothing can be assigned", "        ^");
	expect_error("counter++", "nothing can be assigned", "       ^~");
	expect_error("plus(1, 0)", "functions cannot be called", "    ^");
	expect_error("numbers[", "expected a value, but the expression ends", "        ^");
	expect_error("(1 + 2", "expected ), but the expression ends", "      ^");
	expect_error("1 2", "expected the end or an operator, found `2`", "  ^");
	expect_error("", "expected a value, but the expression ends", "^");
	expect_error("sizeof(struct nowhere)", "no struct `nowhere`", "              ^~~~~~~");
	expect_error("struct node", "`struct node` is a type, not a value", "^~~~~~~~~~~");
	expect_error("0x", "a number without digits", "^~");
	expect_error("099", "not an octal number", "^~~");
	expect_error("99999999999999999999", "more than 64 bits", "^~~~~~~~~~~~~~~~~~~~");
	expect_error("'ab", "a quote without its end", "^~~");
	expect_error("numbers[0]@0", "0 elements", "          ^");
	expect_error("(unsigned float)1", "do not form a type", " ^~~~~~~~~~~~~~");
	expect_error("(int)1e30", "1e+30 does not fit `int`", "^~~~~");
	expect_error("1 # 2", "found `#`", "  ^");
}

static void unknown_names_are_helped_with(void **state)
{
	(void)state;
	struct xc_value value;
	struct xc_error *err = xc_cexpr_value(&fixture.at, "in_main", &fixture.arena, &value);
	assert_non_null(err);
	assert_non_null(strstr(err->message, "no `in_main` here (frame 0, inner)"));
	assert_non_null(strstr(err->hint, "frame 1, main: --frame 1"));
	xc_error_free(err);
	err = xc_cexpr_value(&fixture.at, "greting", &fixture.arena, &value);
	assert_non_null(strstr(err->hint, "greeting"));
	xc_error_free(err);
}

/* A caller that only needs to know whether a name exists does not wait for a search of all names. */
static void unknown_names_are_not_helped_with_when_nobody_reads_it(void **state)
{
	(void)state;
	static const char *const names[] = {"greting", "in_main", "(struct greting *)0"};
	for (size_t i = 0; i < XC_COUNT(names); i++) {
		struct xc_frame_scope terse = fixture.at;
		struct xc_value value;
		terse.without_hints = true;
		struct xc_error *err = xc_cexpr_value(&terse, names[i], &fixture.arena, &value);
		assert_non_null(err);
		assert_int_equal(err->code, XC_ERR_NOT_FOUND);
		assert_null(err->hint);
		xc_error_free(err);
	}
}

static void several_statics_of_one_name_are_listed(void **state)
{
	(void)state;
	/* a frame in no unit: no `counter` is preferred */
	struct xc_frame_scope nowhere = {.process = fixture.process, .thread = fixture.at.thread};
	struct xc_value value;
	struct xc_error *err = xc_cexpr_value(&nowhere, "counter", &fixture.arena, &value);
	assert_non_null(err);
	assert_int_equal(err->code, XC_ERR_USAGE);
	assert_non_null(strstr(err->message, "`counter` is ambiguous: "));
	assert_non_null(strstr(err->message, "other.c:1"));
	assert_non_null(strstr(err->message, "<stdin>:"));
	xc_error_free(err);
	CHECK_OK(xc_cexpr_value(&nowhere, "shared", &fixture.arena, &value));
}

/* A text of n times `before`, then `middle`, then n times `after`. */
static char *repeated(const char *before, const char *middle, const char *after, size_t n)
{
	struct xc_text text = {0};
	for (size_t i = 0; i < n; i++)
		xc_text_add(&text, before);
	xc_text_add(&text, middle);
	for (size_t i = 0; i < n; i++)
		xc_text_add(&text, after);
	return xc_text_take(&text);
}

static void hostile_expressions_end_in_an_error(void **state)
{
	(void)state;
	static const struct {
		const char *before, *middle, *after, *part;
		size_t n;
	} cases[] = {{"(", "1", ")", "nested more than", 5000},
		     {"- ", "1", "", "nested more than", 5000},
		     {"", "1", "+1", "operators in a row", 3000},
		     {"", "numbers", "[0]", "operators in a row", 3000},
		     {"1?", "1", ":1", "nested more than", 3000},
		     {"(int(*)(", "", "", "", 1500},
		     {"(", "int(*)", ")", "", 3000},
		     {"sizeof(int", "1", "[2])", "", 1000},
		     {"(int ", "(", "*", "", 3000},
		     {"", "1", "+counter", "more than 500 names", 600},
		     {"a<", "b", ">", "", 3000},
		     {"", "1", "          ", "more than 16384 bytes", 3000}};
	for (size_t i = 0; i < XC_COUNT(cases); i++) {
		xc_auto(xc_freep) char *text = repeated(cases[i].before, cases[i].middle, cases[i].after, cases[i].n);
		struct xc_value value;
		struct xc_error *err = xc_cexpr_value(&fixture.at, text, &fixture.arena, &value);
		if (!err || !strstr(err->message, cases[i].part))
			fail_msg("case %zu: %s", i, err ? err->message : "no error");
		xc_error_free(err);
	}
}

static void a_frame_that_is_not_there_is_an_error(void **state)
{
	(void)state;
	struct xc_frame_scope s;
	CHECK_ERROR(xc_frame_scope_open(&s, fixture.process, NULL, 1000), XC_ERR_NOT_FOUND,
		    "no frame 1000: the stack of");
	xc_frame_scope_fini(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(errors_show_the_spot),
		cmocka_unit_test(unknown_names_are_helped_with),
		cmocka_unit_test(unknown_names_are_not_helped_with_when_nobody_reads_it),
		cmocka_unit_test(several_statics_of_one_name_are_listed),
		cmocka_unit_test(hostile_expressions_end_in_an_error),
		cmocka_unit_test(a_frame_that_is_not_there_is_an_error),
	};
	return cmocka_run_group_tests(tests, open_fixture, close_fixture);
}
