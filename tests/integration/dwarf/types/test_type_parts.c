/* layer: dwarf */
/* Parts of a class other than members, compared with the source, for both compilers. */
#include "tests/support/compile_program.h"

static const char source[] =
	"#line 1 \"/src/parts.cc\"\n"
	"enum color : unsigned char { red = 200 };\n"
	"template <template <class> class W, class T, int N, color C, const char *P, bool B = true, class... R>\n"
	"class box {\n"
	"public:\n"
	"	typedef T item;\n"
	"	struct inner { int i; };\n"
	"	box(int) {}\n"
	"	static int made();\n"
	"	virtual int area() const = 0;\n"
	"	box(const box &) = delete;\n"
	"	W<T> *wrapped; inner in; item *it;\n"
	"protected:\n"
	"	alignas(32) int wide;\n"
	"private:\n"
	"	int hidden;\n"
	"};\n"
	"template <class T> struct wrap { T t; };\n"
	"char text[4]; inline void *operator new(unsigned long, void *at) { return at; }\n"
	"typedef box<wrap, long, -3, red, text, true, int, char> full;\n"
	"typedef box<wrap, long, -3, red, text> bare;\n"
	"struct alignas(64) line { int a; static int count; static const int limit = 7; } line;\n"
	"typedef int often __attribute__((aligned(16)));\n"
	"often aligned;\n"
	"extern \"C\" void __cxa_pure_virtual() {}\n"
	"template <class B> struct made : B { made() : B(1) {} int area() const { return 1; } };\n"
	"full *pf; bare *pb; made<full> *mf; void *m;\n"
	"void make(void *at) { m = new (at) made<full>; m = new (at) made<bare>; }\n"
	"int use(full *a) { return a->area() + a->in.i; }\n"
	"int use(bare *a) { return a->area() + a->in.i; }\n";

static const char *const compilers[] = {"g++ -fno-rtti -g -x c++", "g++ -fno-rtti -g -gdwarf-4 -x c++",
					"clang++ -fno-rtti -g -x c++",
					"g++ -fno-rtti -g -gdwarf-4 -fdebug-types-section -x c++"};

static const struct xc_type *pointed(struct compiled *c, const char *name)
{
	return xc_type_strip(type_of(c, name)->target);
}

static void arguments_of_templates(void **state)
{
	(void)state;
	for (size_t i = 0; i < XC_COUNT(compilers); i++) {
		struct compiled *c = compile(compilers[i], source);
		size_t count;
		const struct xc_type *full = pointed(c, "pf");
		const struct xc_template *t = xc_type_templates(full, &count);
		assert_int_equal(count, 8);
		assert_string_equal(t[0].template_name, "wrap");
		assert_string_equal(t[1].name, "T");
		assert_string_equal(xc_type_name(t[1].type), "long");
		assert_true(t[2].is_value && t[2].has_value);
		assert_int_equal((int64_t)t[2].value, -3);
		assert_int_equal(t[3].value, 200);
		if (t[4].has_value) { /* gcc gives the address; clang 14 the symbol's place */
			assert_true(t[4].is_address);
			assert_int_equal(t[4].value, value_of(c, "text").addr);
		}
		assert_int_equal(t[5].value, 1);
		assert_true(t[6].is_pack && t[7].is_pack);
		assert_string_equal(xc_type_name(t[7].type), "char");
		assert_ptr_equal(xc_type_template(full, "N", 9), &t[2]);
		assert_ptr_equal(xc_type_template(full, NULL, 1), &t[1]);
		assert_null(xc_type_template(full, "nothing", 99));
		release(c);
	}
}

static void an_empty_pack_is_one_entry(void **state)
{
	(void)state;
	struct compiled *c = compile(compilers[0], source);
	size_t count;
	const struct xc_template *t = xc_type_templates(pointed(c, "pb"), &count);
	assert_int_equal(count, 7);
	assert_true(t[6].is_pack);
	assert_null(t[6].type);
	release(c);
}

static const struct xc_method *method(const struct xc_type *type, const char *name, size_t skip)
{
	size_t count;
	const struct xc_method *m = xc_type_methods(type, &count);
	for (size_t i = 0; i < count; i++) {
		if (m[i].name && strcmp(m[i].name, name) == 0 && skip-- == 0)
			return &m[i];
	}
	fail_msg("no method %s", name);
	return NULL;
}

static void methods_and_statics(void **state)
{
	(void)state;
	for (size_t i = 0; i < XC_COUNT(compilers); i++) {
		struct compiled *c = compile(compilers[i], source);
		size_t count;
		const struct xc_type *full = pointed(c, "pf");
		assert_true(method(full, "made", 0)->is_static);
		assert_false(method(full, "made", 0)->is_virtual);
		assert_true(method(full, "area", 0)->is_virtual);
		assert_int_equal(method(full, "area", 0)->is_pure, i == 2); /* gcc does not record it */
		assert_false(method(full, "area", 0)->is_static);
		xc_type_parameters(method(full, "area", 0)->type, &count);
		assert_int_equal(count, 1);
		assert_non_null(method(full, "area", 0)->linkage_name);
		const struct xc_static *s = xc_type_statics(type_of(c, "line"), &count);
		assert_true(count >= 1); /* gcc omits `count`, which is unused */
		assert_string_equal(s[count - 1].name, "limit");
		struct xc_expr_context context = static_context(c);
		struct xc_value limit;
		uint64_t number;
		Dwarf_Die die = s[count - 1].die;
		xc_expr_variable(&context, &die, &limit);
		assert_true(xc_value_load(&limit, &number));
		assert_int_equal(number, 7);
		release(c);
	}
}

static void nested_types_and_access(void **state)
{
	(void)state;
	struct compiled *c = compile(compilers[0], source);
	size_t count;
	const struct xc_type *full = pointed(c, "pf");
	const struct xc_type *const *nested = xc_type_nested(full, &count);
	assert_int_equal(count, 2);
	assert_int_equal(nested[0]->kind + nested[1]->kind, XC_TYPE_STRUCT + XC_TYPE_TYPEDEF);
	const struct xc_member *m = xc_type_members(full, &count);
	assert_int_equal(m[count - 1].access, XC_ACCESS_PRIVATE);
	assert_int_equal(m[count - 2].access, XC_ACCESS_PROTECTED);
	assert_int_equal(m[count - 2].alignment, 32);
	assert_int_equal(m[count - 3].access, XC_ACCESS_PUBLIC);
	release(c);
}

static void alignment_and_place_are_the_sources(void **state)
{
	(void)state;
	for (size_t i = 0; i < XC_COUNT(compilers); i++) {
		struct compiled *c = compile(compilers[i], source);
		const char *file;
		unsigned line;
		if (i != 1 && i != 3) { /* DW_AT_alignment is DWARF 5's; gcc writes it for DWARF 4 as well */
			assert_int_equal(xc_type_alignment(type_of(c, "line")), 64);
			assert_int_equal(xc_type_alignment(type_of(c, "pf")), 0);
		}
		assert_true(xc_type_place(type_of(c, "line"), &file, &line));
		assert_int_equal(line, 21);
		assert_string_equal(file, "/src/parts.cc");
		assert_false(xc_type_place(xc_type_pointer(type_of(c, "line"), 8), &file, &line));
		release(c);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(arguments_of_templates),
		cmocka_unit_test(an_empty_pack_is_one_entry),
		cmocka_unit_test(methods_and_statics),
		cmocka_unit_test(nested_types_and_access),
		cmocka_unit_test(alignment_and_place_are_the_sources),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
