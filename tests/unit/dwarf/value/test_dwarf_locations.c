/* layer: dwarf */
/* Location expressions as bytes (DWARF 5, 2.5 and 2.6, 7.7.1; GNU's equivalents). Each has the expected value of a
 * variable at that location in the frame of made.h, or the reason why it has none. */
#include <stdio.h>

#include "tests/support/made.h"

/* The entries that expressions refer to, by their offset in the unit; set while the unit is written. */
static struct {
	size_t int_type, long_type, double_type, short_type, float_type, uint_type, uchar_type, wide_type, pointer,
		pair;
	size_t unit, pointee, constant_pointee, caller, circle;
} at;

enum { MAX_BYTES = 48 };

/* The bytes of an expression. Parts that depend on offsets are marks after a byte that is no operator. */
enum { MARK = 0x00 };
struct expression {
	const char *bytes;
	size_t len;
};
#define E(text)                                                                                                        \
	{                                                                                                              \
		text, sizeof text - 1                                                                                  \
	}

/* Marks: \0 and a letter. Lower case: a ULEB128 offset in the unit, with five bytes. Upper case: an offset in the
 * section, with the unit's offset size. Digits: the offset in the unit in two or four bytes. */
static size_t *marked(char letter)
{
	switch (letter) {
	case 'i':
		return &at.int_type;
	case 'l':
		return &at.long_type;
	case 'd':
		return &at.double_type;
	case 's':
		return &at.short_type;
	case 'f':
		return &at.float_type;
	case 'u':
		return &at.uint_type;
	case 'c':
		return &at.uchar_type;
	case 'w':
		return &at.wide_type;
	case 'r':
		return &at.pair;
	case 'P':
		return &at.pointee;
	case 'C':
		return &at.constant_pointee;
	case '2':
	case '4':
	case 'R':
		return &at.caller;
	case '6':
	case '8':
		return &at.circle;
	default:
		fail_msg("no mark %c", letter);
		return NULL;
	}
}

static size_t put(uint8_t *to, uint64_t value, size_t size)
{
	for (size_t i = 0; i < size; i++)
		to[i] = (uint8_t)(value >> 8 * i);
	return size;
}

static size_t put_leb(uint8_t *to, uint64_t value)
{
	for (size_t i = 0; i < 5; i++)
		to[i] = (uint8_t)((value >> 7 * i & 0x7f) | (i < 4 ? 0x80 : 0));
	return 5;
}

static size_t resolve(const struct dm *dm, const struct expression *e, uint8_t out[MAX_BYTES])
{
	size_t len = 0;
	for (size_t i = 0; i < e->len; i++) {
		char letter = e->bytes[i] == MARK && i + 1 < e->len ? e->bytes[i + 1] : ' ';
		assert_true(len < MAX_BYTES - 8);
		if (letter == '0') {
			out[len++] = 0; /* a zero byte */
			i++;
		} else if (letter == '2' || letter == '6') {
			len += put(out + len, *marked(letter), 2);
			i++;
		} else if (letter == '4' || letter == '8') {
			len += put(out + len, *marked(letter), 4);
			i++;
		} else if (letter >= 'A' && letter <= 'Z') {
			len += put(out + len, at.unit + *marked(letter),
				   dm->version == 2 ? dm->address_size : dm->offset_size);
			i++;
		} else if (letter >= 'a' && letter <= 'z') {
			len += put_leb(out + len, *marked(letter));
			i++;
		} else {
			out[len++] = (uint8_t)e->bytes[i];
		}
	}
	return len;
}

enum type { INT, LONG, DOUBLE, SHORT, FLOAT, UINT, UCHAR, WIDE, POINTER, PAIR };

static size_t type_at(enum type type)
{
	const size_t offsets[] = {
		[INT] = at.int_type,     [LONG] = at.long_type, [DOUBLE] = at.double_type, [SHORT] = at.short_type,
		[FLOAT] = at.float_type, [UINT] = at.uint_type, [UCHAR] = at.uchar_type,   [WIDE] = at.wide_type,
		[POINTER] = at.pointer,  [PAIR] = at.pair};
	return offsets[type];
}

struct location {
	const char *what;
	struct expression expression;
	enum type type;
	const char *want;
	unsigned since; /* version; 0: all */
	unsigned until; /* 0: all */
};

