/* layer: dwarf */
/* Types from debug information: names (gdb 13.1's `whatis`), layouts, and endless chains. */
#include "tests/support/compile_program.h"

static const char c_source[] =
	"#include <uchar.h>\n"
	"struct in {int x;}; union un {int a;}; enum color {RED}; struct opaque; typedef struct {int a;} anont;\n"
	"int fun(int x){return x;} int (*fp)(int)=fun; const char *const cpc=\"k\"; volatile int vi; int *restrict "
	"rp;\n"
	"_Atomic int ai; int (*pa)[5]; int *ap[4]; void (*(*sigp)(int,void(*)(int)))(int); int (*old)(); int "
	"(*fpv)(void);\n"
	"struct opaque *op; char *(*(*fpp)(int))[5]; union un *unp; const struct in cst; const int carr[3]; anont at;\n"
	"struct {int w;} anon; enum {AE1} anone; int (*vfp)(const char*,...); char *strs[3]; char c2d[3][4];\n"
	"char *const *const *ccp; typedef int v4 __attribute__((vector_size(16))); v4 vec; enum color col;\n"
	"unsigned __int128 u128; void *vp;\n"
	"struct list {struct list *next; struct list *prev;} list; unsigned char uuid[16]; const volatile long cvl;\n";

static const char *const c_names[][2] = {
	{"fp", "int (*)(int)"},
	{"cpc", "const char * const"},
	{"vi", "volatile int"},
	{"rp", "int * restrict"},
	{"ai", "_Atomic int"},
	{"pa", "int (*)[5]"},
	{"ap", "int *[4]"},
	{"sigp", "void (*(*)(int, void (*)(int)))(int)"},
	{"old", "int (*)()"},
	{"fpv", "int (*)(void)"},
	{"op", "struct opaque *"},
	{"fpp", "char *(*(*)(int))[5]"},
	{"unp", "union un *"},
	{"cst", "const struct in"},
	{"carr", "const int [3]"},
	{"at", "anont"},
	{"anon", "struct {...}"},
	{"anone", "enum {...}"},
	{"vfp", "int (*)(const char *, ...)"},
	{"strs", "char *[3]"},
	{"c2d", "char [3][4]"},
	{"ccp", "char * const * const *"},
	{"vec", "v4"},
	{"col", "enum color"},
	{"u128", "__int128 unsigned"},
	{"vp", "void *"},
	{"uuid", "unsigned char [16]"},
	{"cvl", "const volatile long"},
	{"list", "struct list"},
};

static void expect_names(struct compiled *c, const char *const names[][2], size_t count)
{
	for (size_t i = 0; i < count; i++) {
		const char *have = xc_type_name(type_of(c, names[i][0]));
		if (strcmp(have, names[i][1]) != 0)
			fail_msg("%s: got %s, want %s", names[i][0], have, names[i][1]);
	}
}

static void c_names_read_as_declared(void **state)
{
	(void)state;
	struct compiled *c = compile("gcc -g -x c", c_source);
	expect_names(c, c_names, XC_COUNT(c_names));
	release(c);
}

static void declarations_read_as_written(void **state)
{
	static const char *const want[][3] = {
		{"fp", "int", "(*fp)(int)"},
		{"cpc", "const char", "* const cpc"},
		{"rp", "int", "* restrict rp"},
		{"pa", "int", "(*pa)[5]"},
		{"sigp", "void", "(*(*sigp)(int, void (*)(int)))(int)"},
		{"carr", "const int", "carr[3]"},
		{"anon", "struct {...}", "anon"},
		{"c2d", "char", "c2d[3][4]"},
		{"ccp", "char", "* const * const *ccp"},
	};
	(void)state;
	struct compiled *c = compile("gcc -x c -g -O0", c_source);
	for (size_t i = 0; i < XC_COUNT(want); i++) {
		struct xc_text base = {0}, declarator = {0};
		xc_type_declare(type_of(c, want[i][0]), want[i][0], &base, &declarator);
		assert_string_equal(xc_text_string(&base), want[i][1]);
		assert_string_equal(xc_text_string(&declarator), want[i][2]);
		xc_text_fini(&base);
		xc_text_fini(&declarator);
	}
	release(c);
}

