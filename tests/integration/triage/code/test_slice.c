/* layer: triage */
/* Backward slices through functions in assembler; the text names the definitions. */
#include "tests/support/opened.h"

#include "dwarf/elf/symbol.h"
#include "triage/code/slice.h"

enum { RAX = 0, RDI = 5, RBP = 6, RBX = 3 };

/* The function `work` and an instruction at its label `here`. */
struct opened {
	struct xc_process *process;
	struct xc_arena arena;
	struct xc_body *body;
	size_t at;
};

#define PROGRAM(code)                                                                                                  \
	"#include <stdlib.h>\nvoid work(long, long); void other(void *p) { (void)p; }\n"                               \
	"__asm__(\".text\\n.globl work\\n.type work,@function\\nwork:\\n" code                                         \
	"\\n.globl here\\nhere: mov 0,%rcx\\nleave\\nret\\n.size work,.-work\\n\");\n"                                 \
	"int main(void) { work(8, 0); return 0; }\n"

static struct opened open_work(const char *source)
{
	struct opened o = {.process = died("gcc -O0 -no-pie -x c", source)};
	xc_addr work, here;
	assert_non_null(xc_symbol_find(o.process, "work", NULL, &work));
	assert_non_null(xc_symbol_find(o.process, "here", NULL, &here));
	o.body = xc_body_read(o.process, work, &o.arena);
	assert_non_null(o.body);
	long at = xc_body_at(o.body, here);
	assert_true(at >= 0);
	o.at = (size_t)at;
	return o;
}

static void done(struct opened *o)
{
	xc_arena_fini(&o->arena);
	close_process(o->process);
}

/* Whether there is a definition of this kind, by an instruction of that kind. */
static bool has(const struct opened *o, const struct xc_slice *slice, enum xc_definition_kind kind,
		enum xc_insn_kind by)
{
	for (size_t i = 0; i < slice->count; i++)
		if (slice->items[i].kind == kind &&
		    (kind == XC_DEFINITION_ENTRY || o->body->insns[slice->items[i].insn].kind == by))
			return true;
	return false;
}

static void both_sides_of_a_branch_are_found(void **state)
{
	(void)state;
	struct xc_slice slice;
	struct opened o = open_work(PROGRAM("mov %rdi,%rax\\ntest %rsi,%rsi\\nje here\\ncall other"));
	xc_slice_register(o.body, o.at, RAX, &slice);
	assert_int_equal(slice.count, 2);
	assert_true(has(&o, &slice, XC_DEFINITION_INSN, XC_INSN_MOVE));
	assert_true(has(&o, &slice, XC_DEFINITION_RESULT, XC_INSN_CALL));
	assert_true(slice.sure);
	done(&o);
}

static void padding_behind_a_jump_leads_nowhere(void **state)
{
	(void)state;
	struct xc_slice slice;
	struct opened o = open_work(PROGRAM("mov %rdi,%rax\\ntest %rsi,%rsi\\nje here\\nret\\nnopl 0(%rax)\\nnop"));
	xc_slice_register(o.body, o.at, RAX, &slice);
	assert_true(slice.sure && slice.count == 1 && has(&o, &slice, XC_DEFINITION_INSN, XC_INSN_MOVE));
	done(&o);
	o = open_work(PROGRAM("mov %rdi,%rax\\npush $here\\nret\\nnop")); /* a jump by a table may lead to the nop */
	xc_slice_register(o.body, o.at, RAX, &slice);
	assert_true(slice.count == 1 && slice.items[0].kind == XC_DEFINITION_UNKNOWN);
	done(&o);
}

static void what_calls_clobber_is_not_told(void **state)
{
	(void)state;
	struct xc_slice slice;
	struct opened o = open_work(PROGRAM("mov %rdi,%rbx\\ncall other"));
	xc_slice_register(o.body, o.at, RDI, &slice);
	assert_int_equal(slice.count, 1);
	assert_int_equal(slice.items[0].kind, XC_DEFINITION_UNKNOWN);
	xc_slice_register(o.body, o.at, RBX, &slice); /* calls preserve it */
	assert_true(slice.count == 1 && has(&o, &slice, XC_DEFINITION_INSN, XC_INSN_MOVE));
	done(&o);
}

static void an_argument_comes_from_the_entry(void **state)
{
	(void)state;
	struct xc_slice slice;
	struct opened o = open_work(PROGRAM("1: dec %rsi\\njg 1b"));
	xc_slice_register(o.body, o.at, RDI, &slice);
	assert_int_equal(slice.count, 1);
	assert_int_equal(slice.items[0].kind, XC_DEFINITION_ENTRY);
	assert_int_equal(slice.items[0].reg, RDI);
	done(&o);
}

static void paths_behind_functions_that_do_not_return_are_none(void **state)
{
	(void)state;
	struct xc_slice slice;
	struct opened o = open_work(PROGRAM("xor %eax,%eax\\ntest %rsi,%rsi\\nje here\\ncall abort"));
	xc_slice_register(o.body, o.at, RAX, &slice);
	assert_int_equal(slice.count, 1);
	assert_true(has(&o, &slice, XC_DEFINITION_INSN, XC_INSN_CONSTANT));
	done(&o);
}

