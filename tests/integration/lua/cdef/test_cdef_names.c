/* layer: lua */
/* Names of types and constants in C declarations, and declarations that come again. */
#include "lua/cdef/cdef.h"
#include "tests/integration/lua/cdef/scope.h"

/* ---- names of types ---- */

static void type_names_are_written_as_they_were_read(void **state)
{
	(void)state;
	static const char *const names[][2] = {
		{"unsigned", "unsigned int"},
		{"long unsigned int", "unsigned long"},
		{"long long", "long long"},
		{"signed char *const *", "signed char * const *"},
		{"const struct foo *", "const struct foo *"},
		{"struct foo const volatile", "const volatile struct foo"},
		{"foo_t [4][2]", "foo_t [4][2]"},
		{"foo_t[2 + SIX]", "foo_t [8]"},
		{"char []", "char []"},
		{"void (*)(int)", "void (*)(int)"},
		{"int (int, char *, ...)", "int (int, char *, ...)"},
		{"int (*(*)(void))[5]", "int (*(*)(void))[5]"},
		{"int (*[3])(foo_t (*)(int))", "int (*[3])(foo_t (*)(int))"},
		{"int (*)(int argv[], foo_t f(void))", "int (*)(int *, foo_t (*)(void))"},
		{"enum e", "enum e"},
		{"uint32_t", "uint32_t"},
		{"size_t *", "size_t *"},
		{"_Bool", "bool"},
		{"bool", "bool"},
		{"__int128", "__int128"},
		{"_Atomic(int) *", "_Atomic int *"},
		{"struct { int a; }", "struct {...}"},
	};
	struct scope s = open_scope();
	CHECK_OK(xc_cdef_declare(s.cdef,
				 "struct foo { int x; }; typedef struct foo foo_t; enum e { A }; enum { SIX = 6 };"));
	for (size_t i = 0; i < XC_COUNT(names); i++)
		assert_string_equal(xc_type_name(type_of(&s, names[i][0])), names[i][1]);
	assert_ptr_equal(type_of(&s, "foo_t *"), type_of(&s, "foo_t *"));
	close_scope(&s);
}

static void type_names_that_name_nothing_are_not_found(void **state)
{
	(void)state;
	static const struct {
		const char *name;
		enum xc_error_code code;
		const char *part;
	} wrong[] = {
		{"struct bar", XC_ERR_NOT_FOUND, "no struct `bar` is declared"},
		{"bar_t *", XC_ERR_NOT_FOUND, "no type `bar_t` is declared"},
		{"union foo", XC_ERR_FORMAT, "`foo` is a struct on line 1"},
		{"enum nothing", XC_ERR_NOT_FOUND, "no enum `nothing`"},
		{"foo_t[NOPE]", XC_ERR_NOT_FOUND, "no constant `NOPE`"},
		{"int x", XC_ERR_FORMAT, "a type name must not declare another name"},
		{"int *)", XC_ERR_FORMAT, "`)` where the end should stand"},
		{"", XC_ERR_FORMAT, "the text ends where a type should stand"},
		{"unsigned double", XC_ERR_FORMAT, "these words do not form a type"},
		{"_Complex double", XC_ERR_FORMAT, "complex types"},
		{"u32", XC_ERR_NOT_FOUND, "no type `u32`"}, /* Rust's */
	};
	struct scope s = open_scope();
	CHECK_OK(xc_cdef_declare(s.cdef, "typedef struct foo { int x; } foo_t;"));
	for (size_t i = 0; i < XC_COUNT(wrong); i++) {
		const struct xc_type *type;
		CHECK_ERROR(xc_cdef_type(s.cdef, wrong[i].name, &type), wrong[i].code, wrong[i].part);
	}
	CHECK_OK(xc_cdef_declare(s.cdef, "struct bar { int x; };")); /* the query left no trace */
	assert_int_equal(size_of(&s, "struct bar"), 4);
	close_scope(&s);
}

