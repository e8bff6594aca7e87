/* layer: dwarf */
/* The DWARF stack machine, over hand-made operators and a byte array as memory. */
#include "tests/support/compile_program.h"

static const uint8_t memory[32] = {0x11, 0x22, 0x33, 0x44, 0x55, 0x66, 0x77, 0x88, 0x00, 0x10, 0, 0, 0, 0, 0, 0};

enum { BASE = 0x1000, RAX = 0, RDX = 1, RBX = 3, RDI = 5, RBP = 6, RSP = 7, XMM1 = 18, ST0 = 33 };

struct machine {
	struct xc_process *process;
	struct xc_arena scratch;
	struct xc_frame frame;
	struct xc_vector_regs vector;
	struct xc_module module;
	struct xc_thread thread;
	struct xc_expr_context context;
};

static struct machine *start(void)
{
	struct machine *m = xc_alloc(sizeof *m);
	m->process = bare_process();
	struct xc_segment s = {.lo = BASE, .hi = BASE + sizeof memory - 1, .provenance = XC_FROM_CORE, .bytes = memory};
	xc_space_add(m->process->space, &s);
	xc_space_seal(m->process->space);
	xc_regs_set(&m->frame.regs, RAX, 0x123456789abcdef0);
	xc_regs_set(&m->frame.regs, RBP, BASE);
	m->vector.xmm_count = 16;
	m->vector.st_count = 8;
	m->frame.regs.vector = &m->vector;
	m->frame.cfa_known = true;
	m->frame.cfa = BASE + 16;
	m->module.bias = 0x100;
	m->module.bias_known = true;
	m->context = xc_expr_in_frame(m->process, &m->thread, NULL, &m->frame, NULL, &m->scratch);
	m->context.module = &m->module;
	return m;
}

static void stop(struct machine *m)
{
	xc_arena_fini(&m->scratch);
	xc_process_close(m->process);
	free(m);
}

#define LOCATE(m, out, ...)                                                                                            \
	do {                                                                                                           \
		const Dwarf_Op ops_[] = {__VA_ARGS__};                                                                 \
		struct xc_expr expr_ = {.ops = ops_, .count = XC_COUNT(ops_)};                                         \
		xc_expr_locate(&(m)->context, &expr_, NULL, out);                                                      \
	} while (0)

#define EXPECT_MEMORY(m, want, ...)                                                                                    \
	do {                                                                                                           \
		struct xc_location out_;                                                                               \
		LOCATE(m, &out_, __VA_ARGS__);                                                                         \
		if (out_.kind == XC_LOCATION_ABSENT)                                                                   \
			fail_msg("absent: %s", out_.why);                                                              \
		assert_int_equal(out_.kind, XC_LOCATION_MEMORY);                                                       \
		assert_int_equal(out_.number, (uint64_t)(want));                                                       \
	} while (0)

#define EXPECT_ABSENT(m, reason, ...)                                                                                  \
	do {                                                                                                           \
		struct xc_location out_;                                                                               \
		LOCATE(m, &out_, __VA_ARGS__);                                                                         \
		assert_int_equal(out_.kind, XC_LOCATION_ABSENT);                                                       \
		assert_string_equal(out_.why, reason);                                                                 \
	} while (0)

#define MINUS(n) ((uint64_t) - (n))
#define OP(...)  ((Dwarf_Op){.atom = __VA_ARGS__})

