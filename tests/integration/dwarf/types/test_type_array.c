/* layer: dwarf */
/* Arrays and numbers that C does not have: indexes from 1, the first index varying fastest, enums as indexes,
 * fixed-length strings, descriptors, gaps, ranges; numbers in the other byte order. The DWARF is assembled. */
#include "tests/support/compile_program.h"

static const char head[] =
	".data\n.globl a, s\n"
	"a: .long 1, 2, 3, 4, 5, 6, 7, 8\n"
	"s: .ascii \"fortran   \"\n"
	".section .debug_abbrev,\"\",@progbits\n"
	".macro abbrev n, tag, children:vararg\n .uleb128 \\n, \\tag\n .byte \\children\n .endm\n"
	".macro at name, form\n .uleb128 \\name, \\form\n .endm\n"
	".macro fin\n .byte 0, 0\n .endm\n"
	"abbrev 1, 0x11, 1\n at 0x13, 5\n at 3, 8\n fin\n"                 /* unit */
	"abbrev 2, 0x24, 0\n at 3, 8\n at 0xb, 0xb\n at 0x3e, 0xb\n fin\n" /* base type */
	"abbrev 3, 1, 1\n at 0x49, 0x13\n fin\n"                           /* array */
	"abbrev 4, 0x21, 0\n at 0x2f, 0xb\n fin\n"                         /* range: upper */
	"abbrev 5, 0x21, 0\n at 0x22, 0xd\n at 0x2f, 0xb\n fin\n"          /* range: lower (sdata), upper */
	"abbrev 6, 0x34, 0\n at 3, 8\n at 0x49, 0x13\n at 2, 0x18\n fin\n" /* variable */
	"abbrev 7, 0x12, 0\n at 0xb, 0xb\n fin\n"                          /* string */
	"abbrev 8, 1, 1\n at 0x49, 0x13\n at 0x50, 0x18\n fin\n"           /* array with a descriptor */
	"abbrev 9, 1, 1\n at 0x49, 0x13\n at 0x51, 0xb\n fin\n"            /* array with a stride in bytes */
	"abbrev 10, 4, 1\n at 3, 8\n at 0xb, 0xb\n fin\n"                  /* enum */
	"abbrev 11, 0x28, 0\n at 3, 8\n at 0x1c, 0xb\n fin\n"              /* enumerator */
	"abbrev 12, 0x21, 0\n at 3, 8\n at 0x49, 0x13\n at 0x22, 0xb\n at 0x2f, 0xb\n fin\n" /* range type */
	"abbrev 13, 0x21, 0\n at 3, 8\n at 0xb, 0xb\n at 0x2f, 0xb\n fin\n" /* range type with its own size */
	"abbrev 14, 0x12, 0\n at 0x19, 0x18\n at 0xb, 0xb\n fin\n"          /* string: length elsewhere */
	"abbrev 15, 1, 1\n at 0x49, 0x13\n at 9, 0xb\n fin\n"               /* array with an ordering */
	"abbrev 16, 0x2d, 0\n at 0x49, 0x13\n fin\n"                        /* packed */
	"abbrev 17, 0x20, 0\n at 3, 8\n at 0xb, 0xb\n fin\n"                /* set */
	"abbrev 18, 0x21, 0\n at 0x22, 0x18\n at 0x2f, 0xb\n fin\n"         /* range: computed lower */
	".byte 0\n"
	".section .debug_info,\"\",@progbits\n"
	"U: .long Uend - Uhead\n Uhead: .short 5\n .byte 1, 8\n .long .debug_abbrev\n"
	".uleb128 1\n .short LANG\n .asciz \"odd.f90\"\n"
	"int: .uleb128 2\n .asciz \"integer\"\n .byte 4, 5\n"
	".macro var name, type, place=a\n .uleb128 6\n .asciz \"\\name\"\n .long \\type - U\n .byte 9, 3\n .quad "
	"\\place\n .endm\n"
	".macro of n, type=int\n .uleb128 \\n\n .long \\type - U\n .endm\n"
	"one: of 3\n .uleb128 4\n .byte 3\n .byte 0\n"                        /* (3), from the default */
	"two: of 3\n .uleb128 4\n .byte 2\n .uleb128 4\n .byte 3\n .byte 0\n" /* (2, 3) */
	"shifted: of 3\n .uleb128 5\n .sleb128 -1\n .byte 2\n .byte 0\n"      /* (-1:2) */
	"column: of 15\n .byte 1\n .uleb128 5\n .sleb128 0\n .byte 1\n .uleb128 5\n .sleb128 0\n .byte 2\n .byte 0\n"
	"row: of 15\n .byte 0\n .uleb128 5\n .sleb128 0\n .byte 1\n .uleb128 5\n .sleb128 0\n .byte 2\n .byte 0\n"
	"str: .uleb128 7\n .byte 10\n"
	"far: .uleb128 14\n .byte 1, 0x30\n .byte 8\n"
	"desc: of 8\n .byte 2, 0x97, 6\n .uleb128 4\n .byte 3\n .byte 0\n"
	"gaps: of 9\n .byte 8\n .uleb128 5\n .sleb128 0\n .byte 2\n .byte 0\n"
	"dense: of 9\n .byte 4\n .uleb128 5\n .sleb128 0\n .byte 2\n .byte 0\n"
	"day: .uleb128 10\n .asciz \"day\"\n .byte 4\n .uleb128 11\n .asciz \"mon\"\n .byte 1\n .uleb128 11\n .asciz "
	"\"tue\"\n"
	" .byte 2\n .byte 0\n"
	"bydays: of 3\n .uleb128 10\n .asciz \"index\"\n .byte 4\n .uleb128 11\n .asciz \"m\"\n .byte 0\n .uleb128 11\n"
	" .asciz \"t\"\n .byte 1\n .byte 0\n .byte 0\n"
	"small: .uleb128 12\n .asciz \"small\"\n .long int - U\n .byte 1, 9\n"
	"own: .uleb128 13\n .asciz \"own\"\n .byte 4, 9\n"
	"packed: of 16\n"
	"set: .uleb128 17\n .asciz \"letters\"\n .byte 4\n"
	"moving: of 3\n .uleb128 18\n .byte 1, 0x31\n .byte 3\n .byte 0\n"
	"var v_one, one\n var v_two, two\n var v_shifted, shifted\n var v_column, column\n var v_row, row\n"
	"var v_str, str, s\n var v_far, far, s\n var v_desc, desc\n var v_gaps, gaps\n var v_dense, dense\n"
	"var v_day, day\n var v_bydays, bydays\n var v_small, small\n var v_own, own\n var v_packed, packed\n var "
	"v_set, set\n"
	"var v_moving, moving\n"
	".byte 0\nUend:\n";