/* ---- constants ---- */

static void constants_are_those_of_macros_and_enumerators(void **state)
{
	(void)state;
	struct scope s = open_scope();
	int64_t value;
	CHECK_OK(xc_cdef_declare(s.cdef, "#define LATE (BASE \\\n + 1) // a comment \\\n that goes on\n"
					 "#define BASE 0x10\n#define TWICE BASE * 2 + BASE\n#define SELF SELF\n"
					 "#define U_CHAR unsigned char\n#define EMPTY\n  #  define SPACED 'x'\n"
					 "enum { RED, GREEN = 7, BLUE, BIG = 1ull << 63, LAST = ~0u, };\n"
					 "EMPTY U_CHAR EMPTY *text;"));
	assert_int_equal(constant_of(&s, "LATE"), 17);
	assert_int_equal(constant_of(&s, "TWICE"), 48);
	assert_int_equal(constant_of(&s, "SPACED"), 'x');
	assert_int_equal(constant_of(&s, "BLUE"), 8);
	assert_int_equal(constant_of(&s, "BIG"), INT64_MIN);
	assert_int_equal(constant_of(&s, "LAST"), UINT32_MAX);
	CHECK_ERROR(xc_cdef_constant(s.cdef, "PINK", &value), XC_ERR_NOT_FOUND, "PINK");
	CHECK_ERROR(xc_cdef_constant(s.cdef, "1 + 1", &value), XC_ERR_NOT_FOUND, "1 + 1");
	CHECK_ERROR(xc_cdef_constant(s.cdef, "U_CHAR", &value), XC_ERR_FORMAT,
		    "`unsigned` where a constant should stand");
	CHECK_ERROR(xc_cdef_constant(s.cdef, "SELF", &value), XC_ERR_NOT_FOUND, "macro `SELF`: no constant `SELF`");
	CHECK_OK(xc_cdef_declare(s.cdef, "#undef BASE\n#define BASE 1"));
	assert_int_equal(constant_of(&s, "LATE"), 2);
	close_scope(&s);
}

/* ---- several declarations ---- */

static void the_same_declaration_may_come_again(void **state)
{
	(void)state;
	static const char text[] =
		"#define N 3\nstruct a; typedef struct a *ap; struct a { ap next; struct { int x : N; } in; "
		"void (*f)(struct a *, int[2]); }; enum { E = N }; enum g { G }; typedef int (*fn)(ap);"
		"typedef struct { char c; } anon; typedef int (paren)[2]; typedef unsigned long size_t; union u { int "
		"i; };";
	struct scope s = open_scope();
	CHECK_OK(xc_cdef_declare(s.cdef, text));
	const struct xc_type *before = type_of(&s, "struct a"), *anon = type_of(&s, "anon");
	CHECK_OK(xc_cdef_declare(s.cdef, text));
	assert_ptr_equal(type_of(&s, "struct a"), before);
	assert_ptr_equal(type_of(&s, "anon"), anon);
	close_scope(&s);
}

static void other_declarations_of_a_name_are_refused(void **state)
{
	(void)state;
	static const char *const wrong[][2] = {
		{"\n\nstruct a { int x; };",
		 "line 3, column 8: `a` is defined differently on line 2 of an earlier text"},
		{"struct a { long y; };", "defined differently"},
		{"#pragma pack(1)\nstruct a { char c; long x; };", "defined differently"},
		{"typedef long t;", "`t` is another type on line 3 of an earlier text"},
		{"struct b { int x; };\nstruct b { int y; };",
		 "line 2, column 8: `b` is defined differently on line 1"},
		{"union a;", "`a` is a struct"},
		{"enum { t };", "`t` is a type"},
		{"enum { E = 2 };", "`E` is an enumerator of another value on line 4"},
		{"typedef int E;", "`E` is an enumerator"},
		{"#define M 2", "`M` is another macro on line 5"},
		{"#define M(x) 1", "`M` is another macro"},
		{"typedef int t __attribute__((aligned(8)));", "another type"},
	};
	struct scope s = open_scope();
	CHECK_OK(xc_cdef_declare(s.cdef,
				 "\nstruct a { char c; long x; };\ntypedef int t;\nenum { E = 1 };\n#define M 1\n"));
	for (size_t i = 0; i < XC_COUNT(wrong); i++)
		CHECK_ERROR(xc_cdef_declare(s.cdef, wrong[i][0]), XC_ERR_FORMAT, wrong[i][1]);
	close_scope(&s);
}