static void arithmetic_follows_the_standard(void **state)
{
	(void)state;
	struct machine *m = start();
	EXPECT_MEMORY(m, 5, OP(DW_OP_lit2), OP(DW_OP_lit3), OP(DW_OP_plus));
	EXPECT_MEMORY(m, -1, OP(DW_OP_lit2), OP(DW_OP_lit3), OP(DW_OP_minus));
	EXPECT_MEMORY(m, -2, OP(DW_OP_const1s, MINUS(7)), OP(DW_OP_lit3), OP(DW_OP_div));
	EXPECT_MEMORY(m, UINT64_MAX % 7, OP(DW_OP_const1s, MINUS(1)), OP(DW_OP_lit7), OP(DW_OP_mod));
	EXPECT_MEMORY(m, UINT64_MAX >> 1, OP(DW_OP_const1s, MINUS(1)), OP(DW_OP_lit1), OP(DW_OP_shr));
	EXPECT_MEMORY(m, -1, OP(DW_OP_const1s, MINUS(1)), OP(DW_OP_lit1), OP(DW_OP_shra));
	EXPECT_MEMORY(m, 0, OP(DW_OP_lit1), OP(DW_OP_const2u, 200), OP(DW_OP_shl));
	EXPECT_MEMORY(m, 1, OP(DW_OP_const1s, MINUS(1)), OP(DW_OP_lit1), OP(DW_OP_lt));
	EXPECT_MEMORY(m, 7, OP(DW_OP_const1s, MINUS(7)), OP(DW_OP_abs));
	EXPECT_MEMORY(m, INT64_MIN, OP(DW_OP_const8u, UINT64_C(1) << 63), OP(DW_OP_const1s, MINUS(1)), OP(DW_OP_div));
	EXPECT_MEMORY(m, 0x12, OP(DW_OP_lit2), OP(DW_OP_plus_uconst, 0x10));
	EXPECT_MEMORY(m, 3, OP(DW_OP_lit1), OP(DW_OP_lit2), OP(DW_OP_lit3), OP(DW_OP_rot), OP(DW_OP_drop),
		      OP(DW_OP_drop));
	EXPECT_MEMORY(m, 1, OP(DW_OP_lit1), OP(DW_OP_lit2), OP(DW_OP_lit3), OP(DW_OP_pick, 2));
	EXPECT_MEMORY(m, BASE, OP(DW_OP_lit8), OP(DW_OP_const2u, BASE), OP(DW_OP_plus), OP(DW_OP_deref));
	EXPECT_MEMORY(m, 0x2211, OP(DW_OP_const2u, BASE), OP(DW_OP_deref_size, 2));
	EXPECT_MEMORY(m, 0x142, OP(DW_OP_addr, 0x42));
	EXPECT_MEMORY(m, BASE - 8, OP(DW_OP_breg6, (uint64_t)-8));
	EXPECT_MEMORY(m, BASE + 16, OP(DW_OP_call_frame_cfa));
	stop(m);
}

static void what_cannot_be_says_why(void **state)
{
	(void)state;
	struct machine *m = start();
	EXPECT_ABSENT(m, "division by zero in a location expression", OP(DW_OP_lit1), OP(DW_OP_lit0), OP(DW_OP_div));
	EXPECT_ABSENT(m, "division by zero in a location expression", OP(DW_OP_lit1), OP(DW_OP_lit0), OP(DW_OP_mod));
	EXPECT_ABSENT(m, "location expression pops an empty stack", OP(DW_OP_lit1), OP(DW_OP_plus));
	EXPECT_ABSENT(m, "location expression pops an empty stack", OP(DW_OP_drop));
	EXPECT_ABSENT(m, "location expression pops an empty stack", OP(DW_OP_lit1), OP(DW_OP_pick, 1));
	EXPECT_ABSENT(m, "location expression pops an empty stack", OP(DW_OP_lit1), OP(DW_OP_pick, UINT64_MAX));
	EXPECT_ABSENT(m, "location expression pops an empty stack", OP(DW_OP_stack_value));
	EXPECT_ABSENT(m, "0x10: not mapped", OP(DW_OP_lit16), OP(DW_OP_deref));
	EXPECT_ABSENT(m, "0x1020: not mapped", OP(DW_OP_const2u, BASE + 30), OP(DW_OP_deref));
	EXPECT_ABSENT(m, "rdx not saved by this frame", OP(DW_OP_breg1, 0));
	EXPECT_ABSENT(m, "register 4096 not saved by this frame", OP(DW_OP_bregx, 4096, 0));
	EXPECT_ABSENT(m, "frame base not known", OP(DW_OP_fbreg, 0));
	EXPECT_ABSENT(m, "location operator 0x1 is not supported", OP(1));
	EXPECT_ABSENT(m, "operators after a complete location", OP(DW_OP_reg0), OP(DW_OP_lit1));
	EXPECT_ABSENT(m, "entry value of an empty expression", OP(DW_OP_entry_value, 1));
	EXPECT_ABSENT(m, "debug information refers to a missing entry", OP(DW_OP_call4, 1));
	EXPECT_ABSENT(m, "debug information refers to a missing entry", OP(DW_OP_implicit_pointer, 1, 0));
	EXPECT_ABSENT(m, "debug information refers to a missing entry", OP(DW_OP_regval_type, 0, 1));
	EXPECT_ABSENT(m, "address table entry not found", OP(DW_OP_addrx, 0));
	EXPECT_ABSENT(m, "location expression has too many pieces", OP(DW_OP_bit_piece, UINT64_MAX, 0));
	EXPECT_ABSENT(m, "location expression has a piece that is too large", OP(DW_OP_piece, UINT64_MAX));
	struct xc_expr nothing = {0};
	struct xc_location out;
	xc_expr_locate(&m->context, &nothing, NULL, &out);
	assert_int_equal(out.kind, XC_LOCATION_ABSENT);
	assert_string_equal(out.why, "optimized out");
	stop(m);
}

