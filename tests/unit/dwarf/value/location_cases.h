/* location_cases: location expressions as bytes (DWARF 5, 2.5 and 2.6, 7.7.1; GNU's equivalents). Each has the expected
 * value of a variable at that location in the frame of made.h, or the reason why it has none. */
#ifndef XC_TEST_LOCATION_CASES_H
#define XC_TEST_LOCATION_CASES_H

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
static inline size_t *marked(char letter)
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

static inline size_t put(uint8_t *to, uint64_t value, size_t size)
{
	for (size_t i = 0; i < size; i++)
		to[i] = (uint8_t)(value >> 8 * i);
	return size;
}

static inline size_t put_leb(uint8_t *to, uint64_t value)
{
	for (size_t i = 0; i < 5; i++)
		to[i] = (uint8_t)((value >> 7 * i & 0x7f) | (i < 4 ? 0x80 : 0));
	return 5;
}

static inline size_t resolve(const struct dm *dm, const struct expression *e, uint8_t out[MAX_BYTES])
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

static inline size_t type_at(enum type type)
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
static inline void begin(struct dm *dm, const struct dm_unit *shape, size_t addresses)
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

static inline void check(const struct location *cases, size_t count, const struct dm_unit *shape)
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

static inline void check_all(const struct location *cases, size_t count)
{
	static const struct dm_unit shapes[] = {{2, 4, 8, 0, 0}, {3, 4, 8, 0, 0}, {3, 8, 8, 0, 0}, {4, 4, 8, 0, 0},
						{4, 8, 8, 0, 0}, {5, 4, 8, 0, 0}, {5, 8, 8, 0, 0}};
	for (size_t i = 0; i < XC_COUNT(shapes); i++)
		check(cases, count, &shapes[i]);
}

#define STACK "\x9f" /* DW_OP_stack_value */

#endif
