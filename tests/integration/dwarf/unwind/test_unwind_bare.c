/* layer: dwarf */
/* Stepping without call frame information: hand-made stacks over assembled code; frame pointers, scans, their cost. */
#include "tests/integration/dwarf/unwind/assembled.h"

#include <time.h>

/* ---- without call frame information ---- */

static const char bare[] =
	FUNCTION("framed", "\tpush %rbp\n\tmov %rsp,%rbp\n\tsub $64,%rsp\n\tcall frameless\n\tleave\n\tret\n")
		FUNCTION("frameless", "\tsub $40,%rsp\n\tnop\n\tadd $40,%rsp\n\tret\n")
			WITH_CFI("start", "\t.cfi_undefined rip\n\tcall framed\n\thlt\n");
enum { FRAMED_RET = 13, FRAMELESS_AT = 4 };

/* frameless at word 10 with 40 bytes of locals; framed keeps rbp at word 30. */
static struct scene *bare_scene(void)
{
	struct scene *s = assemble(bare);
	s->stack[15] = label(s, "framed") + FRAMED_RET;
	s->stack[30] = 0; /* rbp of start */
	s->stack[31] = label(s, "start") + START_RET;
	set_reg(s, RBP, word(30));
	set_reg(s, RBX, 0xb0b);
	return s;
}

static void a_function_without_frame_pointer_is_left_by_a_scan_for_a_call_of_it(void **state)
{
	(void)state;
	struct scene *s = bare_scene();
	s->stack[12] = label(s, "start") + START_RET; /* an old return address, after a call of another function */
	struct xc_frame leaf = first_frame(s, label(s, "frameless") + FRAMELESS_AT, word(10)), framed = step(s, &leaf);
	assert_int_equal(framed.pc, label(s, "framed") + FRAMED_RET);
	assert_int_equal(framed.trust, XC_TRUST_SCAN);
	assert_int_equal(reg(&framed, RSP), word(16));
	assert_false(xc_regs_known(&framed.regs, RBX)); /* something was pushed: perhaps that */
	assert_int_equal(reg(&framed, RBP), word(30));
	end_scene(s);
}

static void a_function_with_frame_pointer_is_left_by_it(void **state)
{
	(void)state;
	struct scene *s = bare_scene();
	s->stack[20] = label(s, "framed") + FRAMED_RET; /* an old one, in framed's locals */
	struct xc_frame framed = first_frame(s, label(s, "framed") + 8, word(22)), start = step(s, &framed);
	assert_int_equal(start.pc, label(s, "start") + START_RET);
	assert_int_equal(start.trust, XC_TRUST_FP);
	assert_int_equal(reg(&start, RSP), word(32));
	assert_int_equal(reg(&start, RBP), 0);
	assert_false(xc_regs_known(&start.regs, RBX));
	check_text(stop_of(s, &start), "outermost");
	end_scene(s);
}

static void a_broken_frame_pointer_is_not_followed(void **state)
{
	(void)state;
	const uint64_t broken[] = {0, 1, word(30) + 1, word(5), UINT64_MAX, UINT64_MAX - 7, 0x4141414141414141};
	for (size_t i = 0; i < XC_COUNT(broken); i++) {
		struct scene *s = bare_scene();
		set_reg(s, RBP, broken[i]);
		struct xc_frame framed = first_frame(s, label(s, "framed") + 8, word(22)), start = step(s, &framed);
		assert_int_equal(start.trust, XC_TRUST_SCAN);
		assert_int_equal(start.pc, label(s, "start") + START_RET);
		end_scene(s);
	}
}

static void a_scan_takes_the_first_return_that_leads_on(void **state)
{
	(void)state;
	struct scene *s =
		assemble(FUNCTION("frameless", "\tsub $40,%rsp\n\tnop\n\tret\n")
				 WITH_CFI("other", "\tsub $8,%rsp\n\t.cfi_def_cfa_offset 16\n\tcall *%rax\n\tret\n")
					 WITH_CFI("start", "\t.cfi_undefined rip\n\tcall *%rax\n\thlt\n"));
	s->stack[12] = label(s, "other") + 6; /* old: its own return address is overwritten */
	s->stack[13] = 0, s->stack[14] = 0x4141;
	s->stack[15] = label(s, "start") + 2;
	struct xc_frame leaf = first_frame(s, label(s, "frameless") + 4, word(10)), start = step(s, &leaf);
	assert_int_equal(start.pc, label(s, "start") + 2);
	end_scene(s);
}

