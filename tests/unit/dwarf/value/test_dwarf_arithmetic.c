/* layer: dwarf */
/* Location expressions that compute: the stack, arithmetic, jumps, typed values. */
#include "tests/unit/dwarf/value/location_cases.h"

/* ---- the stack ---- */

static void the_stack_is_shuffled(void **state)
{
	(void)state;
	static const struct location cases[] = {
		{"dup", E("\x33\x12\x1e" STACK), LONG, "9", 0, 0},
		{"drop", E("\x33\x34\x13" STACK), LONG, "3", 0, 0},
		{"over", E("\x33\x34\x14\x1c\x1c" STACK), LONG, "2", 0, 0}, /* 3 - (4 - 3) */
		{"pick 2", E("\x31\x32\x33\x15\x02" STACK), LONG, "1", 0, 0},
		{"pick 0 is dup",
		 E("\x31\x32\x15\0"
		   "0" STACK),
		 LONG, "2", 0, 0},
		{"swap", E("\x33\x35\x16\x1c" STACK), LONG, "2", 0, 0},
		{"rot", E("\x31\x32\x35\x17\x1c\x1c" STACK), LONG, "6", 0, 0}, /* 1 2 5 → 5 1 2: 5 - (1 - 2) */
		{"pick past the bottom", E("\x31\x15\x01" STACK), LONG, "<location expression pops an empty stack>", 0,
		 0},
		{"drop of nothing", E("\x13"), LONG, "<location expression pops an empty stack>", 0, 0},
		{"rot of two", E("\x31\x32\x17" STACK), LONG, "<location expression pops an empty stack>", 0, 0},
		{"swap of one", E("\x31\x16" STACK), LONG, "<location expression pops an empty stack>", 0, 0},
		{"over of one", E("\x31\x14" STACK), LONG, "<location expression pops an empty stack>", 0, 0},
		{"stack_value of nothing", E(STACK), LONG, "<location expression pops an empty stack>", 4, 0},
	};
	check_all(cases, XC_COUNT(cases));
}

static void arithmetic_is_done(void **state)
{
	(void)state;
	static const struct location cases[] = {
		{"abs", E("\x09\xf9\x19" STACK), LONG, "7", 0, 0},
		{"and", E("\x08\x3c\x08\x0f\x1a" STACK), LONG, "12", 0, 0},
		{"div, signed", E("\x09\xf9\x32\x1b" STACK), LONG, "-3", 0, 0},
		{"div by zero", E("\x31\x30\x1b" STACK), LONG, "<division by zero in a location expression>", 0, 0},
		{"div of the least by -1", E("\x31\x08\x3f\x24\x09\xff\x1b" STACK), LONG, "-9223372036854775808", 0, 0},
		{"minus", E("\x33\x35\x1c" STACK), LONG, "-2", 0, 0},
		{"mod, unsigned", E("\x09\xff\x37\x1d" STACK), LONG, "1", 0, 0}, /* 2^64 - 1 = 7 × … + 1 */
		{"mod by zero", E("\x31\x30\x1d" STACK), LONG, "<division by zero in a location expression>", 0, 0},
		{"mul", E("\x09\xfd\x34\x1e" STACK), LONG, "-12", 0, 0},
		{"neg", E("\x35\x1f" STACK), LONG, "-5", 0, 0},
		{"not", E("\x35\x20" STACK), LONG, "-6", 0, 0},
		{"or", E("\x08\x30\x3c\x21" STACK), LONG, "60", 0, 0},
		{"plus", E("\x09\xff\x35\x22" STACK), LONG, "4", 0, 0},
		{"plus_uconst", E("\x35\x23\x80\x01" STACK), LONG, "133", 0, 0},
		{"shl", E("\x33\x34\x24" STACK), LONG, "48", 0, 0},
		{"shl by 64", E("\x33\x08\x40\x24" STACK), LONG, "0", 0, 0},
		{"shr, logical", E("\x09\xff\x08\x3c\x25" STACK), LONG, "15", 0, 0},
		{"shra", E("\x09\xf0\x32\x26" STACK), LONG, "-4", 0, 0},
		{"shra by 64", E("\x09\xf0\x08\x40\x26" STACK), LONG, "-1", 0, 0},
		{"xor", E("\x3c\x3a\x27" STACK), LONG, "6", 0, 0},
		{"eq", E("\x33\x33\x29" STACK), LONG, "1", 0, 0},
		{"ge, signed", E("\x09\xff\x30\x2a" STACK), LONG, "0", 0, 0},
		{"gt", E("\x33\x32\x2b" STACK), LONG, "1", 0, 0},
		{"le", E("\x33\x33\x2c" STACK), LONG, "1", 0, 0},
		{"lt, signed", E("\x09\xff\x30\x2d" STACK), LONG, "1", 0, 0},
		{"ne", E("\x33\x33\x2e" STACK), LONG, "0", 0, 0},
		{"plus of one", E("\x33\x22" STACK), LONG, "<location expression pops an empty stack>", 0, 0},
	};
	check_all(cases, XC_COUNT(cases));
}

