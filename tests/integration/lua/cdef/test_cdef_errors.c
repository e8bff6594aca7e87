/* layer: lua */
/* C declarations that are wrong, and those that have no end. */
#include "core/base/text.h"
#include "lua/cdef/cdef.h"
#include "tests/integration/lua/cdef/scope.h"

/* ---- errors ---- */

static void wrong_declarations_say_where_and_why(void **state)
{
	(void)state;
	static const char *const wrong[][2] = {
		{"struct a { int x }", "line 1, column 18: `}` where a semicolon should stand"},
		{"struct a { int x; ", "the text ends where } should stand"},
		{"struct a { int x; }", "the text ends where a name should stand"},
		{"int x[", "the text ends where a constant should stand"},
		{"struct a { struct a x; };", "column 21: a member of type `struct a`, which is not complete"},
		{"struct a { void v; };", "not complete"},
		{"struct a { int f(void); };", "a member that is a function"},
		{"struct a { int x; char x; };", "two members `x`"},
		{"struct a { int x; struct { int y; union { int x; }; }; };", "two members `x`"},
		{"struct a { int n; int f[]; int x; };",
		 "column 23: only the last member may be an array without a count"},
		{"struct a { int x : 33; };", "a bit-field wider than `int`"},
		{"struct a { _Bool x : 2; };", "wider than `bool`"},
		{"struct a { int x : 0; };", "a bit-field of 0 bits has no name"},
		{"struct a { double x : 3; };", "a bit-field of type `double`"},
		{"struct a { int x : -1; };", "the width of the bit-field is negative"},
		{"struct a { static int x; };", "a member has no storage class"},
		{"int x[-1];", "the number of elements is negative"},
		{"int x[1ull << 60];", "too large"},
		{"typedef int t[1ull << 40]; t x[1 << 20];", "larger than any object"},
		{"struct a { char x[1ull << 55], y[1ull << 55], z; };", "larger than any object"},
		{"int x[1 / 0];", "column 9: a division by zero"},
		{"int x[1 << 32];", "a shift by more bits than there are"},
		{"int x[1.5];", "only integers are constants here"},
		{"int x[08];", "not an octal number"},
		{"int x[n];", "no constant `n` is declared"},
		{"int x[sizeof(struct nothing)];", "`struct nothing` is not complete"},
		{"struct a { int b : 3; }; int x[offsetof(struct a, b)];", "`b` is a bit-field"},
		{"int x[offsetof(struct a { int b; }, c)];", "no member `c`"},
		{"int f(void)[3];", "a function cannot return `int [3]`"},
		{"int f[3](void);", "an array of functions"},
		{"enum e { A, A };", "`A` is an enumerator of another value on line 1"},
		{"enum e { };", "an enum without enumerators"},
		{"enum e { A = 1ull << 63, B = -1 };", "no integer holds all values"},
		{"enum e { A = ~0ull, B };", "no integer holds the value of this enumerator"},
		{"typedef int t __attribute__((aligned(3)));", "an alignment must be a power of two"},
		{"typedef int t __attribute__((mode(DI)));", "the attribute `mode` is not supported"},
		{"typedef int t __attribute__((aligned(8))); t x[2];", "some elements would not be aligned"},
		{"int *__attribute__((aligned(16))) x;", "not supported in this place"},
		{"static_assert(sizeof(int) == 8, \"wide\");", "static_assert does not hold: \"wide\""},
		{"#include <stdio.h>", "line 1, column 2: #include is not supported here"},
		{"\n#ifdef X\n#endif", "line 2, column 2: #ifdef is not supported here"},
		{"#pragma GCC poison x", "the only supported pragma is pack"},
		{"#pragma pack(3)", "a number of bytes should stand here"},
		{"#pragma pack(pop)", "nothing was pushed"},
		{"#define", "the name of a macro should stand here"},
		{"#define F(x) x\nint a[F(1)];", "`F` is a macro with parameters"},
		{"#define BAD 1 +\nint a[BAD];", "line 2, column 10: `]` where a constant should stand"},
		{"#define BAD 1 / 0\nint a[BAD];", "line 2, column 7: macro `BAD`: a division by zero"},
		{"#define S \"abc\nint x;", "is not C"},
		{"int x; /* no end", "line 1, column 8: unterminated comment"},
		{"int a = 5;", "only declarations are supported"},
		{"class X { };", "no type `class` is declared"},
		{"struct X : Y { };", "`:` where"},
		{"template<int> x;", "no type `template`"},
		{"int x # 1;", "`#` where"},
		{"unsigned struct a { int x; } b;", "`struct` where"},
		{"int int x;", "these words do not form a type"},
		{"int x\x1b[31m;", "`\\x1b` where"},
		{"typedef static int x;", "conflicting"},
		{"struct { int x; } __attribute__((packed", "the text ends where an attribute should stand"},
		{"int f(int x) { if (x) { ", "`{` is not closed"},
	};
	for (size_t i = 0; i < XC_COUNT(wrong); i++) {
		struct scope s = open_scope();
		struct xc_error *err = xc_cdef_declare(s.cdef, wrong[i][0]);
		if (!err || !strstr(err->message, wrong[i][1]))
			fail_msg("%s: %s, not %s", wrong[i][0], err ? err->message : "no error", wrong[i][1]);
		assert_non_null(err->lines);
		xc_error_free(err);
		close_scope(&s);
	}
}