static void endless_expressions_end(void **state)
{
	(void)state;
	struct machine *m = start();
	EXPECT_ABSENT(m, "location expression takes too many steps",
		      {.atom = DW_OP_skip, .number = (uint64_t)-3, .offset = 0});
	EXPECT_ABSENT(m, "location expression overflows its stack", {.atom = DW_OP_lit1, .offset = 0},
		      {.atom = DW_OP_skip, .number = (uint64_t)-4, .offset = 1});
	EXPECT_ABSENT(m, "location expression jumps into an operator", {.atom = DW_OP_skip, .number = 1, .offset = 0},
		      {.atom = DW_OP_const8u, .offset = 3}, {.atom = DW_OP_lit1, .offset = 12});
	/* jumps past the ends: after the last operator the expression is finished; before the first is an error */
	EXPECT_MEMORY(m, 1, {.atom = DW_OP_lit1, .offset = 0}, {.atom = DW_OP_skip, .number = 100, .offset = 1});
	EXPECT_ABSENT(m, "location expression jumps into an operator",
		      {.atom = DW_OP_skip, .number = (uint64_t)-30, .offset = 0});
	stop(m);
}

static void branches_take_the_truth(void **state)
{
	(void)state;
	struct machine *m = start();
	for (unsigned truth = 0; truth < 2; truth++) {
		EXPECT_MEMORY(m, truth ? 7 : 5, {.atom = (uint8_t)(DW_OP_lit0 + truth), .offset = 0},
			      {.atom = DW_OP_bra, .number = 4, .offset = 1}, {.atom = DW_OP_lit5, .offset = 4},
			      {.atom = DW_OP_skip, .number = 1, .offset = 5}, {.atom = DW_OP_lit7, .offset = 8});
	}
	stop(m);
}

static struct xc_type int_type = {.kind = XC_TYPE_INT, .size = 4, .size_known = true, .is_signed = true, .name = "int"};
static struct xc_type long_type = {
	.kind = XC_TYPE_INT, .size = 8, .size_known = true, .is_signed = true, .name = "long"};
static struct xc_type double_type = {.kind = XC_TYPE_FLOAT, .size = 8, .size_known = true, .name = "double"};
static struct xc_type extended_type = {.kind = XC_TYPE_FLOAT, .size = 16, .size_known = true, .name = "long double"};

static struct xc_value value_at(struct machine *m, const struct xc_location *location, const struct xc_type *type)
{
	struct xc_value value;
	xc_expr_value(&m->context, location, type, &value);
	return value;
}

