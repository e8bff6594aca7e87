/* layer: dwarf */
/* Hostile expressions, for each place that reads one without a frame to evaluate it in: no answer, and little work.
 * Each place also gets a valid expression, so that its answer is known to depend on the expression. */
#include "dwarf/module/exprcode.h"

#include "dwarf/types/type.h"
#include "dwarf/unwind/constant_expr.h"
#include "dwarf/value/entry_value.h"
#include "dwarf/value/value.h"
#include "tests/support/made.h"

enum { MEBI = 1 << 20, RETURNS = 0x4008, AGAIN = 2000, SECONDS = 5 };

/* ---- the readers: each has an entry with an expression, and says whether it used it ---- */

static void write_expr(struct dm *dm, unsigned name, const struct xc_text *bytes, size_t claimed)
{
	dm_attr(dm, name, DW_FORM_exprloc);
	dm_uleb(dm, dm->info, claimed);
	dm_bytes(dm, dm->info, bytes->bytes, bytes->len);
}

/* A child of struct "owner"; its expression is its last attribute. */
static void write_part(struct dm *dm, unsigned tag, unsigned attr, size_t type, const struct xc_text *bytes,
		       size_t claimed)
{
	dm_die(dm, DW_TAG_structure_type, true);
	dm_name(dm, "owner");
	dm_number(dm, DW_AT_byte_size, DW_FORM_data1, 16);
	dm_die(dm, tag, false);
	dm_name(dm, "part");
	dm_number(dm, DW_AT_type, DW_FORM_ref4, type);
	dm_number(dm, DW_AT_virtuality, DW_FORM_data1, DW_VIRTUALITY_virtual);
	write_expr(dm, attr, bytes, claimed);
	dm_end(dm);
}

static const struct xc_type *owner(struct made *m)
{
	Dwarf_Die die;
	assert_true(made_die(m, "owner", &die));
	return xc_type_get(xc_types_of(m->process), &die);
}

static void write_template(struct dm *dm, size_t type, const struct xc_text *bytes, size_t claimed)
{
	write_part(dm, DW_TAG_template_value_parameter, DW_AT_location, type, bytes, claimed);
}

static bool reads_template(struct made *m)
{
	size_t count;
	const struct xc_template *items = xc_type_templates(owner(m), &count);
	assert_int_equal(count, 1);
	assert_true(!items[0].has_value || items[0].value == 0x1234);
	return items[0].has_value;
}

static void write_member(struct dm *dm, size_t type, const struct xc_text *bytes, size_t claimed)
{
	write_part(dm, DW_TAG_member, DW_AT_data_member_location, type, bytes, claimed);
}

static const struct xc_member *member(struct made *m)
{
	size_t count;
	const struct xc_member *items = xc_type_members(owner(m), &count);
	assert_int_equal(count, 1);
	return &items[0];
}

static bool reads_offset(struct made *m)
{
	assert_true(member(m)->dynamic || member(m)->offset == 8);
	return !member(m)->dynamic;
}

static bool reads_dynamic_offset(struct made *m)
{
	struct xc_value value = {.process = m->process, .type = owner(m), .kind = XC_VALUE_MEMORY, .addr = MADE_MEMORY};
	assert_true(member(m)->dynamic);
	xc_value_field(&value, member(m), &value);
	assert_true(value.kind == XC_VALUE_ABSENT || value.addr == MADE_MEMORY + 8);
	return value.kind == XC_VALUE_MEMORY;
}

static void write_method(struct dm *dm, size_t type, const struct xc_text *bytes, size_t claimed)
{
	write_part(dm, DW_TAG_subprogram, DW_AT_vtable_elem_location, type, bytes, claimed);
}

static bool reads_slot(struct made *m)
{
	size_t count;
	const struct xc_method *items = xc_type_methods(owner(m), &count);
	assert_int_equal(count, 1);
	assert_true(items[0].slot == UINT64_MAX || items[0].slot == 3);
	return items[0].slot == 3;
}

static void write_site(struct dm *dm, size_t type, const struct xc_text *bytes, size_t claimed)
{
	(void)type;
	dm_die(dm, DW_TAG_subprogram, true);
	dm_name(dm, "caller");
	dm_die(dm, DW_TAG_call_site, true);
	dm_number(dm, DW_AT_call_return_pc, DW_FORM_addr, RETURNS);
	dm_die(dm, DW_TAG_call_site_parameter, false);
	dm_expr(dm, DW_AT_call_value, (uint8_t[]){DW_OP_lit7}, 1);
	write_expr(dm, DW_AT_location, bytes, claimed);
	dm_end(dm);
	dm_end(dm);
}

