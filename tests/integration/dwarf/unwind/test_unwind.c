/* layer: dwarf */
/* Stepping by call frame information: hand-made stacks over assembled code, whole, damaged and hostile. */
#include "tests/integration/dwarf/unwind/assembled.h"

#include <inttypes.h>

/* start calls caller, which calls leaf, which has pushed rbx. */
static const char chain[] =
	WITH_CFI("leaf", "\tpush %rbx\n\t.cfi_def_cfa_offset 16\n\t.cfi_offset rbx, -16\n\tnop\n\tpop %rbx\n\tret\n")
		WITH_CFI("caller", "\tsub $8,%rsp\n\t.cfi_def_cfa_offset 16\n\tcall leaf\n\tadd $8,%rsp\n\tret\n")
			WITH_CFI("start", "\t.cfi_undefined rip\n\tcall caller\n\thlt\n");

enum { CALLER_RET = 9, LEAF_AT = 1 }; /* bytes from the function's label */

/* leaf at word 32: rbx, return to caller, caller's padding, return to start. */
static struct scene *chain_scene(void)
{
	struct scene *s = assemble(chain);
	s->stack[32] = 0xb0b;
	s->stack[33] = label(s, "caller") + CALLER_RET;
	s->stack[35] = label(s, "start") + START_RET;
	for (int i = 0; i < RIP; i++)
		set_reg(s, i, 0x1000 + (uint64_t)i);
	return s;
}

static struct xc_frame chain_first(struct scene *s)
{
	return first_frame(s, label(s, "leaf") + LEAF_AT, word(32));
}

static void a_chain_by_call_frame_information_restores_what_was_saved(void **state)
{
	(void)state;
	struct scene *s = chain_scene();
	struct xc_frame leaf = chain_first(s), caller = step(s, &leaf), start = step(s, &caller);
	assert_int_equal(leaf.trust, XC_TRUST_CONTEXT);
	assert_true(leaf.interrupted && leaf.cfa_known);
	assert_int_equal(leaf.cfa, word(34));
	assert_int_equal(caller.trust, XC_TRUST_CFI);
	assert_int_equal(caller.pc, label(s, "caller") + CALLER_RET);
	assert_int_equal(caller.index, 1);
	assert_false(caller.interrupted);
	assert_int_equal(reg(&caller, RSP), word(34));
	assert_int_equal(reg(&caller, RBX), 0xb0b);
	assert_int_equal(reg(&caller, R12), 0x100c);
	assert_int_equal(reg(&start, RSP), word(36));
	assert_int_equal(reg(&start, RBX), 0xb0b);
	assert_ptr_equal(start.module, s->module);
	check_text(stop_of(s, &start), "outermost frame");
	end_scene(s);
}

static void registers_that_calls_destroy_are_unknown_in_the_caller(void **state)
{
	(void)state;
	static const int lost[] = {RAX, RDX, RCX, RSI, RDI, 8, 9, 10, 11};
	struct scene *s = chain_scene();
	struct xc_frame leaf = chain_first(s), caller = step(s, &leaf);
	for (size_t i = 0; i < XC_COUNT(lost); i++)
		assert_false(xc_regs_known(&caller.regs, lost[i]));
	assert_null(caller.regs.vector);
	end_scene(s);
}

static void a_thread_without_registers_has_no_frame(void **state)
{
	(void)state;
	struct scene *s = chain_scene();
	struct xc_frame frame;
	s->thread.has_regs = false;
	assert_false(xc_unwind_first(s->unwinder, &s->thread, &frame));
	end_scene(s);
}

static void frame_and_caller_may_be_the_same_struct(void **state)
{
	(void)state;
	const char *stop;
	struct scene *s = chain_scene();
	struct xc_frame at = chain_first(s);
	assert_true(xc_unwind_step(s->unwinder, &at, &at, &stop));
	assert_true(xc_unwind_step(s->unwinder, &at, &at, &stop));
	assert_int_equal(at.pc, label(s, "start") + START_RET);
	assert_false(xc_unwind_step(s->unwinder, &at, &at, &stop));
	assert_int_equal(at.pc, label(s, "start") + START_RET);
	end_scene(s);
}

