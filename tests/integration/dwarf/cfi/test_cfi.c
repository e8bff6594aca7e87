/* layer: dwarf */
/* Rows of call frame information: assembled with .cfi directives, looked up by label. */
#include "tests/support/scene.h"

#include "dwarf/cfi/cfi.h"

struct asked {
	struct scene *scene;
	struct xc_cfi *cfi;
	const struct xc_cfi_row *row;
	struct xc_regs regs;
};

/* The row at label `at` of an assembled function; rsp and rbp are 0x100 bytes into the stack. */
static struct asked ask(const char *text)
{
	struct asked a = {.scene = assemble(text)};
	a.cfi = xc_cfi_new(a.scene->process);
	a.row = xc_cfi_row(a.cfi, label(a.scene, "at"));
	xc_regs_set(&a.regs, RSP, word(32));
	xc_regs_set(&a.regs, RBP, word(40));
	return a;
}

static void done(struct asked *a)
{
	xc_cfi_free(a->cfi);
	end_scene(a->scene);
}

static xc_addr cfa_of(const struct asked *a)
{
	xc_addr cfa, missing;
	assert_true(xc_cfi_cfa(a->scene->process, a->row, &a->regs, &cfa, &missing));
	return cfa;
}

/* Returns false and sets *missing to the missing data. */
static bool value_of(const struct asked *a, int number, uint64_t *value, xc_addr *missing)
{
	return xc_cfi_register(a->scene->process, a->row, number, &a->regs, word(50), value, missing);
}

#define FUNCTION(body) "\t.globl at\n\t.type f,@function\nf:\t.cfi_startproc\n" body "at:\tnop\n\tret\n\t.cfi_endproc\n"

static void a_row_tells_cfa_and_return_address(void **state)
{
	(void)state;
	struct asked a = ask(FUNCTION("\tpush %rbx\n\t.cfi_def_cfa_offset 16\n\t.cfi_offset rbx, -16\n"));
	assert_true(a.row->found);
	assert_false(a.row->signal);
	assert_int_equal(a.row->cfa_reg, RSP);
	assert_int_equal(a.row->cfa_offset, 16);
	assert_int_equal(a.row->return_reg, RIP);
	assert_int_equal(a.row->rules[RIP].kind, XC_CFI_AT_CFA);
	assert_int_equal(a.row->rules[RIP].offset, -8);
	assert_int_equal(a.row->rules[RBX].kind, XC_CFI_AT_CFA);
	assert_int_equal(a.row->rules[RBX].offset, -16);
	assert_int_equal(cfa_of(&a), word(34));
	done(&a);
}

static void registers_that_calls_preserve_are_the_same_and_the_others_lost(void **state)
{
	(void)state;
	static const int kept[] = {RBX, RBP, 12, 13, 14, 15}, lost[] = {RAX, RDX, RCX, RSI, RDI, 8, 9, 10, 11};
	struct asked a = ask(FUNCTION(""));
	for (size_t i = 0; i < XC_COUNT(kept); i++)
		assert_int_equal(a.row->rules[kept[i]].kind, XC_CFI_SAME);
	for (size_t i = 0; i < XC_COUNT(lost); i++)
		assert_int_equal(a.row->rules[lost[i]].kind, XC_CFI_LOST);
	done(&a);
}

static void the_stack_pointer_of_the_caller_is_the_cfa(void **state)
{
	(void)state;
	uint64_t value;
	xc_addr missing;
	struct asked a = ask(FUNCTION(""));
	assert_true(value_of(&a, RSP, &value, &missing));
	assert_int_equal(value, word(50));
	done(&a);
}

static void every_kind_of_rule_is_told_and_applied(void **state)
{
	(void)state;
	uint64_t value;
	xc_addr missing;
	struct asked a = ask(FUNCTION(
		"\t.cfi_register rbx, rbp\n\t.cfi_undefined r13\n\t.cfi_escape 0x14, 14, 2\n")); /* val_offset */
	assert_int_equal(a.row->rules[RBX].kind, XC_CFI_REGISTER);
	assert_int_equal(a.row->rules[13].kind, XC_CFI_LOST);
	assert_int_equal(a.row->rules[14].kind, XC_CFI_CFA_PLUS);
	assert_true(value_of(&a, RBX, &value, &missing));
	assert_int_equal(value, word(40));
	assert_true(value_of(&a, 14, &value, &missing));
	assert_int_equal(value, word(50) - 16); /* x86-64 factors data by -8 */
	assert_false(value_of(&a, 13, &value, &missing));
	assert_int_equal(missing, UINT64_MAX);
	done(&a);
}