static void a_jump_through_a_register_leaves_nothing_sure(void **state)
{
	(void)state;
	struct xc_slice slice;
	struct opened o = open_work(PROGRAM("mov %rdi,%rax\\ntest %rsi,%rsi\\nje here\\njmp *%rdx\\n1: xor %eax,%eax"));
	xc_slice_register(o.body, o.at, RAX, &slice);
	assert_false(slice.sure);
	assert_int_equal(slice.count, 2);
	done(&o);
}

#define FRAME "push %rbp\\nmov %rsp,%rbp\\nsub $32,%rsp\\n"

static void a_slot_is_followed_over_paths_and_calls(void **state)
{
	(void)state;
	struct xc_slice slice;
	struct opened o = open_work(
		PROGRAM(FRAME "movq $0,-8(%rbp)\\ntest %rsi,%rsi\\nje here\\nmov %rdi,-8(%rbp)\\ncall other"));
	xc_slice_slot(o.body, o.at, RBP, -8, 8, &slice);
	assert_int_equal(slice.count, 2);
	assert_true(has(&o, &slice, XC_DEFINITION_INSN, XC_INSN_STORE));
	assert_true(has(&o, &slice, XC_DEFINITION_INSN, XC_INSN_STORE_CONSTANT));
	assert_true(slice.sure);
	done(&o);
}

static void a_slot_that_nothing_sets_is_of_the_entry(void **state)
{
	(void)state;
	struct xc_slice slice;
	struct opened o = open_work(PROGRAM(FRAME "mov %rdi,-16(%rbp)"));
	xc_slice_slot(o.body, o.at, RBP, -8, 8, &slice);
	assert_int_equal(slice.count, 1);
	assert_int_equal(slice.items[0].kind, XC_DEFINITION_ENTRY);
	assert_int_equal(slice.items[0].reg, -1);
	assert_int_equal(slice.items[0].offset, -16); /* below the return address and the saved rbp */
	done(&o);
}

static void half_of_a_slot_is_another_value(void **state)
{
	(void)state;
	struct xc_slice slice;
	struct opened o = open_work(PROGRAM(FRAME "mov %rdi,-8(%rbp)\\nmovl $0,-4(%rbp)"));
	xc_slice_slot(o.body, o.at, RBP, -8, 8, &slice);
	assert_int_equal(slice.count, 1);
	assert_int_equal(slice.items[0].kind, XC_DEFINITION_UNKNOWN);
	done(&o);
}

static void a_slot_whose_address_is_given_away_is_filled(void **state)
{
	(void)state;
	struct xc_slice slice;
	struct opened o = open_work(PROGRAM(FRAME "movq $0,-8(%rbp)\\nlea -8(%rbp),%rdi\\ncall other"));
	xc_slice_slot(o.body, o.at, RBP, -8, 8, &slice);
	assert_int_equal(slice.count, 2);
	assert_int_equal(slice.items[0].kind, XC_DEFINITION_FILLED);
	assert_false(slice.items[0].before);
	assert_int_equal(slice.items[1].kind, XC_DEFINITION_INSN); /* if the call preserves it */
	assert_true(slice.items[1].before);
	assert_false(slice.sure);
	done(&o);
}

static void pushes_move_the_slots_of_the_stack_pointer(void **state)
{
	(void)state;
	struct xc_slice slice;
	struct opened o = open_work(PROGRAM("sub $32,%rsp\\nmov %rdi,8(%rsp)\\npush %rax"));
	xc_slice_slot(o.body, o.at, 7, 16, 8, &slice);
	assert_true(slice.count == 1 && has(&o, &slice, XC_DEFINITION_INSN, XC_INSN_STORE));
	xc_slice_slot(o.body, o.at, 7, 0, 8, &slice);
	assert_int_equal(slice.items[0].kind, XC_DEFINITION_UNKNOWN); /* the pushed value */
	done(&o);
}

/* mov 0x7f7f7f7f(%rip),%rax at an address that cannot have code */
static void addresses_at_the_end_of_memory_decode(void **state)
{
	(void)state;
	static const uint8_t code[] = {0x48, 0x8b, 0x05, 0x7f, 0x7f, 0x7f, 0x7f};
	struct opened o = open_work(PROGRAM("push %rbp\\nmov %rsp,%rbp"));
	struct xc_insn insn;
	assert_true(xc_insn_decode(o.process, code, sizeof code, INT64_MAX - 7, &insn));
	assert_int_equal((uint64_t)insn.memory.displacement, (uint64_t)INT64_MAX + 0x7f7f7f7f);
	done(&o);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(both_sides_of_a_branch_are_found),
		cmocka_unit_test(padding_behind_a_jump_leads_nowhere),
		cmocka_unit_test(what_calls_clobber_is_not_told),
		cmocka_unit_test(an_argument_comes_from_the_entry),
		cmocka_unit_test(paths_behind_functions_that_do_not_return_are_none),
		cmocka_unit_test(a_jump_through_a_register_leaves_nothing_sure),
		cmocka_unit_test(a_slot_is_followed_over_paths_and_calls),
		cmocka_unit_test(a_slot_that_nothing_sets_is_of_the_entry),
		cmocka_unit_test(half_of_a_slot_is_another_value),
		cmocka_unit_test(a_slot_whose_address_is_given_away_is_filled),
		cmocka_unit_test(pushes_move_the_slots_of_the_stack_pointer),
		cmocka_unit_test(addresses_at_the_end_of_memory_decode),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