static void errors_point_at_the_spot(void **state)
{
	(void)state;
	struct scope s = open_scope();
	struct xc_error *err = xc_cdef_declare(s.cdef, "int a;\nstruct b { foo_t *x; };\nint c;");
	assert_string_equal(err->message, "line 2, column 12: no type `foo_t` is declared");
	assert_string_equal(err->lines, "struct b { foo_t *x; };\n           ^~~~~");
	xc_error_free(err);
	close_scope(&s);
}

/* ---- limits ---- */

static char *repeated(const char *before, const char *unit, size_t count, const char *behind)
{
	struct xc_text text = {0};
	xc_text_add(&text, before);
	for (size_t i = 0; i < count; i++)
		xc_text_add(&text, unit);
	xc_text_add(&text, behind);
	return xc_text_take(&text);
}

static void what_has_no_end_is_bounded(void **state)
{
	(void)state;
	static const struct {
		const char *before, *unit, *behind, *part;
		size_t count;
	} endless[] = {
		{"", "struct {", "", "nested more than", 10000},
		{"int x[", "(", "1", "nested more than", 10000},
		{"int x[", "~", "1]", "nested more than", 10000},
		{"int x[", "1?1:", "1]", "nested more than", 10000},
		{"int ", "(", "x", "nested more than", 10000},
		{"int ", "*", "x;", "more than 64 stars", 10000},
		{"int x", "[1]", ";", "more than 64 parts", 10000},
		{"void f(", "int,", "int);", "more than 128 parameters", 10000},
		{"void f", "(int (*)", "", "nested more than", 10000},
		{"typedef ", "unsigned ", "x;", "too many words", 10000},
		{"struct a { int ", "x,", "y; };", "more than 65536 members", 70000},
		{"enum { A", " = 1, A", "};", "more than 65536 enumerators", 70000},
		{"", "#pragma pack(push)\n", "", "more than 64 nested #pragma pack", 100},
		{"", "         ", "", "more than 1048576 bytes", 200000},
	};
	for (size_t i = 0; i < XC_COUNT(endless); i++) {
		struct scope s = open_scope();
		char *text = repeated(endless[i].before, endless[i].unit, endless[i].count, endless[i].behind);
		struct xc_error *err = xc_cdef_declare(s.cdef, text);
		if (!err || !strstr(err->message, endless[i].part))
			fail_msg("%s%s…: %s, not %s", endless[i].before, endless[i].unit,
				 err ? err->message : "no error", endless[i].part);
		xc_error_free(err);
		free(text);
		close_scope(&s);
	}
}

static void macros_that_grow_end_at_a_limit(void **state)
{
	(void)state;
	struct scope s = open_scope();
	struct xc_text text = {0}, chain = {0};
	xc_text_add(&text, "#define A0 1+1\n");
	for (int i = 1; i < 40; i++)
		xc_text_printf(&text, "#define A%d A%d+A%d\n", i, i - 1, i - 1);
	xc_text_add(&text, "int x[A39];");
	CHECK_ERROR(xc_cdef_declare(s.cdef, text.bytes), XC_ERR_LIMIT, "more than 4194304 tokens");
	xc_text_add(&chain, "#define B0 1\n");
	for (int i = 1; i < 100; i++)
		xc_text_printf(&chain, "#define B%d B%d\n", i, i - 1);
	xc_text_add(&chain, "int y[B62]; int x[B99];");
	CHECK_ERROR(xc_cdef_declare(s.cdef, chain.bytes), XC_ERR_LIMIT, "macros in macros, more than 64 deep");
	xc_text_fini(&text);
	xc_text_fini(&chain);
	close_scope(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(wrong_declarations_say_where_and_why),
		cmocka_unit_test(errors_point_at_the_spot),
		cmocka_unit_test(what_has_no_end_is_bounded),
		cmocka_unit_test(macros_that_grow_end_at_a_limit),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
