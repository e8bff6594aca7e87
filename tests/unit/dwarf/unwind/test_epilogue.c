/* layer: dwarf */
/* Ways out of functions as compilers and generators of code write them, and calls that can or cannot lead somewhere. */
#include "tests/support/compile_program.h"

#include "dwarf/unwind/epilogue.h"
#include "dwarf/unwind/reach.h"

enum { CODE = 0x401000, RBX = 3, RBP = 6, R12 = 12 };

static struct xc_process *process_of(const char *bytes, size_t count)
{
	struct xc_process *process = bare_process();
	struct xc_segment s = {
		.lo = CODE, .hi = CODE + count - 1, .provenance = XC_FROM_CORE, .bytes = (const uint8_t *)bytes};
	xc_space_add(process->space, &s);
	xc_space_seal(process->space);
	process->mappings = xc_alloc(sizeof *process->mappings);
	process->mappings[0] =
		(struct xc_mapping){.lo = CODE, .hi = CODE + 0xfff, .readable = true, .executable = true};
	process->mapping_count = 1;
	xc_process_index(process);
	return process;
}

static struct xc_epilogue read_code(const char *bytes, size_t count, uint64_t at, bool tails)
{
	struct xc_process *process = process_of(bytes, count);
	struct xc_epilogue e;
	xc_epilogue_read(process, CODE + at, CODE, CODE + count, tails, &e);
	assert_in_range(e.read, 0, 1024);
	xc_process_close(process);
	return e;
}

#define READ(bytes, at) read_code(bytes, sizeof bytes - 1, at, false)

static void expect_way(const struct xc_epilogue *e, size_t index, bool by_fp, int64_t ret, int64_t sp)
{
	assert_true(e->count > index);
	assert_int_equal(e->ways[index].ret.by_fp, by_fp);
	assert_int_equal(e->ways[index].ret.at, ret);
	assert_int_equal(e->ways[index].sp.at, sp);
}

static void pops_and_additions_lead_to_the_return_address(void **state)
{
	(void)state;
	/* push %rbx; sub $64,%rsp; call *%rdi; add $64,%rsp; pop %rbx; ret */
	static const char code[] = "\x53\x48\x83\xec\x40\xff\xd7\x48\x83\xc4\x40\x5b\xc3";
	struct xc_epilogue e = READ(code, 7);
	assert_int_equal(e.count, 1);
	expect_way(&e, 0, false, 72, 80);
	assert_int_equal(e.ways[0].restored, 1 << RBX);
	assert_int_equal(e.ways[0].places[RBX].at, 64);
	assert_true(e.ways[0].kept >> RBP & 1);
	e = READ(code, 0); /* what is not pushed yet is no place */
	expect_way(&e, 0, false, 0, 8);
	assert_int_equal(e.ways[0].restored, 0);
	e = READ(code, 12);
	expect_way(&e, 0, false, 0, 8);
}

static void leave_leads_there_by_the_frame_pointer(void **state)
{
	(void)state;
	/* push %rbp; mov %rsp,%rbp; and $-64,%rsp; call *%rdi; leave; ret */
	static const char code[] = "\x55\x48\x89\xe5\x48\x83\xe4\xc0\xff\xd7\xc9\xc3";
	struct xc_epilogue e = READ(code, 10);
	expect_way(&e, 0, true, 8, 16);
	assert_true(e.ways[0].places[RBP].by_fp && e.ways[0].places[RBP].at == 0);
	e = READ(code,
		 0); /* the alignment is not known before it happens, but undone by the frame pointer set before */
	assert_int_equal(e.count, 0);
}

static void branches_loops_and_unknown_code_end_the_walk(void **state)
{
	(void)state;
	/* 0: test %eax,%eax; jne 0; jmp 8; ud2; 8: pop %r12; ret */
	static const char around[] = "\x85\xc0\x75\xfc\xeb\x02\x0f\x0b\x41\x5c\xc3";
	struct xc_epilogue e = READ(around, 0);
	assert_int_equal(e.count, 1);
	expect_way(&e, 0, false, 8, 16);
	assert_int_equal(e.ways[0].restored, 1 << R12);
	static const char endless[] = "\xeb\xfe", no_code[] = "\x06\x06\x06",
			  lost[] = "\x48\x89\xc4\xc3"; /* mov %rax,%rsp */
	assert_int_equal(READ(endless, 0).count, 0);
	assert_int_equal(READ(no_code, 0).count, 0);
	assert_int_equal(READ(lost, 0).count, 0);
	char pushes[4096];
	memset(pushes, 0x50, sizeof pushes);
	e = read_code(pushes, sizeof pushes, 0, true);
	assert_int_equal(e.count, 0);
	assert_int_equal(e.read, 1024);
}

