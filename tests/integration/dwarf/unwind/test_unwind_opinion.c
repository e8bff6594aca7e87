/* layer: dwarf libs: -lunwind-x86_64 -lunwind */
/* A second opinion: libunwind walks the same cores in the same address space. Every frame that both find by call frame
 * information must have the same pc, sp and preserved registers. */
#include "tests/support/opened.h"

#include <elf.h>
#include <libunwind-x86_64.h>

#include "dwarf/elf/symbol.h"

enum { MAX_FRAMES = 200 };

/* ---- libunwind's view of a process ---- */

struct view {
	struct xc_process *process;
	const struct xc_thread *thread;
};

/* libunwind's own interface for remote unwinding (its include/dwarf.h and src/dwarf/Gfind_proc_info-lsb.c, 1.6.2). */
int _Ux86_64_dwarf_search_unwind_table(unw_addr_space_t as, unw_word_t ip, unw_dyn_info_t *di, unw_proc_info_t *pi,
				       int need_unwind_info, void *arg);

static int access_mem(unw_addr_space_t as, unw_word_t addr, unw_word_t *value, int write, void *arg)
{
	const struct view *v = arg;
	(void)as;
	return !write && xc_space_peek_uint(v->process->space, addr, 8, value) ? 0 : -UNW_EINVAL;
}

static int access_reg(unw_addr_space_t as, unw_regnum_t reg, unw_word_t *value, int write, void *arg)
{
	const struct view *v = arg; /* libunwind uses DWARF's numbers */
	(void)as;
	return !write && xc_regs_get(&v->thread->regs, reg, value) ? 0 : -UNW_EBADREG;
}

static int access_fpreg(unw_addr_space_t as, unw_regnum_t reg, unw_fpreg_t *value, int write, void *arg)
{
	(void)as, (void)reg, (void)value, (void)write, (void)arg;
	return -UNW_EBADREG;
}

static uint64_t word_at(const struct xc_process *p, xc_addr addr, size_t size)
{
	uint64_t value;
	if (!xc_space_peek_uint(p->space, addr, size, &value))
		fail_msg("0x%llx is not readable", (unsigned long long)addr);
	return value;
}

/* .eh_frame_hdr (Linux Standard Base 5.0, 10.6.2): version, three encodings, .eh_frame's address, count, table. */
static bool find_table(const struct xc_process *p, const struct xc_module *m, unw_dyn_info_t *di)
{
	xc_addr phdrs = m->lo + word_at(p, m->lo + 32, 8);
	uint64_t count = word_at(p, m->lo + 56, 2);
	for (uint64_t i = 0; i < count; i++) {
		xc_addr phdr = phdrs + 56 * i;
		if (word_at(p, phdr, 4) != PT_GNU_EH_FRAME)
			continue;
		xc_addr table = m->bias + word_at(p, phdr + 16, 8);
		assert_int_equal(word_at(p, table, 4),
				 0x3b031b01); /* version 1; pcrel sdata4, udata4, datarel sdata4 */
		*di = (unw_dyn_info_t){.start_ip = m->lo, .end_ip = m->hi + 1, .format = UNW_INFO_FORMAT_REMOTE_TABLE};
		di->u.rti.segbase = table;
		di->u.rti.table_data = table + 12;
		di->u.rti.table_len = word_at(p, table + 8, 4) * 8 / sizeof(unw_word_t);
		return true;
	}
	return false;
}

static int find_proc_info(unw_addr_space_t as, unw_word_t ip, unw_proc_info_t *info, int need, void *arg)
{
	const struct view *v = arg;
	const struct xc_module *m = xc_process_module(v->process, ip);
	unw_dyn_info_t di;
	if (!m || !find_table(v->process, m, &di))
		return -UNW_ENOINFO;
	return _Ux86_64_dwarf_search_unwind_table(as, ip, &di, info, need, arg);
}

static void put_unwind_info(unw_addr_space_t as, unw_proc_info_t *info, void *arg)
{
	(void)as, (void)info, (void)arg;
}