static void an_expression_yields_an_address_or_a_value(void **state)
{
	(void)state;
	uint64_t value;
	xc_addr missing;
	/* DW_CFA_expression r12: {breg6 -8}; DW_CFA_val_expression r13: {breg6 24} */
	struct asked a =
		ask(FUNCTION("\t.cfi_escape 0x10, 12, 2, 0x76, 0x78\n\t.cfi_escape 0x16, 13, 2, 0x76, 0x18\n"));
	a.scene->stack[39] = 0xabcdef;
	assert_true(value_of(&a, 12, &value, &missing));
	assert_int_equal(value, 0xabcdef);
	assert_true(value_of(&a, 13, &value, &missing));
	assert_int_equal(value, word(43));
	done(&a);
}

static void an_expression_for_the_cfa_reads_memory(void **state)
{
	(void)state;
	/* DW_CFA_def_cfa_expression {breg6 0, deref, plus_uconst 16} */
	struct asked a = ask(FUNCTION("\t.cfi_escape 0x0f, 5, 0x76, 0, 0x06, 0x23, 16\n"));
	a.scene->stack[40] = 0x5000;
	assert_int_equal(cfa_of(&a), 0x5010);
	done(&a);
}

/* As in the address arithmetic of realigned stacks: -1 and 1 shifted right, with sign and beyond their width. */
static void shifts_keep_the_sign_and_end_at_the_width(void **state)
{
	(void)state;
	static const struct {
		const char *body;
		uint64_t cfa;
	} cases[] = {
		{FUNCTION("\t.cfi_escape 0x0f, 4, 0x09, 0xf0, 0x32, 0x26\n"), UINT64_MAX - 3},  /* -16 >> 2 */
		{FUNCTION("\t.cfi_escape 0x0f, 5, 0x09, 0xf0, 0x08, 63, 0x26\n"), UINT64_MAX},  /* by 63 */
		{FUNCTION("\t.cfi_escape 0x0f, 5, 0x09, 0xf0, 0x08, 200, 0x26\n"), UINT64_MAX}, /* by 200 */
		{FUNCTION("\t.cfi_escape 0x0f, 5, 0x08, 0xf0, 0x08, 200, 0x26\n"), 0},          /* 240 by 200 */
		{FUNCTION("\t.cfi_escape 0x0f, 5, 0x09, 0xf0, 0x08, 64, 0x25\n"), 0},           /* without sign */
	};
	for (size_t i = 0; i < XC_COUNT(cases); i++) {
		struct asked a = ask(cases[i].body);
		assert_int_equal(cfa_of(&a), cases[i].cfa);
		done(&a);
	}
}

/* The linker's own, for each PLT entry: rsp + 8, and 8 more from the eleventh byte on. */
static void the_rule_of_a_plt_entry_depends_on_where_in_it_control_stands(void **state)
{
	(void)state;
	struct asked a =
		ask(FUNCTION("\t.cfi_escape 0x0f, 11, 0x77, 8, 0x80, 0, 0x3f, 0x1a, 0x3b, 0x2a, 0x33, 0x24, 0x22\n"));
	for (uint64_t offset = 0; offset < 16; offset++) {
		xc_regs_set(&a.regs, RIP, 0x401020 + offset);
		assert_int_equal(cfa_of(&a), word(32) + 8 + (offset >= 11 ? 8 : 0));
	}
	done(&a);
}

static void unreadable_memory_is_named_as_what_is_missing(void **state)
{
	(void)state;
	xc_addr cfa, missing = 0;
	uint64_t value;
	struct asked a = ask(FUNCTION("\t.cfi_escape 0x0f, 3, 0x76, 0, 0x06\n\t.cfi_offset r12, -8\n"));
	xc_regs_set(&a.regs, RBP, 0x1234);
	assert_false(xc_cfi_cfa(a.scene->process, a.row, &a.regs, &cfa, &missing));
	assert_int_equal(missing, 0x1234);
	assert_false(xc_cfi_register(a.scene->process, a.row, 12, &a.regs, 0x9000, &value, &missing));
	assert_int_equal(missing, 0x8ff8);
	done(&a);
}

/* Memory read before is not reported as missing. */
static void a_register_that_is_not_known_is_no_missing_address(void **state)
{
	(void)state;
	xc_addr cfa, missing = 0;
	struct asked a = ask(FUNCTION("\t.cfi_escape 0x0f, 6, 0x76, 0, 0x06, 0x73, 0, 0x22\n")); /* [rbp] + rbx */
	assert_false(xc_cfi_cfa(a.scene->process, a.row, &a.regs, &cfa, &missing));
	assert_int_equal(missing, UINT64_MAX);
	done(&a);
}

