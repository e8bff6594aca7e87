/* layer: dwarf */
/* Location expressions: literals, registers, memory, pieces, other entries, damage. */
#include "tests/unit/dwarf/value/location_cases.h"

/* ---- literals, registers, memory ---- */

static void literals_are_numbers(void **state)
{
	(void)state;
	static const struct location cases[] = {
		{"lit0", E("\x30" STACK), LONG, "0", 0, 0},
		{"lit31", E("\x4f" STACK), LONG, "31", 0, 0},
		{"const1u", E("\x08\xff" STACK), LONG, "255", 0, 0},
		{"const1s", E("\x09\xff" STACK), LONG, "-1", 0, 0},
		{"const2u", E("\x0a\xfe\xff" STACK), LONG, "65534", 0, 0},
		{"const2s", E("\x0b\xfe\xff" STACK), LONG, "-2", 0, 0},
		{"const4u", E("\x0c\xfd\xff\xff\xff" STACK), LONG, "4294967293", 0, 0},
		{"const4s", E("\x0d\xfd\xff\xff\xff" STACK), LONG, "-3", 0, 0},
		{"const8u", E("\x0e\x01\x02\x03\x04\x05\x06\x07\x08" STACK), LONG, "578437695752307201", 0, 0},
		{"const8s", E("\x0f\xfc\xff\xff\xff\xff\xff\xff\xff" STACK), LONG, "-4", 0, 0},
		{"constu", E("\x10\xe5\x8e\x26" STACK), LONG, "624485", 0, 0}, /* DWARF 5, appendix C */
		{"consts", E("\x11\x80\x7f" STACK), LONG, "-128", 0, 0},       /* the same */
		{"constu, padded",
		 E("\x10\x81\x80\x80\x80\0"
		   "0" STACK),
		 LONG, "1", 0, 0},
		{"addr",
		 E("\x03\x42\0"
		   "0\0"
		   "0\0"
		   "0\0"
		   "0\0"
		   "0\0"
		   "0\0"
		   "0" STACK),
		 LONG, "1048642", 0, 0}, /* plus the bias */
	};
	check_all(cases, XC_COUNT(cases));
}

static void registers_and_memory_hold_values(void **state)
{
	(void)state;
	static const struct location cases[] = {
		{"reg0", E("\x50"), LONG, "1234605616436508552", 0, 0},
		{"the low half of reg0", E("\x50"), UINT, "1432778632", 0, 0},
		{"regx 3", E("\x90\x03"), LONG, "4112", 0, 0},
		{"a register that is not known", E("\x51"), LONG, "<rdx not saved by this frame>", 0, 0},
		{"a register that no machine has", E("\x90\xff\x7f"), LONG, "<register 16383 not saved by this frame>",
		 0, 0},
		{"a double in xmm0", E("\x61"), DOUBLE, "2.5", 0, 0},
		{"breg3 -15", E("\x73\x71"), UCHAR, "17 '\\021'", 0, 0}, /* 0x1010 - 15 = 0x1001 */
		{"bregx 3 2", E("\x92\x03\x02"), UCHAR, "34 '\"'", 0, 0},
		{"breg3 0, as a number",
		 E("\x73\0"
		   "0" STACK),
		 LONG, "4112", 0, 0},
		{"fbreg 0",
		 E("\x91\0"
		   "0"),
		 UCHAR, "64 '@'", 0, 0}, /* rbp + 16 = 0x1030: 0x40 */
		{"fbreg -16", E("\x91\x70"), UCHAR, "48 '0'", 0, 0},
		{"call_frame_cfa - 1", E("\x9c\x31\x1c"), UCHAR, "79 'O'", 3, 0},
		{"deref", E("\x0a\x08\x10\x06" STACK), LONG, "2242261671028070680", 0, 0}, /* 0x1f1e…18 */
		{"deref_size 2", E("\x0a\x08\x10\x94\x02" STACK), LONG, "6424", 0, 0},
		{"deref_size 1", E("\x0a\x08\x10\x94\x01" STACK), LONG, "24", 0, 0},
		{"deref_size 9", E("\x0a\x08\x10\x94\x09" STACK), LONG, "<DW_OP_deref_size reads more than an address>",
		 0, 0},
		{"deref of nowhere", E("\x08\x08\x06" STACK), LONG, "<0x8: not mapped>", 0, 0},
		{"memory",
		 E("\x0a\0"
		   "0\x10"),
		 INT, "319951120", 0, 0}, /* 0x13121110 */
		{"memory that ends too soon", E("\x0a\x3e\x10"), INT, "<0x1040: not mapped>", 0, 0},
		{"form_tls_address", E("\x08\x04\x9b"), UCHAR, "20 '\\024'", 3, 0},
		{"GNU_push_tls_address", E("\x08\x05\xe0"), UCHAR, "21 '\\025'", 0, 0},
		{"nothing", E(""), INT, "<optimized out>", 0, 0},
		{"GNU_uninit", E("\x50\xf0"), UINT, "1432778632", 0, 0},
		{"nop", E("\x96\x50\x96"), UINT, "1432778632", 3, 0},
		{"push_object_address without an object", E("\x97" STACK), LONG, "<needs an object>", 3, 0},
		{"xderef: there are no address spaces", E("\x31\x32\x18" STACK), LONG,
		 "<location operator 0x18 is not supported>", 0, 0},
		{"xderef_size", E("\x31\x32\x95\x01" STACK), LONG, "<location operator 0x95 is not supported>", 0, 0},
		{"xderef_type",
		 E("\x31\x32\xa7\x01\0"
		   "i" STACK),
		 LONG, "<location operator 0xa7 is not supported>", 5, 0},
	};
	check_all(cases, XC_COUNT(cases));
}

