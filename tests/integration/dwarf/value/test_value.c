/* layer: dwarf */
/* Reading values: members, elements, pointers, bit-fields, buffers with holes, and missing parts. */
#include "tests/support/compile_program.h"

static const char source[] =
	"struct in {int x; union {int i; float f;}; struct {short s1, s2;}; struct {int q;} named;};\n"
	"struct in st={1,{2},{3,4},{5}}; struct in *sp=&st; struct in many[3]={[1]={7},[2]={8}}; struct in "
	"*bad=(void*)0x10;\n"
	"struct bf {unsigned a:3; int b:5; unsigned long long e:40;} bfv={5,-3,0x123456789aULL};\n"
	"struct __attribute__((packed)) odd {char pad; unsigned long long w:63; unsigned long long v:62;}\n"
	"odd={1,0x5555555555555555ULL,0x3eadbeefdeadbeefULL}; struct wide {char c; __int128 w:100;} wide={1,-5};\n"
	"int seq[4]={10,20,30,40}; int *ip=&seq[2]; signed char sc=-1; unsigned char uc=255; double d=2.5; char "
	"*s=\"hey\";\n"
	"struct list {struct list *next; int v;} a, b={&a,2}, a={&b,1};\n"
	"double nans[]={__builtin_nan(\"7\"), -__builtin_nan(\"\")};\n";

static uint64_t number(const struct xc_value *value)
{
	uint64_t bits = 0;
	assert_true(xc_value_load(value, &bits));
	return bits;
}

static struct xc_value member(const struct xc_value *value, const char *name)
{
	struct xc_value out;
	struct xc_error *err = xc_value_member(value, name, &out);
	if (err)
		fail_msg("%s: %s", name, err->message);
	return out;
}

static void expect_error(struct xc_error *err, enum xc_error_code code, const char *message)
{
	assert_non_null(err);
	assert_int_equal(err->code, code);
	assert_string_equal(err->message, message);
	xc_error_free(err);
}

static void members_are_found_through_pointers_and_anonymous_structs(void **state)
{
	(void)state;
	struct compiled *c = compile("gcc -g -x c", source);
	struct xc_value st = value_of(c, "st"), sp = value_of(c, "sp"), out;
	struct xc_value named = member(&sp, "named"), q = member(&named, "q"), i = member(&sp, "i"),
			s2 = member(&st, "s2");
	assert_int_equal(number(&q), 5);
	assert_int_equal(number(&i), 2);
	assert_int_equal(number(&s2), 4);
	expect_error(xc_value_member(&st, "nothing", &out), XC_ERR_NOT_FOUND, "no member nothing in struct in");
	expect_error(xc_value_member(&q, "x", &out), XC_ERR_USAGE, "int has no members");
	release(c);
}

static void bit_fields_read_at_any_offset(void **state)
{
	(void)state;
	static const char *const compilers[] = {"gcc -g -gdwarf-5 -x c", "gcc -g -gdwarf-4 -gstrict-dwarf -x c",
						"clang -g -gdwarf-4 -x c"};
	for (size_t k = 0; k < XC_COUNT(compilers); k++) {
		struct compiled *c = compile(compilers[k], source);
		struct xc_value bf = value_of(c, "bfv"), odd = value_of(c, "odd");
		struct xc_value a = member(&bf, "a"), b = member(&bf, "b"), e = member(&bf, "e");
		struct xc_value w = member(&odd, "w"), v = member(&odd, "v");
		assert_int_equal(number(&a), 5);
		assert_int_equal((int64_t)number(&b), -3);
		assert_int_equal(number(&e), 0x123456789a);
		assert_int_equal(number(&w), 0x5555555555555555);
		assert_int_equal(number(&v), 0x3eadbeefdeadbeef);
		release(c);
	}
}

static void wide_bit_fields_keep_their_sign(void **state)
{
	(void)state;
	struct compiled *c = compile("gcc -g -x c", source);
	struct xc_value wide = value_of(c, "wide"), w = member(&wide, "w");
	unsigned __int128 bits;
	assert_true(xc_value_load_wide(&w, &bits));
	assert_true((__int128)bits == -5);
	release(c);
}