/* The types, first, and the entries to refer to. */
static void begin(struct dm *dm, const struct dm_unit *shape, size_t addresses)
{
	static const uint8_t in_memory[] = {DW_OP_const2u, 0x00, 0x10}, circle[] = {DW_OP_call2, 0, 0},
			     base[] = {DW_OP_breg6, 0x10};                           /* rbp + 16 */
	dm_unit(dm, &(struct dm_unit){shape->version, shape->offset_size, 8, 0, 0}); /* in front */
	dm_die(dm, DW_TAG_compile_unit, false);
	dm_unit_end(dm);
	at.unit = dm_unit(dm, shape);
	dm_die(dm, DW_TAG_compile_unit, true);
	if (shape->version >= 4)
		dm_number(dm, shape->version >= 5 ? DW_AT_addr_base : DW_AT_GNU_addr_base, DW_FORM_sec_offset,
			  addresses);
	at.int_type = made_base(dm, "int", DW_ATE_signed, 4);
	at.long_type = made_base(dm, "long", DW_ATE_signed, 8);
	at.double_type = made_base(dm, "double", DW_ATE_float, 8);
	at.short_type = made_base(dm, "short", DW_ATE_signed, 2);
	at.float_type = made_base(dm, "float", DW_ATE_float, 4);
	at.uint_type = made_base(dm, "unsigned", DW_ATE_unsigned, 4);
	at.uchar_type = made_base(dm, "u8", DW_ATE_unsigned, 1);
	at.wide_type = made_base(dm, "__int128", DW_ATE_signed, 16);
	at.pointer = dm_die(dm, DW_TAG_pointer_type, false);
	dm_number(dm, DW_AT_byte_size, DW_FORM_data1, 8);
	dm_number(dm, DW_AT_type, DW_FORM_ref4, at.int_type);
	at.pair = dm_die(dm, DW_TAG_structure_type, true);
	dm_name(dm, "pair");
	dm_number(dm, DW_AT_byte_size, DW_FORM_data1, 8);
	for (unsigned i = 0; i < 2; i++) {
		dm_die(dm, DW_TAG_member, false);
		dm_name(dm, i ? "b" : "a");
		dm_number(dm, DW_AT_type, DW_FORM_ref4, at.int_type);
		if (dm->version > 2)
			dm_number(dm, DW_AT_data_member_location, DW_FORM_udata, 4 * i);
		else
			dm_block(dm, DW_AT_data_member_location, DW_FORM_block1,
				 (uint8_t[]){DW_OP_plus_uconst, (uint8_t)(4 * i)}, 2);
	}
	dm_end(dm);
	at.pointee = made_variable(dm, "pointee", at.int_type);
	dm_expr(dm, DW_AT_location, in_memory, sizeof in_memory);
	at.constant_pointee = made_variable(dm, "constant_pointee", at.int_type);
	dm_number(dm, DW_AT_const_value, DW_FORM_data1, 99);
	at.caller = made_variable(dm, "called", at.int_type);
	dm_expr(dm, DW_AT_location, (uint8_t[]){DW_OP_lit2, DW_OP_plus}, 2);
	at.circle = made_variable(dm, "circle", at.int_type);
	dm_expr(dm, DW_AT_location, circle, sizeof circle);
	dm_patch(dm, DM_INFO, dm_at(dm, DM_INFO) - 2, at.circle, 2);
	dm_die(dm, DW_TAG_subprogram, false);
	dm_name(dm, "function");
	dm_expr(dm, DW_AT_frame_base, base, sizeof base);
}

static void check(const struct location *cases, size_t count, const struct dm_unit *shape)
{
	char name[32];
	struct dm dm = {0};
	size_t begun;
	uint8_t bytes[MAX_BYTES];
	dm.version = shape->version;
	dm.offset_size = shape->offset_size;
	dm.address_size = 8;
	size_t base = dm_table(&dm, DM_ADDR, 0, &begun);
	dm_u(&dm, DM_ADDR, 0x1357, 8);
	dm_u(&dm, DM_ADDR, 0x2468, 8);
	if (shape->version >= 5)
		dm_length(&dm, DM_ADDR, begun);
	begin(&dm, shape, base);
	for (size_t i = 0; i < count; i++) {
		snprintf(name, sizeof name, "v%zu", i);
		made_variable(&dm, name, type_at(cases[i].type));
		dm_expr(&dm, DW_AT_location, bytes, resolve(&dm, &cases[i].expression, bytes));
	}
	dm_end(&dm);
	dm_unit_end(&dm);
	struct made *m = made_open(&dm);
	made_enter(m, "function");
	for (size_t i = 0; i < count; i++) {
		char what[160];
		bool has = shape->version >= cases[i].since && (!cases[i].until || shape->version <= cases[i].until);
		snprintf(name, sizeof name, "v%zu", i);
		snprintf(what, sizeof what, "%s (version %u, %u-bit)", cases[i].what, shape->version,
			 shape->offset_size * 8);
		if (has)
			made_expect(m, name, 0, cases[i].want, what);
		else
			(void)made_value(m, name, 0); /* any answer */
	}
	made_close(m);
	dm_fini(&dm);
}

static void check_all(const struct location *cases, size_t count)
{
	static const struct dm_unit shapes[] = {{2, 4, 8, 0, 0}, {3, 4, 8, 0, 0}, {3, 8, 8, 0, 0}, {4, 4, 8, 0, 0},
						{4, 8, 8, 0, 0}, {5, 4, 8, 0, 0}, {5, 8, 8, 0, 0}};
	for (size_t i = 0; i < XC_COUNT(shapes); i++)
		check(cases, count, &shapes[i]);
}

#define STACK "\x9f" /* DW_OP_stack_value */

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
		cmocka_unit_test(the_stack_is_shuffled),          cmocka_unit_test(arithmetic_is_done),
		cmocka_unit_test(jumps_are_taken_and_end),        cmocka_unit_test(pieces_are_put_together),
		cmocka_unit_test(typed_values_are_computed),      cmocka_unit_test(other_entries_are_asked),
		cmocka_unit_test(what_is_cut_short_has_no_value),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