static int no_list(unw_addr_space_t as, unw_word_t *addr, void *arg)
{
	(void)as, (void)addr, (void)arg;
	return -UNW_ENOINFO;
}

static int no_resume(unw_addr_space_t as, unw_cursor_t *cursor, void *arg)
{
	(void)as, (void)cursor, (void)arg;
	return -UNW_EINVAL;
}

static int no_name(unw_addr_space_t as, unw_word_t addr, char *buf, size_t size, unw_word_t *offset, void *arg)
{
	(void)as, (void)addr, (void)buf, (void)size, (void)offset, (void)arg;
	return -UNW_ENOINFO;
}

static unw_addr_space_t address_space(void)
{
	static unw_accessors_t accessors = {
		.find_proc_info = find_proc_info,
		.put_unwind_info = put_unwind_info,
		.get_dyn_info_list_addr = no_list,
		.access_mem = access_mem,
		.access_reg = access_reg,
		.access_fpreg = access_fpreg,
		.resume = no_resume,
		.get_proc_name = no_name,
	};
	return unw_create_addr_space(&accessors, 0);
}

/* ---- side by side ---- */

static void compare_registers(const struct xc_process *p, const struct xc_frame *ours, unw_cursor_t *theirs)
{
	static const int preserved[] = {UNW_X86_64_RBX, UNW_X86_64_RBP, UNW_X86_64_R12, UNW_X86_64_R13,
					UNW_X86_64_R14, UNW_X86_64_R15, UNW_X86_64_RSP, UNW_X86_64_RIP};
	for (size_t i = 0; i < XC_COUNT(preserved); i++) {
		unw_word_t want;
		uint64_t got;
		bool they_know = unw_get_reg(theirs, preserved[i], &want) == 0;
		if (!xc_regs_get(&ours->regs, preserved[i], &got)) {
			fail_msg("#%u %s: register %d is unknown to us", ours->index, function_of(p, ours),
				 preserved[i]);
		} else if (!they_know || want != got) {
			fail_msg("#%u %s: register %d is 0x%llx, libunwind %s 0x%llx", ours->index,
				 function_of(p, ours), preserved[i], (unsigned long long)got,
				 they_know ? "says" : "does not know", they_know ? (unsigned long long)want : 0);
		}
	}
}

/* The number of frames on which both agree. Tail calls come from call sites, which libunwind does not use. */
static unsigned compare_stacks(struct xc_process *p, const struct xc_thread *thread)
{
	struct view view = {.process = p, .thread = thread};
	unw_addr_space_t as = address_space();
	struct xc_unwinder *u = xc_unwinder_new(p);
	struct xc_frame frame;
	unw_cursor_t cursor;
	const char *stop = "";
	unsigned count = 0;
	assert_non_null(as);
	assert_int_equal(unw_init_remote(&cursor, as, &view), 0);
	assert_true(xc_unwind_first(u, thread, &frame));
	bool more = true;
	while (more && count < MAX_FRAMES) {
		compare_registers(p, &frame, &cursor);
		count++;
		do
			more = xc_unwind_step(u, &frame, &frame, &stop);
		while (more && frame.tail_call);
		if (more && frame.trust != XC_TRUST_CFI && frame.trust != XC_TRUST_CONTEXT)
			fail_msg("#%u %s is a guess", frame.index, function_of(p, &frame));
		if (more && unw_step(&cursor) <= 0)
			fail_msg("libunwind ends before #%u %s", frame.index, function_of(p, &frame));
	}
	assert_string_equal(stop, "outermost frame");
	xc_unwinder_free(u);
	unw_destroy_addr_space(as);
	return count;
}

static void expect_agreement(const char *compiler, const char *source, unsigned at_least)
{
	struct xc_process *p = died(compiler, source);
	unsigned count = compare_stacks(p, &p->threads[0]);
	if (count < at_least)
		fail_msg("%s: %u frames only", compiler, count);
	close_process(p);
}