static void elements_are_bounded_where_the_bound_is_known(void **state)
{
	(void)state;
	struct compiled *c = compile("gcc -g -x c", source);
	struct xc_value seq = value_of(c, "seq"), ip = value_of(c, "ip"), many = value_of(c, "many"), out;
	assert_null(xc_value_index(&seq, 3, &out));
	assert_int_equal(number(&out), 40);
	assert_null(xc_value_index(&ip, -1, &out));
	assert_int_equal(number(&out), 20);
	assert_null(xc_value_index(&many, 2, &out));
	out = member(&out, "x");
	assert_int_equal(number(&out), 8);
	expect_error(xc_value_index(&seq, 4, &out), XC_ERR_LIMIT, "index 4 of int [4]");
	expect_error(xc_value_index(&seq, -1, &out), XC_ERR_LIMIT, "index -1 of int [4]");
	release(c);
}

static void lists_are_walked_by_member(void **state)
{
	(void)state;
	struct compiled *c = compile("gcc -g -x c", source);
	struct xc_value at = value_of(c, "a");
	uint64_t sum = 0;
	for (int i = 0; i < 10; i++) {
		struct xc_value v = member(&at, "v");
		sum += number(&v);
		at = member(&at, "next");
	}
	assert_int_equal(sum, 15);
	release(c);
}

static void faults_name_their_address(void **state)
{
	(void)state;
	struct compiled *c = compile("gcc -g -x c", source);
	struct xc_value bad = value_of(c, "bad"), x = member(&bad, "x"), named = member(&bad, "named");
	uint64_t bits;
	assert_false(xc_value_load(&x, &bits));
	expect_error(xc_value_number(&x, &bits), XC_ERR_FAULT, "0x10: not mapped");
	expect_error(xc_value_check(&named), XC_ERR_FAULT, "0x1c: not mapped");
	struct xc_value gone = xc_value_absent(c->process, x.type, "optimized out"), out;
	expect_error(xc_value_number(&gone, &bits), XC_ERR_ABSENT, "optimized out");
	expect_error(xc_value_deref(&x, &out), XC_ERR_USAGE, "int is not a pointer");
	release(c);
}

static void numbers_that_are_none_have_their_sign_and_fraction(void **state)
{
	(void)state;
	struct compiled *c = compile("gcc -g -x c", source);
	struct xc_format_options options = xc_format_defaults();
	struct xc_value nans = value_of(c, "nans");
	expect_text(&nans, &options, "nans", "{nan(0x8000000000007), -nan(0x8000000000000)}");
	release(c);
}

static void holes_hide_only_the_members_in_them(void **state)
{
	(void)state;
	struct compiled *c = compile("gcc -g -x c", source);
	uint8_t bytes[20] = {1, 0, 0, 0, 2, 0, 0, 0, 3, 0, 4, 0, 5};
	struct xc_hole hole = {.first = 32, .count = 32, .why = "optimized out"};
	struct xc_buffer buffer = {.size = 16, .bytes = bytes, .holes = &hole, .hole_count = 1};
	struct xc_value value = {
		.process = c->process, .type = type_of(c, "st"), .kind = XC_VALUE_BYTES, .buffer = &buffer};
	struct xc_format_options options = xc_format_defaults();
	expect_text(&value, &options, "holes",
		    "{x = 1, {i = <optimized out>, f = <optimized out>}, {s1 = 3, s2 = 4}, named = {q = 5}}");
	buffer.size = 14; /* and a buffer that is too short */
	expect_text(&value, &options, "short",
		    "{x = 1, {i = <optimized out>, f = <optimized out>}, {s1 = 3, s2 = 4}, named = {q = <its location "
		    "is shorter "
		    "than its type>}}");
	release(c);
}