static void cxx_names_are_qualified(void **state)
{
	(void)state;
	static const char source[] = "namespace ns { struct Foo {int m; int f(int); struct In {int i;}; enum E {A};}; "
				     "namespace { struct Hid {int h;}; }\n"
				     "template <class T, int N> struct Box {T t[N];}; typedef int num; union Un {int "
				     "u;}; enum class Col {R}; }\n"
				     "ns::Foo foo, *pf; const ns::Foo &rf=foo; ns::Foo::In in; ns::Foo::E e; ns::Hid "
				     "hid; ns::Box<char,4> box;\n"
				     "ns::num num; int ns::Foo::*mp; int (ns::Foo::*fp)(int); ns::Un un; ns::Col col; "
				     "ns::Foo &&rr=(ns::Foo&&)foo;\n"
				     "struct Out {}; Out out; ns::Box<unsigned long,2> ulbox; unsigned short us; void "
				     "f() { struct Loc {int z;}; static Loc loc; loc.z=1; }\n";
	static const char *const names[][2] = {
		{"foo", "ns::Foo"},
		{"pf", "ns::Foo *"},
		{"rf", "const ns::Foo &"},
		{"rr", "ns::Foo &&"},
		{"in", "ns::Foo::In"},
		{"e", "ns::Foo::E"},
		{"hid", "ns::(anonymous namespace)::Hid"},
		{"box", "ns::Box<char, 4>"},
		{"num", "ns::num"},
		{"mp", "int ns::Foo::*"},
		{"fp", "int (ns::Foo::*)(ns::Foo * const, int)"},
		{"un", "ns::Un"},
		{"col", "ns::Col"},
		{"out", "Out"},
		{"ulbox", "ns::Box<unsigned long, 2>"},
		{"us", "unsigned short"},
		{"loc", "Loc"},
	};
	struct compiled *c = compile("g++ -g -x c++", source);
	expect_names(c, names, XC_COUNT(names));
	release(c);
}

static void the_same_die_is_the_same_type(void **state)
{
	(void)state;
	struct compiled *c = compile("gcc -g -x c", c_source);
	size_t count;
	const struct xc_type *list = type_of(c, "list");
	const struct xc_member *members = xc_type_members(list, &count);
	assert_int_equal(count, 2);
	assert_ptr_equal(members[0].type, members[1].type);
	assert_ptr_equal(xc_type_strip(members[0].type->target), list);
	assert_ptr_equal(type_of(c, "list"), list);
	assert_ptr_equal(xc_type_pointer(list, 8), xc_type_pointer(list, 8));
	release(c);
}

static void layouts_are_the_compilers(void **state)
{
	(void)state;
	static const char source[] =
		"struct s {char c; long l; unsigned a:3, b:7; _Bool f:1; struct {short x, y;}; char tail[];} s;"
		"char size[sizeof(struct s)]; char l_at[__builtin_offsetof(struct s, l)];"
		"char y_at[__builtin_offsetof(struct s, y)];";
	static const char *const compilers[] = {"gcc -g -gdwarf-5 -x c", "gcc -g -gdwarf-3 -gstrict-dwarf -x c",
						"clang -g -x c"};
	for (size_t i = 0; i < XC_COUNT(compilers); i++) {
		struct compiled *c = compile(compilers[i], source);
		size_t count, inner;
		uint64_t size;
		const struct xc_member *m = xc_type_members(type_of(c, "s"), &count);
		assert_int_equal(count, 7);
		assert_true(xc_type_size(type_of(c, "s"), &size));
		assert_int_equal(size, type_of(c, "size")->count);
		assert_int_equal(m[1].offset, type_of(c, "l_at")->count);
		assert_int_equal(m[2].offset * 8 + m[2].bit_offset, 128);
		assert_int_equal(m[3].offset * 8 + m[3].bit_offset, 131);
		assert_int_equal(m[3].bit_size, 7);
		assert_null(m[5].name);
		const struct xc_member *anonymous = xc_type_members(m[5].type, &inner);
		assert_int_equal(m[5].offset + anonymous[1].offset, type_of(c, "y_at")->count);
		assert_false(m[6].type->count_known);
		assert_false(xc_type_size(m[6].type, &size));
		release(c);
	}
}