#define KEEP "__attribute__((noinline, noclone)) "

/* (Programs linked -static have no table for libunwind's search.) Dynamic and realigned stacks, all callee-saved
 * registers in use, a callback through libc, recursion. */
static const char shapes[] =
	"#include <stdlib.h>\n#include <string.h>\n#include <alloca.h>\n"
	"int *volatile null; volatile int sink; char *volatile p;\n" KEEP
	"int crash(int a) { *null = a; return a + sink; }\n" KEEP
	"int realigned(int a) { char b[128] __attribute__((aligned(64))); p = b; memset(b, a, sizeof b); return "
	"crash(a) + p[3]; }\n" KEEP "int dynamic(size_t n) { char *b = alloca(n); p = b; memset(b, 1, n); return "
	"realigned((int)n) + p[n - 1]; }\n" KEEP
	"long busy(long a, long b, long c, long d, long e, long f) { long r = dynamic((size_t)(a + b)); sink = r;\n"
	"  r += a * b - c * d + e * f; return r + (dynamic((size_t)(c + d)) ^ a ^ b ^ c ^ d ^ e ^ f); }\n"
	"int compare(const void *x, const void *y) { return (int)busy(10, 20, 30, 40, 50, 60); }\n" KEEP
	"int recurse(int depth, int *v) { if (!depth) { qsort(v, 3, sizeof *v, compare); return v[0]; }\n"
	"  return recurse(depth - 1, v) + depth + sink; }\n"
	"int main(void) { int v[3] = {3, 1, 2}; return recurse(5, v) + sink; }\n";

static void every_shape_of_frame_is_left_alike(void **state)
{
	(void)state;
	static const char *const compilers[] = {
		"gcc -g -O0 -x c",
		"gcc -g -O1 -x c",
		"gcc -g -O2 -x c",
		"gcc -g -O3 -x c",
		"gcc -g -Os -x c",
		"gcc -g -O2 -fomit-frame-pointer -static-pie -x c",
		"gcc -g -O2 -fno-omit-frame-pointer -no-pie -x c",
		"clang -g -O0 -x c",
		"clang -g -O2 -x c",
		"clang -g -Os -fno-omit-frame-pointer -x c",
	};
	for (size_t i = 0; i < XC_COUNT(compilers); i++) {
		print_message("# %s\n", compilers[i]);
		expect_agreement(compilers[i], shapes, 14);
	}
}

static void calls_inside_the_c_library_are_left_alike(void **state)
{
	(void)state;
	expect_agreement("gcc -g -O2 -x c",
			 "#include <stdlib.h>\n" KEEP "int work(int a) { abort(); return a; }\n"
			 "int main(int c, char **v) { return work(c) + 1; }\n",
			 5);
	expect_agreement("gcc -g -O2 -x c",
			 "#include <stdio.h>\nint main(void) { char *volatile s = (char *)16; return printf(\"%s%d\", "
			 "s, 1); }\n",
			 4);
	expect_agreement("g++ -g -O2 -x c++", "int main() { throw 1; }\n", 7);
}

static void signal_trampolines_are_crossed_alike(void **state)
{
	(void)state;
	expect_agreement("gcc -g -O2 -x c",
			 "#include <signal.h>\n#include <stdlib.h>\nstatic char stack[65536]; volatile int sink; int "
			 "*volatile null;\n" KEEP
			 "void work(int a) { *null = a; sink++; }\nstatic void on(int s) { sink++; abort(); }\n"
			 "int main(void) { stack_t st = {.ss_sp = stack, .ss_size = sizeof stack};\n"
			 " struct sigaction a = {.sa_handler = on, .sa_flags = SA_ONSTACK}; sigaltstack(&st, 0);\n"
			 " sigaction(SIGSEGV, &a, 0); work(7); return sink; }\n",
			 7);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_shape_of_frame_is_left_alike),
		cmocka_unit_test(calls_inside_the_c_library_are_left_alike),
		cmocka_unit_test(signal_trampolines_are_crossed_alike),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