/* ---- values in parts ---- */

static void pieces_are_put_together(void **state)
{
	(void)state;
	static const struct location cases[] = {
		{"two registers", E("\x50\x93\x04\x53\x93\x04"), PAIR, "{a = 1432778632, b = 4112}", 0, 0},
		{"a register and memory",
		 E("\x53\x93\x04\x0a\0"
		   "0\x10\x93\x04"),
		 PAIR, "{a = 4112, b = 319951120}", 0, 0},
		{"a hole, then a number", E("\x93\x04\x37" STACK "\x93\x04"), PAIR, "{a = <optimized out>, b = 7}", 0,
		 0},
		{"the rest is missing", E("\x53\x93\x04"), PAIR, "{a = 4112, b = <optimized out>}", 0, 0},
		{"more than the type has", E("\x53\x93\x04\x53\x93\x04\x53\x93\x08"), PAIR, "{a = 4112, b = 4112}", 0,
		 0},
		{"bit pieces",
		 E("\x50\x9d\x08\x08\x53\x9d\x08\0"
		   "0\x30" STACK "\x9d\x10\0"
		   "0"),
		 UINT, "4215", 3, 0},
		/* bits 8…15 of rax: 0x77; bits 0…7 of rbx: 0x10; 16 zeros */
		{"a bit piece of a number", E("\x08\xf5" STACK "\x9d\x04\x04"), UCHAR, "<optimized out>", 3, 0},
		{"implicit_value",
		 E("\x9e\x08\x01\0"
		   "0\0"
		   "0\0"
		   "0\x02\0"
		   "0\0"
		   "0\0"
		   "0"),
		 PAIR, "{a = 1, b = 2}", 4, 0},
		{"implicit_value, too short",
		 E("\x9e\x04\x01\0"
		   "0\0"
		   "0\0"
		   "0"),
		 PAIR, "{a = 1, b = <its constant is shorter than its type>}", 4, 0},
		{"implicit_value in a piece",
		 E("\x53\x93\x04\x9e\x04\x09\0"
		   "0\0"
		   "0\0"
		   "0\x93\x04"),
		 PAIR, "{a = 4112, b = 9}", 4, 0},
		{"operators behind a register", E("\x50\x31"), LONG, "<operators after a complete location>", 0, 0},
		{"a piece of 2^63 bytes", E("\x50\x93\x80\x80\x80\x80\x80\x80\x80\x80\x80\x01"), LONG,
		 "<location expression has a piece that is too large>", 0, 0},
	};
	check_all(cases, XC_COUNT(cases));
}

/* ---- other entries ---- */