static void static_members_are_no_part_of_objects(void **state)
{
	(void)state;
	struct compiled *c = compile("g++ -g -gdwarf-4 -x c++", "struct s {static int shared; int own;} s;");
	size_t count;
	const struct xc_member *m = xc_type_members(type_of(c, "s"), &count);
	assert_int_equal(count, 1);
	assert_string_equal(m[0].name, "own");
	release(c);
}

static void declarations_find_their_definition(void **state)
{
	(void)state;
	/* clang writes only a declaration if the class belongs to another unit: here forced by two scopes */
	struct compiled *c =
		compile("gcc -g -x c", "struct later; struct later *p; struct later {int a, b;}; struct later v;"
				       "struct never; struct never *q;");
	uint64_t size;
	assert_true(xc_type_size(xc_type_strip(type_of(c, "p"))->target, &size));
	assert_int_equal(size, 8);
	const struct xc_type *never = xc_type_strip(type_of(c, "q"))->target;
	assert_true(never->is_declaration);
	assert_ptr_equal(xc_type_complete(never), never);
	assert_false(xc_type_size(never, &size));
	release(c);
}

static void circles_of_typedefs_end(void **state)
{
	(void)state;
	struct xc_process *process = bare_process();
	struct xc_type a = {.kind = XC_TYPE_TYPEDEF, .name = "a"}, b = {.kind = XC_TYPE_CONST};
	a.target = &b;
	b.target = &a;
	uint64_t size;
	assert_int_equal(xc_type_strip(&a)->kind, XC_TYPE_UNKNOWN);
	assert_false(xc_type_size(&a, &size));
	struct xc_type array = {.kind = XC_TYPE_ARRAY, .count = 2, .count_known = true};
	array.target = &array;
	assert_false(xc_type_size(&array, &size));
	xc_process_close(process);
}

static void huge_arrays_do_not_overflow(void **state)
{
	(void)state;
	struct xc_type byte = {.kind = XC_TYPE_INT, .size = 16, .size_known = true};
	struct xc_type array = {.kind = XC_TYPE_ARRAY, .target = &byte, .count = UINT64_MAX / 8, .count_known = true};
	uint64_t size;
	assert_false(xc_type_size(&array, &size));
}

static void enumerators_keep_their_sign(void **state)
{
	(void)state;
	struct compiled *c = compile("gcc -g -x c", "enum e {A=-1, B=200, C=0x7fffffff} e; enum u {U=0xffffffff} u;"
						    "enum f {F=1, G=2, H=0} f; enum m {M=3} m;");
	size_t count;
	const struct xc_enumerator *items = xc_type_enumerators(type_of(c, "e"), &count);
	assert_int_equal(count, 3);
	assert_int_equal((int64_t)items[0].value, -1);
	assert_int_equal(items[1].value, 200);
	assert_true(type_of(c, "e")->is_signed);
	assert_false(type_of(c, "e")->is_flags);
	items = xc_type_enumerators(type_of(c, "u"), &count);
	assert_int_equal(items[0].value, 0xffffffffu);
	assert_true(type_of(c, "f")->is_flags);
	assert_false(type_of(c, "m")->is_flags);
	release(c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(c_names_read_as_declared),
		cmocka_unit_test(declarations_read_as_written),
		cmocka_unit_test(cxx_names_are_qualified),
		cmocka_unit_test(the_same_die_is_the_same_type),
		cmocka_unit_test(layouts_are_the_compilers),
		cmocka_unit_test(static_members_are_no_part_of_objects),
		cmocka_unit_test(declarations_find_their_definition),
		cmocka_unit_test(circles_of_typedefs_end),
		cmocka_unit_test(huge_arrays_do_not_overflow),
		cmocka_unit_test(enumerators_keep_their_sign),
	};
	return cmocka_run_group_tests_name("type", tests, NULL, NULL);
}
