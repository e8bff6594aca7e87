/* layer: dwarf */
/* Variants: enums of Rust as described by rustc 1.63, and unusual ones written by hand. The DWARF is assembled, so no
 * compiler or version matters. The differential test covers values of real programs. */
#include "dwarf/value/variant.h"
#include "tests/support/compile_program.h"

/* Abbreviations by number; forms are 8-byte data, strings in place, references from the unit's start. */
static const char head[] =
	".data\n"
	".globl a, b, c, d, e, f, g, h, i, j, k, l\n"
	"a: .long 0, 7\n"                   /* explicit tag 0: First(7) */
	"b: .long 2, 0x40490fdb\n"          /* tag 2: Second{x: 3.14159274} */
	"c: .long 9, 0\n"                   /* a tag that no variant has */
	"d: .quad 0\n"                      /* niche: None */
	"e: .quad 0x601000\n"               /* niche: everything except 0 is Some */
	"f: .byte 0xfd, 1, 2, 3\n"          /* signed tag -3, by list */
	"g: .byte 5, 1, 2, 3\n"             /* in the range 4..6 */
	"h: .byte 0x80, 1, 2, 3\n"          /* default */
	"i: .quad 0xfffffffffffffff0, -1\n" /* 128-bit tag */
	"j: .quad 1\n"                      /* the variant's values have an unknown form */
	"k: .long 80\n"                     /* unsigned tags whose LEB128 has the bit that is the sign of signed ones */
	"l: .long 0xc0000001\n"
	".section .debug_abbrev,\"\",@progbits\n"
	".macro abbrev n, tag, children:vararg\n"
	".uleb128 \\n, \\tag\n .byte \\children\n .endm\n"
	".macro at name, form\n .uleb128 \\name, \\form\n .endm\n"
	".macro fin\n .byte 0, 0\n .endm\n"
	"abbrev 1, 0x11, 1\n at 0x13, 5\n at 3, 8\n fin\n"                       /* unit: language, name */
	"abbrev 2, 0x13, 1\n at 3, 8\n at 0xb, 0xb\n fin\n"                      /* struct: name, size */
	"abbrev 3, 0x33, 1\n at 0x15, 0x13\n fin\n"                              /* variant part: discr */
	"abbrev 4, 0xd, 0\n at 0x49, 0x13\n at 0x38, 0xb\n at 0x34, 0xc\n fin\n" /* discriminant */
	"abbrev 5, 0x19, 1\n at 0x16, 7\n fin\n"                                 /* variant: value, data8 */
	"abbrev 6, 0x19, 1\n fin\n"                                              /* variant: default */
	"abbrev 7, 0x19, 1\n at 0x3d, 0xa\n fin\n"                               /* variant: list, block1 */
	"abbrev 8, 0xd, 0\n at 3, 8\n at 0x49, 0x13\n at 0x38, 0xb\n fin\n"      /* member */
	"abbrev 9, 0x24, 0\n at 3, 8\n at 0xb, 0xb\n at 0x3e, 0xb\n fin\n"       /* base type */
	"abbrev 10, 0x34, 0\n at 3, 8\n at 0x49, 0x13\n at 2, 0x18\n fin\n"      /* variable */
	"abbrev 11, 0x19, 1\n at 0x16, 0x1e\n fin\n"                             /* variant: value, data16 */
	"abbrev 12, 0x13, 0\n at 3, 8\n at 0xb, 0xb\n fin\n"                     /* struct without fields */
	"abbrev 13, 0x19, 1\n at 0x16, 8\n fin\n"                                /* variant: value, a string */
	"abbrev 14, 0x33, 1\n fin\n"                                             /* variant part without discr */
	".byte 0\n"
	".section .debug_info,\"\",@progbits\n"
	"U: .long Uend - Uhead\n Uhead: .short 5\n .byte 1, 8\n .long .debug_abbrev\n"
	".uleb128 1\n .short LANG\n .asciz \"variants.rs\"\n"
	".macro base l, name, size, ate\n \\l: .uleb128 9\n .asciz \"\\name\"\n .byte \\size, \\ate\n .endm\n"
	".macro struct l, name, size\n \\l: .uleb128 2\n .asciz \"\\name\"\n .byte \\size\n .endm\n"
	".macro unitstruct l, name, size\n \\l: .uleb128 12\n .asciz \"\\name\"\n .byte \\size\n .endm\n"
	".macro member name, type, at\n .uleb128 8\n .asciz \"\\name\"\n .long \\type - U\n .byte \\at\n .endm\n"
	".macro part discr, type\n .uleb128 3\n .long \\discr - U\n \\discr: .uleb128 4\n .long \\type - U\n .byte 0, "
	"1\n .endm\n"
	".macro var name, type\n .uleb128 10\n .asciz \"\\name\"\n .long \\type - U\n .byte 9, 3\n .quad \\name\n "
	".endm\n"
	".macro end\n .byte 0\n .endm\n"
	"base u32, \"u32\", 4, 7\n base i8, \"i8\", 1, 5\n base u64, \"u64\", 8, 7\n base f32, \"f32\", 4, 4\n"
	"base u128, \"u128\", 16, 7\n"
	/* enum Tagged { First(u32), Second { x: f32 }, Unit } */
	"struct Tagged, \"Tagged<u32>\", 8\n part D1, u32\n"
	" .uleb128 5\n .quad 0\n member \"First\", First, 0\n end\n"
	" .uleb128 5\n .quad 2\n member \"Second\", Second, 0\n end\n"
	" .uleb128 5\n .quad 3\n member \"Unit\", Unit, 0\n end\n end\n"
	" struct First, \"First\", 8\n member \"__0\", u32, 4\n end\n"
	" struct Second, \"Second\", 8\n member \"x\", f32, 4\n end\n"
	" unitstruct Unit, \"Unit\", 8\n end\n"
	/* Option<&T>: 0 is None */
	"struct Option, \"core::option::Option<usize>\", 8\n part D2, u64\n"
	" .uleb128 5\n .quad 0\n member \"None\", None, 0\n end\n"
	" .uleb128 6\n member \"Some\", Some, 0\n end\n end\n"
	" unitstruct None, \"None\", 8\n struct Some, \"Some\", 8\n member \"__0\", u64, 0\n end\n end\n"
	/* DW_AT_discr_list: -3, 4..6; the rest */
	"struct List, \"List\", 4\n part D3, i8\n"
	" .uleb128 7\n .byte 3, 0, 0x7d, 0\n member \"Broken\", One, 0\n end\n" /* cut short: matches nothing */
	" .uleb128 7\n .byte 2, 0, 0x7d\n member \"Minus\", One, 0\n end\n"
	" .uleb128 7\n .byte 5, 1, 4, 6, 0, 9\n member \"Some\", One, 0\n end\n"
	" .uleb128 7\n .byte 4, 1, 0x80, 0x7f, 0x7c\n member \"Low\", One, 0\n end\n end\n" /* -128..-4 */
	" struct One, \"One\", 4\n member \"__0\", i8, 1\n end\n end\n"
	/* DW_AT_discr_list, unsigned: 80; 0xc0000000 to the largest */
	"struct Words, \"Words\", 4\n part D6, u32\n"
	" .uleb128 7\n .byte 2, 0, 0x50\n member \"Eighty\", Empty, 0\n end\n"
	" .uleb128 7\n .byte 11, 1\n .uleb128 0xc0000000, 0xffffffff\n member \"High\", Empty, 0\n end\n end\n"
	" unitstruct Empty, \"Empty\", 4\n end\n"
	"struct Wide, \"Wide\", 16\n part D4, u128\n"
	" .uleb128 11\n .quad 0xfffffffffffffff0, -1\n member \"Top\", WTop, 0\n end\n"
	" .uleb128 6\n member \"Other\", WTop, 0\n end\n end\n"
	" unitstruct WTop, \"Top\", 16\n end\n"
	"struct Odd, \"Odd\", 8\n part D5, u64\n"
	" .uleb128 13\n .asciz \"one\"\n member \"Named\", OTop, 0\n end\n"
	" .uleb128 6\n member \"Other\", OTop, 0\n end\n end\n"
	" unitstruct OTop, \"Top\", 8\n end\n"
	"struct Single, \"shop::Single\", 8\n .uleb128 14\n"
	" .uleb128 6\n member \"Only\", SOnly, 0\n end\n end\n"
	" struct SOnly, \"Only\", 8\n member \"__0\", u32, 0\n member \"__1\", u32, 4\n end\n end\n"
	"var a, Tagged\n var b, Tagged\n var c, Tagged\n var d, Option\n var e, Option\n var f, List\n var g, List\n"
	"var h, List\n var i, Wide\n var j, Odd\n var k, Words\n var l, Words\n"
	".uleb128 10\n .asciz \"single\"\n .long Single - U\n .byte 9, 3\n .quad a\n"
	".byte 0\nUend:\n";