static bool reads_argument(struct made *m)
{
	unsigned __int128 bits;
	made_enter(m, "caller");
	m->frame.pc = MADE_BIAS + RETURNS;
	const char *why = xc_entry_value_argument(&m->context, 5, &bits);
	assert_true(why || bits == 7);
	return !why;
}

static void write_target(struct dm *dm, size_t type, const struct xc_text *bytes, size_t claimed)
{
	(void)type;
	dm_die(dm, DW_TAG_variable, false);
	dm_name(dm, "site");
	write_expr(dm, DW_AT_call_target, bytes, claimed);
}

static bool reads_target(struct made *m)
{
	Dwarf_Die die;
	Dwarf_Attribute attr;
	uint64_t value = 0;
	assert_true(made_die(m, "site", &die));
	assert_non_null(dwarf_attr(&die, DW_AT_call_target, &attr));
	bool known = xc_constant_expr(m->process, &m->module, &attr, &value);
	assert_true(!known || value == 9);
	return known;
}

static const struct reader {
	const char *what;
	uint8_t valid[12]; /* begins every expression */
	size_t len;
	void (*write)(struct dm *dm, size_t type, const struct xc_text *bytes, size_t claimed);
	bool (*reads)(struct made *m);
	bool only_first; /* the answer depends on the first operator, if all are readable */
} readers[] = {
	{"template argument", {DW_OP_addr, 0x34, 0x12}, 9, write_template, reads_template, true},
	{"member", {DW_OP_plus_uconst, 8}, 2, write_member, reads_offset, false},
	{"virtual base", {DW_OP_lit8, DW_OP_plus}, 2, write_member, reads_dynamic_offset, false},
	{"method", {DW_OP_constu, 3}, 2, write_method, reads_slot, false},
	{"call site", {DW_OP_regx, 5}, 2, write_site, reads_argument, false},
	{"call target", {DW_OP_lit4, DW_OP_lit5, DW_OP_plus}, 3, write_target, reads_target, false},
};

/* Read an expression often. claimed: how many bytes the block claims to have after its end. */
static bool reads(const struct reader *reader, const struct xc_text *bytes, size_t claimed)
{
	struct dm dm = {.machine = 0};
	dm_unit(&dm, &(struct dm_unit){.version = 5});
	dm_die(&dm, DW_TAG_compile_unit, true);
	size_t type = made_base(&dm, "int", DW_ATE_signed, 4);
	reader->write(&dm, type, bytes, bytes->len + claimed);
	dm_end(&dm);
	dm_unit_end(&dm);
	struct made *m = made_open(&dm);
	check_effort(SECONDS);
	bool read = reader->reads(m);
	for (int i = 0; i < AGAIN; i++)
		assert_int_equal(reader->reads(m), read);
	check_effort(0);
	made_close(m);
	dm_fini(&dm);
	return read;
}

/* Each reader with an expression that begins as a valid one and ends with these bytes. */
static void check(const char *what, const struct xc_text *tail, size_t claimed, bool readable)
{
	for (size_t i = 0; i < XC_COUNT(readers); i++) {
		struct xc_text bytes = {0};
		xc_text_addn(&bytes, (const char *)readers[i].valid, readers[i].len);
		xc_text_addn(&bytes, xc_text_string(tail), tail->len);
		if (reads(&readers[i], &bytes, claimed) != (readable && (readers[i].only_first || !tail->len)))
			fail_msg("%s, %s: wrong answer", readers[i].what, what);
		xc_text_fini(&bytes);
	}
}

static void repeat(struct xc_text *text, uint8_t byte, size_t count)
{
	for (size_t i = 0; i < count; i++)
		xc_text_char(text, (char)byte);
}

static void uleb(struct xc_text *text, uint64_t value)
{
	for (; value >= 0x80; value >>= 7)
		xc_text_char(text, (char)(value | 0x80));
	xc_text_char(text, (char)value);
}

static void valid_expressions_are_read(void **state)
{
	(void)state;
	struct xc_text none = {0};
	check("valid", &none, 0, true);
}