static void registers_hold_values_of_their_size(void **state)
{
	(void)state;
	struct machine *m = start();
	struct xc_location where;
	uint64_t bits;
	LOCATE(m, &where, OP(DW_OP_reg0));
	struct xc_value value = value_at(m, &where, &int_type);
	assert_true(xc_value_load(&value, &bits));
	assert_int_equal((int32_t)bits, (int32_t)0x9abcdef0);
	value = value_at(m, &where, &extended_type);
	assert_int_equal(value.kind, XC_VALUE_ABSENT);
	assert_string_equal(value.why, "larger than its register");
	LOCATE(m, &where, OP(DW_OP_reg3));
	value = value_at(m, &where, &int_type);
	assert_string_equal(value.why, "rbx not saved by this frame");
	stop(m);
}

static void vector_and_x87_registers_hold_floats(void **state)
{
	(void)state;
	struct machine *m = start();
	struct xc_location where;
	struct xc_format_options options = xc_format_defaults();
	double d = 2.5;
	long double x = -1.25L;
	memcpy(m->vector.xmm[1], &d, sizeof d);
	memcpy(m->vector.st[0], &x, 10);
	LOCATE(m, &where, OP(DW_OP_regx, XMM1));
	struct xc_value value = value_at(m, &where, &double_type);
	expect_text(&value, &options, "xmm1", "2.5");
	LOCATE(m, &where, OP(DW_OP_regx, ST0));
	value = value_at(m, &where, &double_type);
	expect_text(&value, &options, "st0 as double", "-1.25");
	value = value_at(m, &where, &extended_type);
	expect_text(&value, &options, "st0", "-1.25");
	m->frame.regs.vector = NULL;
	value = value_at(m, &where, &double_type);
	assert_int_equal(value.kind, XC_VALUE_ABSENT);
	stop(m);
}

static void pieces_are_put_together_and_holes_stay(void **state)
{
	(void)state;
	struct machine *m = start();
	struct xc_location where;
	uint64_t bits;
	LOCATE(m, &where, OP(DW_OP_reg0), OP(DW_OP_piece, 4), OP(DW_OP_const2u, BASE), OP(DW_OP_piece, 4));
	assert_int_equal(where.kind, XC_LOCATION_PIECES);
	struct xc_value value = value_at(m, &where, &long_type);
	assert_true(xc_value_load(&value, &bits));
	assert_int_equal(bits, 0x443322119abcdef0);
	LOCATE(m, &where, OP(DW_OP_lit9), OP(DW_OP_stack_value), OP(DW_OP_piece, 4), OP(DW_OP_piece, 4));
	value = value_at(m, &where, &long_type);
	assert_false(xc_value_load(&value, &bits));
	value.type = &int_type;
	assert_true(xc_value_load(&value, &bits));
	assert_int_equal(bits, 9);
	value.at = 4;
	struct xc_text text = {0};
	assert_true(xc_value_why(&value, 0, 4, &text));
	assert_string_equal(xc_text_string(&text), "optimized out");
	xc_text_fini(&text);
	LOCATE(m, &where, OP(DW_OP_piece, 8));
	value = value_at(m, &where, &long_type);
	assert_int_equal(value.kind, XC_VALUE_ABSENT);
	assert_string_equal(value.why, "optimized out");
	stop(m);
}

static void bit_pieces_cut_registers(void **state)
{
	(void)state;
	struct machine *m = start();
	struct xc_location where;
	uint64_t bits;
	/* 12 bits of rax from bit 4 on, then 20 of the address's bytes from bit 8 on */
	LOCATE(m, &where, OP(DW_OP_reg0), OP(DW_OP_bit_piece, 12, 4), OP(DW_OP_const2u, BASE),
	       OP(DW_OP_bit_piece, 20, 8));
	struct xc_value value = value_at(m, &where, &int_type);
	assert_true(xc_value_load(&value, &bits));
	assert_int_equal((uint32_t)bits, 0xdefu | (0x443322u & 0xfffff) << 12);
	stop(m);
}

static void more_pieces_than_the_type_are_ignored(void **state)
{
	(void)state;
	struct machine *m = start();
	struct xc_location where;
	uint64_t bits;
	LOCATE(m, &where, OP(DW_OP_lit9), OP(DW_OP_stack_value), OP(DW_OP_piece, 8), OP(DW_OP_piece, 1000));
	struct xc_value value = value_at(m, &where, &int_type);
	assert_true(xc_value_load(&value, &bits));
	assert_int_equal(bits, 9);
	stop(m);
}