static void base_classes_are_looked_through(void **state)
{
	(void)state;
	struct compiled *c = compile("g++ -g -x c++", "struct A {int a=1; int both=2;}; struct B {int b=3;};"
						      "struct D : A, B {int d=4; int both=5;}; D dd={}; D &ref=dd;");
	/* constant initialisation of an aggregate with bases needs C++17, which is g++'s default */
	struct xc_value ref = value_of(c, "ref"), a = member(&ref, "a"), b = member(&ref, "b"),
			both = member(&ref, "both");
	assert_int_equal(number(&a), 1);
	assert_int_equal(number(&b), 3);
	assert_int_equal(number(&both), 5);
	release(c);
}

/* struct S { struct S; struct S; … }: eight copies of itself at its own start. No compiler writes it. */
static void types_that_contain_themselves_end(void **state)
{
	(void)state;
	static const char self[] =
		".data\n.globl v\nv: .quad 0\n.section .debug_abbrev,\"\",@progbits\n"
		".byte 1, 0x11, 1, 0, 0\n"                            /* unit */
		".byte 2, 0x13, 1, 3, 8, 0xb, 0xb, 0, 0\n"            /* struct */
		".byte 3, 0xd, 0, 0x49, 0x13, 0x38, 0xb, 0, 0\n"      /* member without name */
		".byte 4, 0x34, 0, 3, 8, 0x49, 0x13, 2, 0x18, 0, 0\n" /* variable */
		".byte 5, 0x1c, 0, 0x49, 0x13, 0x38, 0xb, 0, 0, 0\n"  /* base class */
		".section .debug_info,\"\",@progbits\n"
		"U: .long Uend - Uhead\nUhead: .short 5\n.byte 1, 8\n.long .debug_abbrev\n.byte 1\n"
		"S: .byte 2\n.asciz \"S\"\n.byte 8\n"
		".rept 8\n.byte 3\n.long S - U\n.byte 0\n.byte 5\n.long S - U\n.byte 0\n.endr\n.byte 0\n"
		".byte 4\n.asciz \"v\"\n.long S - U\n.byte 9, 3\n.quad v\n.byte 0\nUend:\n";
	struct compiled *c = compile("gcc -x assembler", self);
	struct xc_value v = value_of(c, "v"), out;
	struct xc_format_options options = xc_format_defaults();
	struct xc_text text = {0};
	expect_error(xc_value_member(&v, "nothing", &out), XC_ERR_NOT_FOUND, "no member nothing in struct S");
	xc_format_value(&text, &v, &options);
	assert_in_range(text.len, 1, 2 * options.length);
	xc_text_fini(&text);
	release(c);
}

static void ten_thousand_members(void **state)
{
	(void)state;
	struct xc_text big = {0};
	xc_text_add(&big, "struct big {");
	for (int i = 0; i < 10000; i++)
		xc_text_printf(&big, "int m%d; ", i);
	xc_text_add(&big, "} big = {.m9999 = 7, .m0 = 1};\n");
	struct compiled *c = compile("gcc -g -x c", xc_text_string(&big));
	struct xc_value v = value_of(c, "big"), last = member(&v, "m9999");
	struct xc_format_options options = xc_format_defaults();
	struct xc_text text = {0};
	size_t count;
	xc_type_members(v.type, &count);
	assert_int_equal(count, 10000);
	assert_int_equal(number(&last), 7);
	xc_format_value(&text, &v, &options);
	assert_in_range(text.len, options.length - 100, options.length + 100);
	assert_string_equal(text.bytes + text.len - 4, "...}");
	xc_text_fini(&text);
	xc_text_fini(&big);
	release(c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(members_are_found_through_pointers_and_anonymous_structs),
		cmocka_unit_test(bit_fields_read_at_any_offset),
		cmocka_unit_test(wide_bit_fields_keep_their_sign),
		cmocka_unit_test(elements_are_bounded_where_the_bound_is_known),
		cmocka_unit_test(lists_are_walked_by_member),
		cmocka_unit_test(faults_name_their_address),
		cmocka_unit_test(numbers_that_are_none_have_their_sign_and_fraction),
		cmocka_unit_test(holes_hide_only_the_members_in_them),
		cmocka_unit_test(base_classes_are_looked_through),
		cmocka_unit_test(types_that_contain_themselves_end),
		cmocka_unit_test(ten_thousand_members),
	};
	return cmocka_run_group_tests_name("value", tests, NULL, NULL);
}