static void tail_calls_count_where_nothing_returns(void **state)
{
	(void)state;
	static const char code[] = "\x48\x83\xc4\x18\xe9\x00\x10\x00\x00"; /* add $24,%rsp; jmp far */
	assert_int_equal(READ(code, 0).count, 0);
	struct xc_epilogue e = read_code(code, sizeof code - 1, 0, true);
	expect_way(&e, 0, false, 24, 32);
}

static void the_depth_is_that_of_all_instructions_before(void **state)
{
	(void)state;
	/* push %rbx; lea (%rip),%rsi; mov %edi,%ebx; sub $16,%rsp; call *%rdi; hlt */
	static const char code[] = "\x53\x48\x8d\x35\x00\x00\x00\x00\x89\xfb\x48\x83\xec\x10\xff\xd7\xf4";
	struct xc_process *process = process_of(code, sizeof code - 1);
	uint64_t depth, cost = 0;
	assert_true(xc_epilogue_depth(process, CODE, CODE + sizeof code - 1, CODE + 16, &depth, &cost));
	assert_int_equal(depth, 24);
	assert_int_equal(cost, 5);
	assert_true(xc_epilogue_depth(process, CODE, CODE + sizeof code - 1, CODE, &depth, &cost));
	assert_int_equal(depth, 0);
	assert_false(xc_epilogue_depth(process, CODE, CODE + sizeof code - 1, CODE + 9, &depth, &cost));
	xc_process_close(process);
}

static bool may(const char *bytes, size_t count, xc_addr target, xc_addr lo, xc_addr hi)
{
	struct xc_process *process = process_of(bytes, count);
	struct xc_function_range callee = {.pc = lo, .lo = lo, .hi = hi};
	uint64_t cost = 0;
	bool answer = xc_reach_may(process, target, &callee, &cost);
	assert_in_range(cost, 0, 2049);
	xc_process_close(process);
	return answer;
}

static void calls_lead_by_jumps_and_not_elsewhere(void **state)
{
	(void)state;
	/* 0: xor %eax,%eax; ret; 16: jmp 32; 32: ret; 48: jmp *%rax; 64: add %rdx,%rax; jmp *%rax; 80: mov %rax,(%rsp); */
	char code[96];
	memset(code, 0xcc, sizeof code);
	memcpy(code, "\x31\xc0\xc3", 3);
	memcpy(code + 16, "\xeb\x0e", 2);
	code[32] = (char)0xc3;
	memcpy(code + 48, "\xff\xe0", 2);
	memcpy(code + 64, "\x48\x01\xd0\xff\xe0", 5);
	memcpy(code + 80, "\x48\x89\x04\x24\xc3", 5);
	xc_addr lo = CODE + 32, hi = CODE + 33;
	assert_true(may(code, sizeof code, CODE + 32, lo, hi));
	assert_true(may(code, sizeof code, CODE + 16, lo, hi));
	assert_true(may(code, sizeof code, CODE + 48, lo, hi));
	assert_true(may(code, sizeof code, CODE + 80, lo, hi));
	assert_true(may(code, sizeof code, 0, lo, hi));
	assert_true(may(code, sizeof code, CODE + 0x200, lo, hi)); /* not readable */
	assert_false(may(code, sizeof code, CODE, lo, hi));
	assert_false(may(code, sizeof code, CODE + 64, lo, hi)); /* a table of its own */
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(pops_and_additions_lead_to_the_return_address),
		cmocka_unit_test(leave_leads_there_by_the_frame_pointer),
		cmocka_unit_test(branches_loops_and_unknown_code_end_the_walk),
		cmocka_unit_test(tail_calls_count_where_nothing_returns),
		cmocka_unit_test(the_depth_is_that_of_all_instructions_before),
		cmocka_unit_test(calls_lead_by_jumps_and_not_elsewhere),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