/* ---- ends of the walk ---- */

static void missing_stack_bytes_are_named_with_address_and_reason(void **state)
{
	(void)state;
	static const struct {
		enum xc_provenance provenance;
		const char *why;
	} cases[] = {{XC_NOT_DUMPED, "not dumped"}, {XC_CUT_SHORT, "cut short"}, {XC_NOT_PRESENT, "0x7ffd00000108"}};
	for (size_t i = 0; i < XC_COUNT(cases); i++) {
		struct scene *s = chain_scene();
		char address[32];
		lay(s, word(33), NULL, 8, cases[i].provenance);
		struct xc_frame leaf = chain_first(s);
		snprintf(address, sizeof address, "0x%" PRIx64, word(33));
		check_text(stop_of(s, &leaf), address);
		check_text(stop_of(s, &leaf), cases[i].why);
		check_text(stop_of(s, &leaf), xc_provenance_text(cases[i].provenance));
		end_scene(s);
	}
}

static void a_saved_register_whose_bytes_are_missing_is_unknown_but_the_stack_goes_on(void **state)
{
	(void)state;
	struct scene *s = chain_scene();
	lay(s, word(32), NULL, 8, XC_NOT_DUMPED);
	struct xc_frame leaf = chain_first(s), caller = step(s, &leaf);
	assert_false(xc_regs_known(&caller.regs, RBX));
	assert_int_equal(caller.pc, label(s, "caller") + CALLER_RET);
	end_scene(s);
}

static void a_stack_pointer_at_the_end_of_memory_stops(void **state)
{
	(void)state;
	struct scene *s = chain_scene();
	struct xc_frame leaf = first_frame(s, label(s, "leaf") + LEAF_AT, UINT64_MAX - 11);
	check_text(stop_of(s, &leaf), "return address");
	end_scene(s);
}

static void a_return_address_outside_code_stops(void **state)
{
	(void)state;
	struct scene *s = chain_scene();
	s->stack[33] = 0x4141414141414141;
	s->stack[35] = 0;
	struct xc_frame leaf = chain_first(s);
	check_text(stop_of(s, &leaf), "0x4141414141414141");
	s->stack[33] = word(7);
	check_text(stop_of(s, &leaf), "not in executable memory");
	s->stack[33] = 0;
	check_text(stop_of(s, &leaf), "outermost frame");
	end_scene(s);
}

static void an_overwritten_return_address_is_stepped_over_and_told(void **state)
{
	(void)state;
	struct scene *s = chain_scene();
	s->stack[33] = 0x4141414141414141;
	struct xc_frame leaf = chain_first(s), start = step(s, &leaf);
	assert_int_equal(start.pc, label(s, "start") + START_RET);
	assert_int_equal(start.trust, XC_TRUST_SCAN);
	assert_int_equal(start.index, 1);
	assert_int_equal(reg(&start, RSP), word(36));
	assert_false(xc_regs_known(&start.regs, RBX)); /* registers saved by leaf may be overwritten, too */
	assert_false(xc_regs_known(&start.regs, RBP));
	check_text(stop_of(s, &start), "outermost frame");
	check_text(stop_of(s, &start), "0x4141414141414141");
	(void)chain_first(s); /* the next walk starts fresh */
	check_text(stop_of(s, &start), "outermost frame");
	assert_null(strstr(stop_of(s, &start), "0x4141"));
	end_scene(s);
}

static void registers_left_by_a_callee_can_be_asked_for(void **state)
{
	(void)state;
	struct scene *s = chain_scene();
	struct xc_frame leaf = chain_first(s), caller = step(s, &leaf);
	uint64_t value = 0;
	assert_false(xc_regs_left(&leaf.regs, RDI, &value)); /* still known */
	assert_true(xc_regs_left(&caller.regs, RDI, &value));
	assert_int_equal(value, 0x1000 + RDI);
	xc_regs_set(&caller.regs, RDI, 1);
	assert_false(xc_regs_left(&caller.regs, RDI, &value));
	end_scene(s);
}