static void a_text_with_an_error_declares_nothing(void **state)
{
	(void)state;
	struct scope s = open_scope();
	const struct xc_type *type;
	int64_t value;
	CHECK_OK(xc_cdef_declare(s.cdef, "struct later; struct has { struct later *p; };\n#define KEPT 1"));
	CHECK_ERROR(xc_cdef_declare(s.cdef, "#define NEW 1\n#undef KEPT\nenum { MADE }; struct later { int x, y; };\n"
					    "typedef int new_t; struct fresh { struct later l; }; oops"),
		    XC_ERR_FORMAT, "line 4, column 54: no type `oops` is declared");
	CHECK_ERROR(xc_cdef_type(s.cdef, "new_t", &type), XC_ERR_NOT_FOUND, "new_t");
	CHECK_ERROR(xc_cdef_type(s.cdef, "struct fresh", &type), XC_ERR_NOT_FOUND, "fresh");
	CHECK_ERROR(xc_cdef_constant(s.cdef, "NEW", &value), XC_ERR_NOT_FOUND, "NEW");
	CHECK_ERROR(xc_cdef_constant(s.cdef, "MADE", &value), XC_ERR_NOT_FOUND, "MADE");
	assert_int_equal(constant_of(&s, "KEPT"), 1);
	assert_true(type_of(&s, "struct later")->is_declaration);
	CHECK_OK(xc_cdef_declare(s.cdef, "struct later { char c; };"));
	assert_int_equal(size_of(&s, "struct later"), 1);
	close_scope(&s);
}

/* ---- ignored parts ---- */

static void functions_and_variables_are_read_past(void **state)
{
	(void)state;
	struct scope s = open_scope();
	CHECK_OK(xc_cdef_declare(s.cdef,
				 "extern int errno_, *pointer, table[16];\n"
				 "int printf(const char *restrict format, ...) __attribute__((format(printf, 1, 2)));\n"
				 "extern void *memcpy(void *, const void *, size_t) __asm__(\"copy\" \"_it\");\n"
				 "static inline int twice(int x) { return x * 2; /* } */ }\n"
				 "__extension__ extern _Thread_local volatile int tls; void (*signal(int sig, void "
				 "(*func)(int)))(int);\n"
				 "_Noreturn void stop(void); int main(); ;;\n"
				 "_Static_assert(sizeof(long) == 8 && sizeof 1 == 4, \"LP64\"); static_assert(1);\n"
				 "struct with { static_assert(1, \"\"); int x;; struct inner { int y; } in; struct "
				 "only_a_tag { int z; }; };\n"
				 "typedef int first, *second, third[2];"));
	assert_int_equal(size_of(&s, "struct with"), 8);
	assert_int_equal(size_of(&s, "struct only_a_tag"), 4);
	assert_int_equal(size_of(&s, "third"), 8);
	close_scope(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(type_names_are_written_as_they_were_read),
		cmocka_unit_test(type_names_that_name_nothing_are_not_found),
		cmocka_unit_test(constants_are_those_of_macros_and_enumerators),
		cmocka_unit_test(the_same_declaration_may_come_again),
		cmocka_unit_test(other_declarations_of_a_name_are_refused),
		cmocka_unit_test(a_text_with_an_error_declares_nothing),
		cmocka_unit_test(functions_and_variables_are_read_past),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