static void many_operators_are_not_read(void **state)
{
	(void)state;
	struct xc_text tail = {0};
	repeat(&tail, DW_OP_nop, MEBI);
	check("a mebibyte", &tail, 0, false);
	tail.len = XC_EXPRCODE_OPS;
	check("more operators than the limit", &tail, 0, false);
	xc_text_fini(&tail);
}

static void operands_that_are_cut_short_are_not_read(void **state)
{
	(void)state;
	struct xc_text tail = {0};
	xc_text_addn(&tail, (const char[]){DW_OP_const2u, 1}, 2);
	check("two bytes", &tail, 0, false);
	tail.len = 0;
	xc_text_addn(&tail, (const char[]){DW_OP_constu, (char)0x80}, 2);
	check("a LEB128 number", &tail, 0, false);
	xc_text_fini(&tail);
}

static void blocks_behind_the_section_are_not_read(void **state)
{
	(void)state;
	struct xc_text none = {0};
	check("by 64 bytes", &none, 64, false);
	check("by two gibibytes", &none, INT32_MAX, false);
	check("by all of memory", &none, SIZE_MAX - 64, false);
}

static void entry_values_within_others_are_not_followed(void **state)
{
	(void)state;
	struct xc_text inner = {0};
	xc_text_char(&inner, (char)DW_OP_reg5);
	while (inner.len < XC_EXPRCODE_BYTES - 100) {
		struct xc_text outer = {0};
		xc_text_char(&outer, (char)DW_OP_entry_value);
		uleb(&outer, inner.len);
		xc_text_addn(&outer, inner.bytes, inner.len);
		xc_text_fini(&inner);
		inner = outer;
	}
	check("nested entry values", &inner, 0, true);
	xc_text_fini(&inner);
}

static void long_implicit_values_are_not_read(void **state)
{
	(void)state;
	struct xc_text tail = {0};
	xc_text_char(&tail, (char)DW_OP_implicit_value);
	uleb(&tail, UINT64_MAX);
	check("a length of 64 bits", &tail, 0, false);
	tail.len = 1;
	uleb(&tail, XC_EXPRCODE_BYTES);
	repeat(&tail, 0, XC_EXPRCODE_BYTES);
	check("more bytes than the limit", &tail, 0, false);
	xc_text_fini(&tail);
}

/* ---- the limits ---- */

static void limits_are_exact(void **state)
{
	(void)state;
	struct xc_arena arena = {0};
	struct xc_exprcodes codes = {.arena = &arena};
	struct xc_exprcode code;
	uint8_t *bytes = xc_alloc(XC_EXPRCODE_BYTES + 1);
	memset(bytes, DW_OP_nop, XC_EXPRCODE_OPS + 1);
	assert_true(xc_exprcode_read(&codes, NULL, bytes, XC_EXPRCODE_OPS, &code));
	assert_int_equal(code.count, XC_EXPRCODE_OPS);
	assert_int_equal(code.ops[XC_EXPRCODE_OPS - 1].offset, XC_EXPRCODE_OPS - 1);
	assert_false(xc_exprcode_read(&codes, NULL, bytes + 1, XC_EXPRCODE_OPS + 1, &code));
	assert_int_equal(code.count, 0);

	memcpy(bytes, (uint8_t[]){DW_OP_implicit_value, 0xfc, 0xff, 0x03}, 4); /* 65532 */
	codes.map = (struct xc_pointer_map){0};
	assert_true(xc_exprcode_read(&codes, NULL, bytes, XC_EXPRCODE_BYTES, &code));
	assert_int_equal(code.count, 1);
	assert_ptr_equal(xc_exprcode_bytes(&code.ops[0]), bytes + 4);
	codes.map = (struct xc_pointer_map){0};
	bytes[1]++;
	assert_false(xc_exprcode_read(&codes, NULL, bytes, XC_EXPRCODE_BYTES + 1, &code));
	free(bytes);
	xc_arena_fini(&arena);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(valid_expressions_are_read),
		cmocka_unit_test(many_operators_are_not_read),
		cmocka_unit_test(operands_that_are_cut_short_are_not_read),
		cmocka_unit_test(blocks_behind_the_section_are_not_read),
		cmocka_unit_test(entry_values_within_others_are_not_followed),
		cmocka_unit_test(long_implicit_values_are_not_read),
		cmocka_unit_test(limits_are_exact),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