/* ---- hostile call frame information ---- */

static void a_frame_address_that_does_not_rise_ends_the_stack(void **state)
{
	(void)state;
	struct scene *s = assemble(
		WITH_CFI("still", "\t.cfi_def_cfa rsp, 0\n\t.cfi_offset rip, 8\n\tcall still\n\tret\n")
			WITH_CFI("down", "\t.cfi_def_cfa rsp, -64\n\t.cfi_offset rip, 72\n\tcall down\n\tret\n"));
	s->stack[101] = label(s, "still") + 5;
	struct xc_frame still = first_frame(s, label(s, "still") + 5, word(100));
	check_text(stop_of(s, &still), "does not go up");
	s->stack[101] = label(s, "down") + 5;
	struct xc_frame down = first_frame(s, label(s, "down") + 5, word(100));
	check_text(stop_of(s, &down), "does not go up");
	end_scene(s);
}

/* At the last instruction of longjmp() the stack pointer is the caller's already. Only the innermost frame may be so. */
static void a_last_jump_may_leave_the_stack_as_its_caller_has_it(void **state)
{
	(void)state;
	struct scene *s =
		assemble(WITH_CFI("jump", "\t.cfi_def_cfa rsp, 0\n\t.cfi_register rip, rdx\n\tnop\n\tjmp *%rdx\n")
				 WITH_CFI("begin", "\tcall jump\n\tsub $8, %rsp\n\t.cfi_adjust_cfa_offset 8\n\tcall "
						   "begin\n\tret\n"));
	s->stack[101] = label(s, "begin") + 14;
	set_reg(s, RDX, label(s, "begin") + 5);
	struct xc_frame jump = first_frame(s, label(s, "jump") + 1, word(100)), caller = step(s, &jump);
	assert_int_equal(caller.pc, label(s, "begin") + 5);
	assert_int_equal(reg(&caller, RSP), word(100));
	jump.index = 1;
	check_text(stop_of(s, &jump), "does not go up");
	end_scene(s);
}

static void a_return_address_to_itself_ends_with_the_stack(void **state)
{
	(void)state;
	const char *stop = NULL;
	struct scene *s = assemble(WITH_CFI("self", "\tcall self\n\tret\n"));
	for (size_t i = 0; i < STACK_WORDS; i++)
		s->stack[i] = label(s, "self") + 5;
	struct xc_frame frame = first_frame(s, label(s, "self") + 5, word(0));
	assert_int_equal(count_frames(s, frame, 5000, &stop), STACK_WORDS + 1);
	check_text(stop, "0x7ffd00002000");
	end_scene(s);
}

/* Its CFA is [sp], the return address [sp + 8]: the kernel's trampoline loads the registers from a context on the
 * stack. */
static const char trampoline[] = WITH_CFI(
	"trampoline", "\t.cfi_signal_frame\n\t.cfi_escape 0x0f, 3, 0x77, 0, 0x06\n\t.cfi_escape 0x10, 16, 2, 0x77, 8\n"
		      "\tnop\n\tnop\n") WITH_CFI("worker", "\t.cfi_undefined rip\n\tnop\n\tnop\n");

static void handlers_on_other_stacks_are_followed(void **state)
{
	(void)state;
	struct scene *s = assemble(trampoline);
	xc_addr tramp = label(s, "trampoline");
	s->stack[900] = word(100), s->stack[901] = tramp; /* downwards, */
	s->stack[100] = word(500), s->stack[101] = tramp; /* up, */
	s->stack[500] = word(20), s->stack[501] = label(s, "worker");
	struct xc_frame first = first_frame(s, tramp, word(900)), a = step(s, &first), b = step(s, &a),
			worker = step(s, &b);
	assert_true(first.signal && a.signal && b.signal && !worker.signal);
	assert_true(a.interrupted && worker.interrupted);
	assert_int_equal(worker.trust, XC_TRUST_CONTEXT);
	assert_int_equal(worker.pc, label(s, "worker"));
	assert_int_equal(reg(&worker, RSP), word(20));
	end_scene(s);
}