static void expect_in(unsigned language, const char *const texts[][3], size_t count)
{
	char source[sizeof head + 64];
	snprintf(source, sizeof source, ".set LANG, %u\n%s", language, head);
	struct compiled *c = compile("gcc -x assembler", source);
	struct xc_format_options options = xc_format_defaults();
	for (size_t i = 0; i < count; i++) {
		struct xc_value value = value_of(c, texts[i][0]);
		expect_text(&value, &options, texts[i][0], texts[i][1]);
		if (texts[i][2])
			assert_string_equal(xc_type_name(value.type), texts[i][2]);
	}
	release(c);
}

static void fortran_counts_from_one_and_by_columns(void **state)
{
	(void)state;
	static const char *const texts[][3] = {
		{"v_one", "{1, 2, 3}", "integer [3]"}, {"v_two", "{{1, 2}, {3, 4}, {5, 6}}", NULL},
		{"v_shifted", "{1, 2, 3, 4}", NULL},   {"v_row", "{{1, 2, 3}, {4, 5, 6}}", NULL},
		{"v_str", "\"fortran   \"", NULL},
	};
	expect_in(DW_LANG_Fortran95, texts, XC_COUNT(texts));
}

static void c_counts_from_zero_and_by_rows(void **state)
{
	(void)state;
	static const char *const texts[][3] = {
		{"v_one", "{1, 2, 3, 4}", "integer [4]"},
		{"v_shifted", "{1, 2, 3, 4}", NULL},
		{"v_column", "{{1, 2}, {3, 4}, {5, 6}}", NULL},
		{"v_row", "{{1, 2, 3}, {4, 5, 6}}", NULL},
	};
	expect_in(DW_LANG_C99, texts, XC_COUNT(texts));
}

static void what_is_not_plain_is_not_read(void **state)
{
	(void)state;
	static const char *const texts[][3] = {
		{"v_far", "<a string whose length is kept elsewhere>", NULL},
		{"v_desc", "<an array with a descriptor>", NULL},
		{"v_gaps", "<an array with gaps between its elements>", NULL},
		{"v_dense", "{1, 2, 3}", NULL},
		{"v_moving", "<length not known>", NULL},
		{"v_set", "<bytes 01 00 00 00>", NULL},
	};
	expect_in(DW_LANG_C99, texts, XC_COUNT(texts));
}

static void ranges_and_enums_as_types_and_indexes(void **state)
{
	(void)state;
	static const char *const texts[][3] = {
		{"v_day", "mon", NULL}, {"v_bydays", "{1, 2}", NULL}, {"v_small", "1", "small"},
		{"v_own", "1", "own"},  {"v_packed", "1", NULL},
	};
	expect_in(DW_LANG_Pascal83, texts, XC_COUNT(texts));
}

/* Expected values are those of the source; gdb 13 agrees. */
static void numbers_of_the_other_byte_order(void **state)
{
	(void)state;
	static const char source[] =
		"struct __attribute__((scalar_storage_order(\"big-endian\"))) be { int i; short s; unsigned a:3, b:7, "
		"c:22; "
		"long long l; int arr[2]; float f; double d; unsigned long w:40; unsigned long x:20; _Bool t; char ch; "
		"signed n:5; __int128 q; };\n"
		"struct be g = {1,-2,5,100,0x2abcde,-3,{7,8},1.5f,-2.25,0x123456789aUL,0xabcde,1,'x',-3,-5};\n"
		"struct be *p = &g; int little = 1;\n";
	static const char *const compilers[] = {"gcc -g -gdwarf-5 -x c", "gcc -g -gdwarf-4 -x c",
						"gcc -g -gdwarf-3 -x c"};
	for (size_t i = 0; i < XC_COUNT(compilers); i++) {
		struct compiled *c = compile(compilers[i], source);
		struct xc_format_options options = xc_format_defaults();
		struct xc_value value = value_of(c, "g");
		expect_text(
			&value, &options, compilers[i],
			"{i = 1, s = -2, a = 5, b = 100, c = 2800862, l = -3, arr = {7, 8}, f = 1.5, d = -2.25, w = "
			"78187493530, x = 703710, t = true, ch = 120 'x', n = -3, q = -5}");
		value = value_of(c, "little");
		expect_text(&value, &options, "little", "1");
		release(c);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(fortran_counts_from_one_and_by_columns),
		cmocka_unit_test(c_counts_from_zero_and_by_rows),
		cmocka_unit_test(what_is_not_plain_is_not_read),
		cmocka_unit_test(ranges_and_enums_as_types_and_indexes),
		cmocka_unit_test(numbers_of_the_other_byte_order),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