static void a_broken_expression_has_no_value(void **state)
{
	(void)state;
	static const char *const bodies[] = {
		FUNCTION("\t.cfi_escape 0x0f, 1, 0x22\n"),                /* plus of nothing */
		FUNCTION("\t.cfi_escape 0x0f, 2, 0x31, 0x22\n"),          /* plus of one */
		FUNCTION("\t.cfi_escape 0x0f, 1, 0x06\n"),                /* deref of nothing */
		FUNCTION("\t.cfi_escape 0x0f, 2, 0x23, 8\n"),             /* plus_uconst of nothing */
		FUNCTION("\t.cfi_escape 0x0f, 1, 0x13\n"),                /* drop of nothing */
		FUNCTION("\t.cfi_escape 0x0f, 1, 0x96\n"),                /* nop: nothing is left */
		FUNCTION("\t.cfi_escape 0x0f, 4, 0x77, 0, 0x94, 0\n"),    /* deref_size 0 */
		FUNCTION("\t.cfi_escape 0x0f, 4, 0x77, 0, 0x94, 9\n"),    /* deref_size 9 */
		FUNCTION("\t.cfi_escape 0x0f, 4, 0x92, 0xff, 0x7f, 0\n"), /* bregx 16383 */
		FUNCTION("\t.cfi_escape 0x0f, 1, 0x9c\n"),                /* the CFA by the CFA */
	};
	for (size_t i = 0; i < XC_COUNT(bodies); i++) {
		xc_addr cfa, missing;
		struct asked a = ask(bodies[i]);
		if (a.row->found && xc_cfi_cfa(a.scene->process, a.row, &a.regs, &cfa, &missing))
			fail_msg("expression %zu gives 0x%llx", i, (unsigned long long)cfa);
		done(&a);
	}
}

static void an_expression_that_never_ends_is_given_up(void **state)
{
	(void)state;
	xc_addr cfa, missing;
	struct asked deep = ask(FUNCTION("\t.cfi_escape 0x0f, 40\n\t.rept 40\n\t.cfi_escape 0x31\n\t.endr\n"));
	assert_false(deep.row->found && xc_cfi_cfa(deep.scene->process, deep.row, &deep.regs, &cfa, &missing));
	done(&deep);
	/* 1,500 × nop after a value: above the step limit, so there is no value rather than an intermediate one */
	struct asked longer =
		ask(FUNCTION("\t.cfi_escape 0x0f, 0xde, 0x0b, 0x77, 0\n\t.rept 1500\n\t.cfi_escape 0x96\n\t.endr\n"));
	assert_true(longer.row->found);
	assert_false(xc_cfi_cfa(longer.scene->process, longer.row, &longer.regs, &cfa, &missing));
	done(&longer);
}

static void a_cfa_from_an_unknown_register_is_unknown(void **state)
{
	(void)state;
	xc_addr cfa, missing;
	struct asked a = ask(FUNCTION("\t.cfi_def_cfa rbp, 16\n"));
	assert_int_equal(cfa_of(&a), word(42));
	xc_regs_forget(&a.regs, RBP);
	assert_false(xc_cfi_cfa(a.scene->process, a.row, &a.regs, &cfa, &missing));
	assert_int_equal(missing, UINT64_MAX);
	done(&a);
}

static void a_signal_trampoline_is_told_by_its_augmentation(void **state)
{
	(void)state;
	struct asked a = ask("\t.globl at\nf:\t.cfi_startproc\n\t.cfi_signal_frame\nat:\tnop\n\tret\n\t.cfi_endproc\n");
	assert_true(a.row->signal);
	done(&a);
}

static void debug_frame_serves_where_there_is_no_eh_frame(void **state)
{
	(void)state;
	struct asked a = ask("\t.cfi_sections .debug_frame\n" FUNCTION("\tpush %rbx\n\t.cfi_def_cfa_offset 16\n"));
	assert_true(a.row->found);
	assert_int_equal(a.row->cfa_offset, 16);
	done(&a);
}

