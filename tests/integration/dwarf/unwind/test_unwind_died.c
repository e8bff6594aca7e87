/* layer: dwarf tier: long */
/* Stepping through real stacks, of programs that crash while the test runs. */
#include "tests/support/scene.h"

/* ---- real stacks ---- */

static const char deep[] =
	"#define KEEP __attribute__((noinline, noclone))\n"
	"volatile int zero; char *volatile p;\n"
	"KEEP int crash(int a) { *(volatile int *)0 = a; return a; }\n"
	"KEEP int aligned(int a) { char b[64] __attribute__((aligned(64))); p = b; return crash(a) + p[0]; }\n"
	"KEEP int dynamic(int a) { char b[a]; p = b; return aligned(a + 1) + p[0]; }\n"
	"KEEP int busy(int a, int b, int c, int d, int e, int f) {\n"
	"  int r = dynamic(a + 20); zero = r; return r + a * b - c * d + e * f + dynamic(0) + a * b * c; }\n"
	"int main(void) { return busy(1, 2, 3, 4, 5, zero) + 1; }\n";
static const char *const deep_functions[] = {"crash", "aligned", "dynamic", "busy", "main"};

static void expect_functions(struct xc_process *p, const char *const *names, size_t count)
{
	struct xc_unwinder *u = xc_unwinder_new(p);
	struct xc_frame frame;
	const char *stop = "";
	assert_true(xc_unwind_first(u, &p->threads[0], &frame));
	for (size_t i = 0; i < count; i++) {
		assert_string_equal(function_of(p, &frame), names[i]);
		if (!xc_unwind_step(u, &frame, &frame, &stop) && i + 1 < count)
			fail_msg("the stack ends at %s: %s", names[i], stop);
	}
	while (xc_unwind_step(u, &frame, &frame, &stop))
		assert_in_range(frame.index, 0, 100);
	check_text(stop, "outermost frame");
	xc_unwinder_free(u);
}

static void real_stacks_are_whole_whatever_compiled_them(void **state)
{
	(void)state;
	static const char *const compilers[] = {
		"gcc -g -O0 -x c",
		"gcc -g -O2 -x c",
		"gcc -g -O3 -gdwarf-4 -fomit-frame-pointer -x c",
		"gcc -g -Os -fno-asynchronous-unwind-tables -fno-unwind-tables -x c", /* only .debug_frame */
		"gcc -g -O2 -static -x c",
		"gcc -g -O2 -static-pie -x c",
		"gcc -g -O2 -no-pie -Wl,--no-eh-frame-hdr -x c",
		"clang -g -O0 -x c",
		"clang -g -O2 -gdwarf-4 -x c",
		"clang -g -O2 -fomit-frame-pointer -x c",
	};
	for (size_t i = 0; i < XC_COUNT(compilers); i++) {
		print_message("# %s\n", compilers[i]);
		struct xc_process *p = died(compilers[i], deep);
		expect_functions(p, deep_functions, XC_COUNT(deep_functions));
		close_process(p);
	}
}

static const char handler[] =
	"#include <signal.h>\n#include <stdlib.h>\n"
	"static char stack[65536];\n"
	"__attribute__((noinline)) void work(void) { *(volatile int *)16 = 1; }\n"
	"static void on_fault(int s) { abort(); }\n"
	"static volatile int n; static void on_user(int s) { work(); n++; }\n"
	"int main(void) { stack_t st = {.ss_sp = stack, .ss_size = sizeof stack};\n"
	"  struct sigaction a = {.sa_handler = on_fault, .sa_flags = SA_ONSTACK};\n"
	"  sigaltstack(&st, 0); sigaction(SIGSEGV, &a, 0); signal(SIGUSR1, on_user); raise(SIGUSR1); return 0; }\n";

/* The functions of the whole stack in one line, with <signal> for trampolines. */
static char *all_functions(struct xc_process *p)
{
	struct xc_text text = {0};
	struct xc_unwinder *u = xc_unwinder_new(p);
	struct xc_frame frame;
	const char *stop;
	assert_true(xc_unwind_first(u, &p->threads[0], &frame));
	do
		xc_text_printf(&text, " %s", frame.signal ? "<signal>" : function_of(p, &frame));
	while (frame.index < 100 && xc_unwind_step(u, &frame, &frame, &stop));
	xc_unwinder_free(u);
	return xc_text_take(&text);
}

static void signal_handlers_nest_across_stacks(void **state)
{
	(void)state;
	static const char *const compilers[] = {"gcc -g -x c", "gcc -g -O2 -static -x c", "clang -g -x c"};
	for (size_t i = 0; i < XC_COUNT(compilers); i++) {
		struct xc_process *p = died(compilers[i], handler);
		xc_auto(xc_freep) char *functions = all_functions(p);
		check_text(functions, "abort on_fault <signal> work on_user <signal> ");
		check_text(functions, " main ");
		close_process(p);
	}
}

static void the_interrupted_frame_has_all_its_registers(void **state)
{
	(void)state;
	struct xc_process *p = died("gcc -g -x c", handler);
	struct xc_unwinder *u = xc_unwinder_new(p);
	struct xc_frame frame;
	const char *stop;
	assert_true(xc_unwind_first(u, &p->threads[0], &frame));
	while (!frame.interrupted || frame.index == 0)
		assert_true(xc_unwind_step(u, &frame, &frame, &stop));
	assert_string_equal(function_of(p, &frame), "work");
	for (int i = 0; i <= RIP; i++)
		assert_true(xc_regs_known(&frame.regs, i));
	assert_int_equal(reg(&frame, RAX), 16); /* gcc -O0: the written address */
	xc_unwinder_free(u);
	close_process(p);
}

static void a_real_call_to_null_is_recovered(void **state)
{
	(void)state;
	struct xc_process *p = died("gcc -g -O2 -x c", "void (*volatile f)(void); volatile int n;"
						       "__attribute__((noinline)) void caller(void) { f(); n++; }\n"
						       "int main(void) { caller(); n++; return 0; }\n");
	static const char *const names[] = {"", "caller", "main"};
	expect_functions(p, names, XC_COUNT(names));
	close_process(p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(real_stacks_are_whole_whatever_compiled_them),
		cmocka_unit_test(signal_handlers_nest_across_stacks),
		cmocka_unit_test(the_interrupted_frame_has_all_its_registers),
		cmocka_unit_test(a_real_call_to_null_is_recovered),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