/* HotSpot's interpreter pushes a return address and jumps: no call precedes it. */
static void generated_code_is_left_by_a_chain_that_leads_up(void **state)
{
	(void)state;
	static const uint8_t code[64] = {0x90};
	const xc_addr generated = STACK_LO + 0x100000;
	for (int broken = 0; broken < 2; broken++) {
		struct scene *s = bare_scene();
		add_mapping(s, generated, generated + sizeof code - 1, PF_R | PF_X, NULL);
		lay(s, generated, code, sizeof code, XC_FROM_CORE);
		xc_process_index(s->process);
		s->stack[20] = broken ? word(5) : word(30);
		s->stack[21] = generated + 32;
		set_reg(s, RBP, word(20));
		struct xc_frame inner = first_frame(s, generated + 16, word(10)), outer = step(s, &inner);
		assert_int_equal(outer.pc, broken ? label(s, "framed") + FRAMED_RET : generated + 32);
		assert_int_equal(outer.trust, broken ? XC_TRUST_SCAN : XC_TRUST_FP);
		if (!broken) {
			struct xc_frame start = step(s, &outer);
			assert_int_equal(start.pc, label(s, "start") + START_RET);
			assert_int_equal(start.trust, XC_TRUST_FP);
		}
		end_scene(s);
	}
}

/* Compiled Java uses rbp for other values; the calling function had pushed its caller's frame pointer. */
static void a_scan_finds_the_frame_pointer_that_was_pushed(void **state)
{
	(void)state;
	for (int broken = 0; broken < 2; broken++) {
		struct scene *s = bare_scene();
		s->stack[14] = broken ? word(29) : word(30);
		set_reg(s, RBP, 0x4141);
		struct xc_frame leaf = first_frame(s, label(s, "frameless") + FRAMELESS_AT, word(10)),
				framed = step(s, &leaf);
		assert_int_equal(framed.pc, label(s, "framed") + FRAMED_RET);
		assert_int_equal(reg(&framed, RBP), broken ? 0x4141 : word(30));
		end_scene(s);
	}
}

static double seconds(void)
{
	struct timespec now;
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
	return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

/* A stack of 16 MiB that contains only return addresses into unknown code. */
static void guessing_ends_before_it_takes_long(void **state)
{
	(void)state;
	enum { WORDS = 2 << 20 };
	const char *stop = NULL;
	struct scene *s = assemble(FUNCTION("noise", "\tcall *%rax\n\tret\n"));
	uint64_t *words = xc_alloc(WORDS * sizeof *words);
	for (size_t i = 0; i < WORDS; i++)
		words[i] = i % 500 == 499 ? label(s, "noise") + 2 : 0;
	lay(s, STACK_LO, words, WORDS * sizeof *words, XC_FROM_CORE);
	double from = seconds();
	count_frames(s, first_frame(s, label(s, "noise") + 2, STACK_LO), 1 << 22, &stop);
	for (size_t i = 0; i < WORDS; i++)
		words[i] = label(s, "noise") + 2;
	for (int thread = 0; thread < 20; thread++)
		count_frames(s, first_frame(s, label(s, "noise") + 2, STACK_LO), 1 << 22, &stop);
	assert_true(seconds() - from < 5);
	check_text(stop, "guess");
	end_scene(s);
	free(words);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_function_without_frame_pointer_is_left_by_a_scan_for_a_call_of_it),
		cmocka_unit_test(a_function_with_frame_pointer_is_left_by_it),
		cmocka_unit_test(a_broken_frame_pointer_is_not_followed),
		cmocka_unit_test(generated_code_is_left_by_a_chain_that_leads_up),
		cmocka_unit_test(a_scan_finds_the_frame_pointer_that_was_pushed),
		cmocka_unit_test(a_scan_takes_the_first_return_that_leads_on),
		cmocka_unit_test(guessing_ends_before_it_takes_long),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