static void other_entries_are_asked(void **state)
{
	(void)state;
	static const struct location cases[] = {
		{"call2",
		 E("\x35\x98\0"
		   "2" STACK),
		 LONG, "7", 3, 0},
		{"call4",
		 E("\x35\x99\0"
		   "4" STACK),
		 LONG, "7", 3, 0},
		{"call_ref",
		 E("\x35\x9a\0"
		   "R" STACK),
		 LONG, "7", 3, 0},
		{"call2 of a circle",
		 E("\x35\x98\0"
		   "6" STACK),
		 LONG, "<location expressions nested too deeply>", 3, 0},
		{"call4 of a circle",
		 E("\x35\x99\0"
		   "8" STACK),
		 LONG, "<location expressions nested too deeply>", 3, 0},
		{"call2 of nothing", E("\x35\x98\xff\x7f" STACK), LONG, "<debug information refers to a missing entry>",
		 3, 0},
		{"implicit_pointer",
		 E("\xa0\0"
		   "P\0"
		   "0"),
		 POINTER, "<synthetic pointer to 319951120>", 5, 0},
		{"GNU_implicit_pointer",
		 E("\xf2\0"
		   "P\0"
		   "0"),
		 POINTER, "<synthetic pointer to 319951120>", 3, 0},
		{"implicit_pointer to a constant",
		 E("\xa0\0"
		   "C\0"
		   "0"),
		 POINTER, "<synthetic pointer to 99>", 5, 0},
		{"implicit_pointer with an offset",
		 E("\xa0\0"
		   "P\x02"),
		 POINTER, "<synthetic pointer to 353637138>", 5, 0},
		{"GNU_variable_value",
		 E("\xfd\0"
		   "C" STACK),
		 LONG, "99", 3, 0},
		{"addrx", E("\xa1\x01" STACK), LONG, "1057896", 5, 0}, /* 0x2468 plus the bias */
		{"constx", E("\xa2\x01" STACK), LONG, "9320", 5, 0},
		{"GNU_addr_index", E("\xfb\x01" STACK), LONG, "1057896", 4, 0},
		{"GNU_const_index", E("\xfc\x01" STACK), LONG, "9320", 4, 0},
		{"addrx of no entry", E("\xa1\x40" STACK), LONG, "<address table entry not found>", 5, 0},
		{"constx, for thread-local storage",
		 E("\xa2\0"
		   "0\x9b" STACK),
		 LONG, "9047", 5, 0}, /* 0x1357 + 0x1000 */
		{"entry_value without a caller", E("\xa3\x01\x55" STACK), LONG, "<optimized out>", 5, 0},
		{"GNU_entry_value without a caller", E("\xf3\x01\x55" STACK), LONG, "<optimized out>", 3, 0},
		{"entry_value of nothing",
		 E("\xa3\0"
		   "0" STACK),
		 LONG, "<entry value of an empty expression>", 5, 0},
		{"entry_value of a sum",
		 E("\xa3\x03\x75\0"
		   "0\x31\x22" STACK),
		 LONG, "<entry value of more than one register>", 5, 0},
	};
	check_all(cases, XC_COUNT(cases));
}

/* ---- damage ---- */

/* Expressions that are cut short in each operand, and unknown operators: libdw refuses them. */
static void what_is_cut_short_has_no_value(void **state)
{
	(void)state;
	static const struct location cases[] = {
		{"addr", E("\x03\x42"), LONG, "<optimized out>", 0, 0},
		{"const8u", E("\x0e\x01\x02"), LONG, "<optimized out>", 0, 0},
		{"constu", E("\x10\x80\x80"), LONG, "<optimized out>", 0, 0},
		{"breg", E("\x73\x80"), LONG, "<optimized out>", 0, 0},
		{"bregx", E("\x92\x03"), LONG, "<optimized out>", 0, 0},
		{"piece", E("\x50\x93"), LONG, "<optimized out>", 0, 0},
		{"bit_piece", E("\x50\x9d\x08"), LONG, "<optimized out>", 3, 0},
		{"implicit_value", E("\x9e\x08\x01"), LONG, "<optimized out>", 4, 0},
		{"implicit_value of 2^64 - 1", E("\x9e\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01\x01"), LONG,
		 "<optimized out>", 4, 0},
		{"implicit_pointer", E("\xa0\x01"), POINTER, "<optimized out>", 5, 0},
		{"entry_value", E("\xa3\x05\x55"), LONG, "<optimized out>", 5, 0},
		{"const_type",
		 E("\xa4\0"
		   "i\x08\x01"),
		 INT, "<optimized out>", 5, 0},
		{"bra", E("\x31\x28\x01"), LONG, "<optimized out>", 0, 0},
		{"call4", E("\x99\x01"), LONG, "<optimized out>", 3, 0},
		{"a reserved operator", E("\x01"), LONG, "<optimized out>", 0, 0},
		{"an operator of users", E("\xe1"), LONG, "<optimized out>", 0, 0},
	};
	check_all(cases, XC_COUNT(cases));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(literals_are_numbers),           cmocka_unit_test(registers_and_memory_hold_values),
		cmocka_unit_test(pieces_are_put_together),        cmocka_unit_test(other_entries_are_asked),
		cmocka_unit_test(what_is_cut_short_has_no_value),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