static void thread_local_storage_lies_below_fs(void **state)
{
	(void)state;
	struct machine *m = start();
	EXPECT_ABSENT(m, "the thread's storage is not known (no fs_base)", OP(DW_OP_lit8), OP(DW_OP_form_tls_address));
	xc_regs_set(&m->thread.regs, 58, 0x7000);
	EXPECT_ABSENT(m, "the module's thread-local storage is not known (no link map)", OP(DW_OP_lit8),
		      OP(DW_OP_GNU_push_tls_address));
	m->module.tls_offset_known = true;
	m->module.tls_offset = 0x40;
	EXPECT_MEMORY(m, 0x7000 - 0x40 + 8, OP(DW_OP_lit8), OP(DW_OP_form_tls_address));
	stop(m);
}

/* fs_base + 8 is the address of the dtv; dtv[-1] is its length; an entry has 16 bytes. */
static void thread_local_storage_of_late_modules_is_in_the_dtv(void **state)
{
	(void)state;
	struct machine *m = start();
	static const uint64_t words[12] = {0, 0x3020, 2, 0, 1, 0, 0x5000, 0, UINT64_MAX, 0};
	struct xc_segment s = {.lo = 0x3000, .hi = 0x3000 + sizeof words - 1, .provenance = XC_FROM_CORE};
	s.bytes = (const uint8_t *)words;
	xc_space_add(m->process->space, &s);
	xc_space_seal(m->process->space);
	xc_regs_set(&m->thread.regs, 58, 0x3000);
	m->module.tls_modid = 1;
	EXPECT_MEMORY(m, 0x5008, OP(DW_OP_lit8), OP(DW_OP_form_tls_address));
	m->module.tls_modid = 2;
	EXPECT_ABSENT(m, "not allocated for this thread", OP(DW_OP_lit8), OP(DW_OP_form_tls_address));
	m->module.tls_modid = 3;
	EXPECT_ABSENT(m, "not allocated for this thread", OP(DW_OP_lit8), OP(DW_OP_form_tls_address));
	stop(m);
}

/* Operators that refer to types and other entries need a real file, written by the compiler. */
static void compiled_constants_and_counts_evaluate(void **state)
{
	(void)state;
	static const char source[] = "int f(int n) { int vla[n]; vla[0] = n; return vla[n - 1]; } enum { N = 3 };"
				     "static const int unused = 77; int g(void) { return unused; }";
	struct compiled *c = compile("gcc -g -O1 -x c", source);
	struct xc_value value = value_of(c, "unused");
	uint64_t bits;
	assert_true(xc_value_load(&value, &bits));
	assert_int_equal(bits, 77);
	const struct xc_type *vla = type_of(c, "vla");
	assert_true(vla->is_dynamic);
	assert_string_equal(xc_type_name(vla), "int [variable length]");
	struct xc_expr_context context = static_context(c);
	assert_ptr_equal(xc_expr_resolve(&context, vla), vla); /* no frame, no length */
	release(c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(arithmetic_follows_the_standard),
		cmocka_unit_test(what_cannot_be_says_why),
		cmocka_unit_test(endless_expressions_end),
		cmocka_unit_test(branches_take_the_truth),
		cmocka_unit_test(registers_hold_values_of_their_size),
		cmocka_unit_test(vector_and_x87_registers_hold_floats),
		cmocka_unit_test(pieces_are_put_together_and_holes_stay),
		cmocka_unit_test(bit_pieces_cut_registers),
		cmocka_unit_test(more_pieces_than_the_type_are_ignored),
		cmocka_unit_test(thread_local_storage_lies_below_fs),
		cmocka_unit_test(thread_local_storage_of_late_modules_is_in_the_dtv),
		cmocka_unit_test(compiled_constants_and_counts_evaluate),
	};
	return cmocka_run_group_tests_name("expr", tests, NULL, NULL);
}