static struct compiled *assembled(unsigned language)
{
	char source[sizeof head + 64];
	snprintf(source, sizeof source, ".set LANG, %u\n%s", language, head);
	return compile("gcc -x assembler", source);
}

static void expect(struct compiled *c, const char *name, const char *want)
{
	struct xc_format_options options = xc_format_defaults();
	struct xc_value value = value_of(c, name);
	expect_text(&value, &options, name, want);
}

static void the_discriminant_chooses(void **state)
{
	(void)state;
	struct compiled *c = assembled(DW_LANG_Rust);
	expect(c, "a", "Tagged::First(7)");
	expect(c, "b", "Tagged::Second{x: 3.14159274}");
	expect(c, "single", "Single::Only(0, 7)");
	release(c);
}

static void a_niche_is_the_rest(void **state)
{
	(void)state;
	struct compiled *c = assembled(DW_LANG_Rust);
	expect(c, "d", "None");
	expect(c, "e", "Some(6295552)");
	release(c);
}

static void lists_hold_values_and_ranges(void **state)
{
	(void)state;
	struct compiled *c = assembled(DW_LANG_Rust);
	expect(c, "f", "List::Minus(1)");
	expect(c, "g", "List::Some(1)");
	expect(c, "h", "List::Low(1)");
	expect(c, "k", "Words::Eighty");
	expect(c, "l", "Words::High");
	release(c);
}