static void an_address_without_information_has_an_empty_row(void **state)
{
	(void)state;
	struct asked a = ask(FUNCTION("") "\t.globl bare\nbare:\tnop\n\tret\n");
	assert_false(xc_cfi_row(a.cfi, label(a.scene, "bare"))->found);
	assert_false(xc_cfi_row(a.cfi, 0)->found);
	assert_false(xc_cfi_row(a.cfi, UINT64_MAX)->found);
	assert_false(xc_cfi_row(a.cfi, STACK_LO)->found);
	done(&a);
}

/* libdw allocated an entry for every register up to the number: gigabytes. */
static void rules_of_registers_that_are_not_there_are_passed_by(void **state)
{
	(void)state;
	struct asked a = ask(FUNCTION("\t.cfi_escape 0x14, 0xfe, 0xff, 0xff, 0xff, 0x0f, 1\n"
				      "\t.cfi_escape 0x07, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1\n"
				      "\t.cfi_def_cfa_offset 24\n"));
	assert_true(a.row->found);
	assert_int_equal(a.row->cfa_offset, 24);
	assert_int_equal(a.row->rules[RBX].kind, XC_CFI_SAME);
	done(&a);
}

static void an_entry_with_an_unknown_instruction_tells_nothing(void **state)
{
	(void)state;
	struct asked a = ask(FUNCTION("\t.cfi_escape 0x3f\n\t.cfi_def_cfa_offset 24\n"));
	assert_false(a.row->found);
	done(&a);
	a = ask(FUNCTION("\t.cfi_escape 0x0b\n")); /* restore_state of nothing */
	assert_false(a.row->found);
	done(&a);
}

/* After the first nop: GNU as moves directives at a function's start to the common entry. */
static void states_are_remembered_and_rules_restored(void **state)
{
	(void)state;
	struct asked a = ask(FUNCTION("\tnop\n\t.cfi_offset rbx, -16\n\t.cfi_remember_state\n\tnop\n\t.cfi_def_cfa "
				      "rbp, 16\n\t.cfi_restore rbx\n"
				      "\tnop\n\t.cfi_restore_state\n"));
	const struct xc_cfi_row *between = xc_cfi_row(a.cfi, label(a.scene, "at") - 1);
	assert_int_equal(between->cfa_reg, RBP);
	assert_int_equal(between->rules[RBX].kind, XC_CFI_SAME);
	assert_int_equal(a.row->cfa_reg, RSP);
	assert_int_equal(a.row->rules[RBX].kind, XC_CFI_AT_CFA);
	done(&a);
}

static void rows_are_kept_by_address(void **state)
{
	(void)state;
	struct asked a = ask(FUNCTION("\t.rept 3000\n\tnop\n\t.endr\n"));
	xc_addr last = label(a.scene, "at");
	const struct xc_cfi_row *rows[3000];
	for (size_t i = 0; i < 3000; i++)
		rows[i] = xc_cfi_row(a.cfi, last - i);
	for (size_t i = 0; i < 3000; i++) {
		assert_true(rows[i]->found);
		assert_ptr_equal(xc_cfi_row(a.cfi, last - i), rows[i]);
	}
	done(&a);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_row_tells_cfa_and_return_address),
		cmocka_unit_test(registers_that_calls_preserve_are_the_same_and_the_others_lost),
		cmocka_unit_test(the_stack_pointer_of_the_caller_is_the_cfa),
		cmocka_unit_test(every_kind_of_rule_is_told_and_applied),
		cmocka_unit_test(an_expression_yields_an_address_or_a_value),
		cmocka_unit_test(an_expression_for_the_cfa_reads_memory),
		cmocka_unit_test(shifts_keep_the_sign_and_end_at_the_width),
		cmocka_unit_test(the_rule_of_a_plt_entry_depends_on_where_in_it_control_stands),
		cmocka_unit_test(unreadable_memory_is_named_as_what_is_missing),
		cmocka_unit_test(a_register_that_is_not_known_is_no_missing_address),
		cmocka_unit_test(a_broken_expression_has_no_value),
		cmocka_unit_test(an_expression_that_never_ends_is_given_up),
		cmocka_unit_test(a_cfa_from_an_unknown_register_is_unknown),
		cmocka_unit_test(a_signal_trampoline_is_told_by_its_augmentation),
		cmocka_unit_test(debug_frame_serves_where_there_is_no_eh_frame),
		cmocka_unit_test(an_address_without_information_has_an_empty_row),
		cmocka_unit_test(rules_of_registers_that_are_not_there_are_passed_by),
		cmocka_unit_test(an_entry_with_an_unknown_instruction_tells_nothing),
		cmocka_unit_test(states_are_remembered_and_rules_restored),
		cmocka_unit_test(rows_are_kept_by_address),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
