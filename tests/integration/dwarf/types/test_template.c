/* layer: dwarf */
/* Names of class templates: clang writes them in full or without their arguments; both must read the same. */
#include "tests/support/compile_program.h"

static const char source[] =
	"enum color { red = 1 }; enum class tone : unsigned char { low, mid = 7 };\n"
	"template <class T, int N = 3, class U = char> struct box { T t[N]; U u; };\n"
	"template <auto V> struct constant { decltype(V) v; };\n"
	"template <class... T> struct pack { struct inner { int i; } in; };\n"
	"template <template <class, int, class> class W, class... R> struct wraps { W<short, 2, bool> w; };\n"
	"namespace ns { template <long A, unsigned char B, char C, bool D> struct values { int v; }; struct in {}; }\n"
	"template <class B> struct base { B *self; }; struct derived : base<derived> { int d; };\n"
	"template <class A, class B> struct two { A *a; B *b; };\n"
	"typedef two<int, int> t1; typedef two<t1, t1> t2; typedef two<t2, t2> t3; typedef two<t3, t3> t4;\n"
	"typedef two<t4, t4> t5; typedef two<t5, t5> t6; typedef two<t6, t6> t7; typedef two<t7, t7> t8;\n"
	"typedef two<t8, t8> t9; typedef two<t9, t9> t10; typedef two<t10, t10> t11;\n"
	"box<int> v0; box<box<const char *, 1>, 2, unsigned long> v1; constant<7> v2; constant<'x'> v3; "
	"constant<'\\''> v4;\n"
	"constant<tone::mid> v5; constant<red> v6; constant<true> v7; constant<-5L> v8; pack<> v9;\n"
	"pack<int, const char *, box<char, 1>> v10; pack<int, char>::inner v11; wraps<box> v12; wraps<box, int, long> "
	"v13;\n"
	"ns::values<-1, 200, 'c', false> v14; box<ns::in> v15; derived v16; base<derived> v17;\n"
	"box<int (*)(int, ...), 1> v18; box<int ns::in::*, 1> v19; box<int &(&)(long), 0> *v20; t2 v21;\n"
	"template <long A, unsigned char B, char C, bool D, unsigned long E, unsigned F, short G, unsigned short H, "
	"long long I, "
	"unsigned long long J, signed char K, wchar_t L, char16_t M, char32_t O> struct all { int v; };\n"
	"all<-1, 200, '\\n', false, 5, 5, 5, 5, 5, 5, 5, L'x', u'x', U'x'> v22; constant<'\\xff'> v23; "
	"constant<nullptr> v24;\n"
	"t11 deep;\n";

static void simple_names_read_as_whole_ones(void **state)
{
	(void)state;
	struct compiled *simple = compile("clang++ -g -std=c++17 -gsimple-template-names -x c++", source);
	struct compiled *whole = compile("clang++ -g -std=c++17 -x c++", source);
	for (int i = 0; i <= 24; i++) {
		char name[8];
		snprintf(name, sizeof name, "v%d", i);
		const char *have = xc_type_name(xc_type_strip(type_of(simple, name))),
			   *want = xc_type_name(xc_type_strip(type_of(whole, name)));
		if (strcmp(have, want) != 0)
			fail_msg("%s: got %s, want %s", name, have, want);
		assert_true(i == 16 || strchr(want, '<') != NULL);
	}
	release(simple);
	release(whole);
}

/* Each level doubles the name. */
static void names_that_grow_without_end_are_cut(void **state)
{
	(void)state;
	struct compiled *c = compile("clang++ -g -std=c++17 -gsimple-template-names -x c++", source);
	const char *name = xc_type_strip(type_of(c, "deep"))->name;
	assert_in_range(strlen(name), 3000, 4200);
	assert_non_null(strstr(name, "..."));
	release(c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(simple_names_read_as_whole_ones),
		cmocka_unit_test(names_that_grow_without_end_are_cut),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