static void discriminants_of_128_bits(void **state)
{
	(void)state;
	struct compiled *c = assembled(DW_LANG_Rust);
	expect(c, "i", "Wide::Top");
	release(c);
}

static void what_is_not_known_is_not_guessed(void **state)
{
	(void)state;
	struct compiled *c = assembled(DW_LANG_Rust);
	struct xc_text why = {0};
	struct xc_value value = value_of(c, "c");
	expect(c, "c", "<no variant has the discriminant 9>");
	assert_null(xc_variant_of(&value, &why));
	assert_string_equal(xc_text_string(&why), "no variant has the discriminant 9");
	xc_text_fini(&why);
	/* one variant's discriminant is unreadable, so its absence cannot be known */
	expect(c, "j", "<no variant has the discriminant 1>");
	value.addr = 0x10;
	assert_null(xc_variant_of(&value, &why));
	assert_non_null(strstr(xc_text_string(&why), "0x10: "));
	xc_text_fini(&why);
	release(c);
}

static void members_of_the_variant_are_members(void **state)
{
	(void)state;
	struct compiled *c = assembled(DW_LANG_Rust);
	struct xc_value value = value_of(c, "b"), x, variant;
	struct xc_error *err = xc_value_member(&value, "x", &x);
	assert_null(err);
	assert_int_equal(x.addr, value.addr + 4);
	assert_null(xc_value_member(&value, "Second", &variant));
	assert_string_equal(xc_type_name(variant.type), "Tagged<u32>::Second");
	err = xc_value_member(&value, "__0", &x); /* a field of First, which is not active */
	assert_non_null(err);
	assert_int_equal(err->code, XC_ERR_NOT_FOUND);
	xc_error_free(err);
	release(c);
}

/* Records with variants of other languages keep the notation of C. */
static void variant_records_of_others(void **state)
{
	(void)state;
	struct compiled *c = assembled(DW_LANG_Ada95);
	expect(c, "a", "{First = {__0 = 7}}");
	expect(c, "c", "{<no variant has the discriminant 9>}");
	release(c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_discriminant_chooses),
		cmocka_unit_test(a_niche_is_the_rest),
		cmocka_unit_test(lists_hold_values_and_ranges),
		cmocka_unit_test(discriminants_of_128_bits),
		cmocka_unit_test(what_is_not_known_is_not_guessed),
		cmocka_unit_test(members_of_the_variant_are_members),
		cmocka_unit_test(variant_records_of_others),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