static void jumps_are_taken_and_end(void **state)
{
	(void)state;
	static const struct location cases[] = {
		{"skip",
		 E("\x31\x2f\x01\0"
		   "0\x34" STACK),
		 LONG, "1", 0, 0},
		{"bra, taken",
		 E("\x37\x31\x28\x01\0"
		   "0\x34" STACK),
		 LONG, "7", 0, 0},
		{"bra, not taken",
		 E("\x37\x30\x28\x01\0"
		   "0\x34" STACK),
		 LONG, "4", 0, 0},
		{"a loop: 5 counted down", E("\x30\x35\x16\x31\x22\x16\x31\x1c\x12\x28\xf6\xff\x13" STACK), LONG, "5",
		 0, 0}, /* n: swap, +1, swap, -1, dup, bra -10 */
		{"skip to the end",
		 E("\x31" STACK "\x2f\0"
		   "0\0"
		   "0"),
		 LONG, "<operators after a complete location>", 0, 0},
		{"skip for ever", E("\x2f\xfd\xff"), LONG, "<location expression takes too many steps>", 0, 0},
		{"skip behind the end",
		 E("\x31\x2f\x10\0"
		   "0"),
		 LONG, "<location expression jumps out of itself>", 0, 0},
		{"skip before the start", E("\x31\x2f\x80\xff"), LONG, "<location expression jumps into an operator>",
		 0, 0},
		{"skip into an operator",
		 E("\x31\x2f\x01\0"
		   "0\x08\x33" STACK),
		 LONG, "<location expression jumps into an operator>", 0, 0},
	};
	check_all(cases, XC_COUNT(cases));
}

/* ---- typed values ---- */

static void typed_values_are_computed(void **state)
{
	(void)state;
	static const struct location cases[] = {
		{"regval_type",
		 E("\xa5\x11\0"
		   "d" STACK),
		 DOUBLE, "2.5", 5, 0},
		{"GNU_regval_type",
		 E("\xf5\x11\0"
		   "d" STACK),
		 DOUBLE, "2.5", 4, 0},
		{"deref_type",
		 E("\x0a\x08\x10\xa6\x02\0"
		   "s" STACK),
		 SHORT, "6424", 5, 0},
		{"GNU_deref_type",
		 E("\x0a\x08\x10\xf6\x02\0"
		   "s" STACK),
		 SHORT, "6424", 4, 0},
		{"const_type",
		 E("\xa4\0"
		   "d\x08\0"
		   "0\0"
		   "0\0"
		   "0\0"
		   "0\0"
		   "0\0"
		   "0\x04\xc0" STACK),
		 DOUBLE, "-2.5", 5, 0},
		{"GNU_const_type",
		 E("\xf4\0"
		   "i\x04\xfe\xff\xff\xff" STACK),
		 INT, "-2", 4, 0},
		{"const_type of another size",
		 E("\xa4\0"
		   "d\x04\0"
		   "0\0"
		   "0\x04\xc0" STACK),
		 DOUBLE, "<a typed constant of another size>", 5, 0},
		{"convert int to double",
		 E("\xa4\0"
		   "i\x04\xfd\xff\xff\xff\xa8\0"
		   "d" STACK),
		 DOUBLE, "-3", 5, 0},
		{"convert double to int",
		 E("\xa5\x11\0"
		   "d\xa8\0"
		   "i" STACK),
		 INT, "2", 5, 0},
		{"GNU_convert to float",
		 E("\xf5\x11\0"
		   "d\xf7\0"
		   "f" STACK),
		 FLOAT, "2.5", 4, 0},
		{"convert to the generic type",
		 E("\xa4\0"
		   "c\x01\xff\xa8\0"
		   "0" STACK),
		 LONG, "255", 5, 0},
		{"convert, sign-extended",
		 E("\xa4\0"
		   "s\x02\xff\xff\xa8\0"
		   "l" STACK),
		 LONG, "-1", 5, 0},
		{"reinterpret float as unsigned",
		 E("\xa4\0"
		   "f\x04\0"
		   "0\0"
		   "0\x20\x40\xa9\0"
		   "u" STACK),
		 UINT, "1075838976", 5, 0},
		{"GNU_reinterpret",
		 E("\xf4\0"
		   "f\x04\0"
		   "0\0"
		   "0\x20\x40\xf9\0"
		   "i" STACK),
		 INT, "1075838976", 4, 0},
		{"reinterpret as another size",
		 E("\xa4\0"
		   "f\x04\0"
		   "0\0"
		   "0\x20\x40\xa9\0"
		   "d" STACK),
		 INT, "<reinterpreted as a type of another size>", 5, 0},
		{"float arithmetic",
		 E("\xa5\x11\0"
		   "d\xa5\x11\0"
		   "d\x22" STACK),
		 DOUBLE, "5", 5, 0},
		{"unsigned division",
		 E("\xa4\0"
		   "u\x04\xfe\xff\xff\xff\xa4\0"
		   "u\x04\x02\0"
		   "0\0"
		   "0\0"
		   "0\x1b" STACK),
		 UINT, "2147483647", 5, 0},
		{"types that do not match",
		 E("\xa4\0"
		   "i\x04\x01\0"
		   "0\0"
		   "0\0"
		   "0\xa5\x11\0"
		   "d\x22" STACK),
		 INT, "<operands of different types in a location expression>", 5, 0},
		{"a struct on the stack",
		 E("\xa5\x03\0"
		   "r" STACK),
		 PAIR, "<a type that is not supported on the expression stack>", 5, 0},
		{"a type that is not there", E("\xa5\x03\xff\x7f" STACK), INT,
		 "<debug information refers to a missing entry>", 5, 0},
	};
	check_all(cases, XC_COUNT(cases));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_stack_is_shuffled),
		cmocka_unit_test(arithmetic_is_done),
		cmocka_unit_test(jumps_are_taken_and_end),
		cmocka_unit_test(typed_values_are_computed),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