static void trampolines_that_send_each_other_round_are_ended(void **state)
{
	(void)state;
	const char *stop = NULL;
	struct scene *s = assemble(trampoline);
	xc_addr tramp = label(s, "trampoline");
	s->stack[100] = word(500), s->stack[101] = tramp;
	s->stack[500] = word(100), s->stack[501] = tramp;
	struct xc_frame frame = first_frame(s, tramp, word(100));
	assert_in_range(count_frames(s, frame, 100000, &stop), 2, 1000);
	check_text(stop, "signal");
	end_scene(s);
}

/* ---- calls to addresses without code ---- */

static void a_call_to_null_leads_back_to_its_caller(void **state)
{
	(void)state;
	struct scene *s = chain_scene();
	s->stack[33] = label(s, "caller") + CALLER_RET;
	struct xc_frame null = first_frame(s, 0, word(33)), caller = step(s, &null), start = step(s, &caller);
	assert_int_equal(caller.pc, label(s, "caller") + CALLER_RET);
	assert_int_equal(caller.trust, XC_TRUST_SCAN);
	assert_false(caller.interrupted);
	assert_int_equal(reg(&caller, RSP), word(34));
	assert_int_equal(reg(&caller, RBX), 0x1003);
	assert_int_equal(start.pc, label(s, "start") + START_RET);
	end_scene(s);
}

static void a_call_into_data_or_nowhere_leads_back_too(void **state)
{
	(void)state;
	struct scene *s = chain_scene();
	const xc_addr targets[] = {word(800), 0x4141414141414141, 0xffffffffffffffff};
	for (size_t i = 0; i < XC_COUNT(targets); i++) {
		struct xc_frame lost = first_frame(s, targets[i], word(33)), caller = step(s, &lost);
		assert_int_equal(caller.pc, label(s, "caller") + CALLER_RET);
	}
	end_scene(s);
}

static void what_no_call_precedes_is_not_taken_for_a_return_address(void **state)
{
	(void)state;
	struct scene *s = chain_scene();
	struct xc_frame caller;
	const char *stop;
	memset(s->stack, 0, sizeof s->stack);
	s->stack[33] = label(s, "start") + 3; /* inside the call */
	struct xc_frame null = first_frame(s, 0, word(33));
	assert_false(xc_unwind_step(s->unwinder, &null, &caller, &stop));
	check_text(stop, "nothing above looks like a return address");
	end_scene(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_chain_by_call_frame_information_restores_what_was_saved),
		cmocka_unit_test(registers_that_calls_destroy_are_unknown_in_the_caller),
		cmocka_unit_test(a_thread_without_registers_has_no_frame),
		cmocka_unit_test(frame_and_caller_may_be_the_same_struct),
		cmocka_unit_test(missing_stack_bytes_are_named_with_address_and_reason),
		cmocka_unit_test(a_saved_register_whose_bytes_are_missing_is_unknown_but_the_stack_goes_on),
		cmocka_unit_test(a_stack_pointer_at_the_end_of_memory_stops),
		cmocka_unit_test(a_return_address_outside_code_stops),
		cmocka_unit_test(an_overwritten_return_address_is_stepped_over_and_told),
		cmocka_unit_test(registers_left_by_a_callee_can_be_asked_for),
		cmocka_unit_test(a_frame_address_that_does_not_rise_ends_the_stack),
		cmocka_unit_test(a_last_jump_may_leave_the_stack_as_its_caller_has_it),
		cmocka_unit_test(a_return_address_to_itself_ends_with_the_stack),
		cmocka_unit_test(handlers_on_other_stacks_are_followed),
		cmocka_unit_test(trampolines_that_send_each_other_round_are_ended),
		cmocka_unit_test(a_call_to_null_leads_back_to_its_caller),
		cmocka_unit_test(a_call_into_data_or_nowhere_leads_back_too),
		cmocka_unit_test(what_no_call_precedes_is_not_taken_for_a_return_address),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
