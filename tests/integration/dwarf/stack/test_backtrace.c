/* layer: dwarf */
/* Stack data for `analyze`: the program's own frames, and the threads that are shown together. */
#include "tests/support/opened.h"

#include "core/report/report.h"
#include "dwarf/stack/backtrace.h"

/* A crash five calls deep. Threads are made from its callers: two at the second and third call, which differ only in
 * depth, and one in main. */
static const char source[] =
	"static int down(int depth) { if (depth) return down(depth - 1) + 1; *(volatile int *)0 = 1; return 0; }\n"
	"int main(void) { return down(5); }\n";

enum { THREADS = 5 };

struct taken {
	struct xc_process *process;
	struct xc_report *report;
	const struct xc_stacks *stacks;
	struct xc_thread threads[THREADS];
};

static void make_threads(struct taken *t)
{
	static const unsigned callers[THREADS] = {0, 2, 2, 3, 6};
	struct xc_unwinder *unwinder = xc_unwinder_new(t->process);
	struct xc_frame frame;
	const char *stop;
	assert_true(xc_unwind_first(unwinder, &t->process->threads[0], &frame));
	for (unsigned i = 0; i < THREADS; i++) {
		while (frame.index < callers[i])
			assert_true(xc_unwind_step(unwinder, &frame, &frame, &stop));
		t->threads[i] = t->process->threads[0];
		t->threads[i].tid += (int)i;
		t->threads[i].crashed = i == 0;
		t->threads[i].regs = frame.regs;
	}
	xc_unwinder_free(unwinder);
	free(t->process->threads);
	t->process->threads = memcpy(xc_alloc(sizeof t->threads), t->threads, sizeof t->threads);
	t->process->thread_count = THREADS;
}

static struct taken *take(struct xc_backtrace_options options)
{
	struct taken *t = xc_alloc(sizeof *t);
	t->process = died("gcc -g -O0 -x c", source);
	t->report = xc_report_new("bt");
	make_threads(t);
	struct xc_section *s = xc_report_section(t->report, "bt", "Stacks");
	CHECK_OK(xc_backtrace(s, t->process, &options));
	t->stacks = s->items->stacks;
	return t;
}

static void done(struct taken *t)
{
	xc_report_free(t->report);
	close_process(t->process);
	free(t);
}

static size_t largest_group(const struct xc_stacks *stacks)
{
	size_t largest = 0;
	for (size_t i = 0; i < stacks->group_count; i++)
		largest = stacks->groups[i].member_count > largest ? stacks->groups[i].member_count : largest;
	return largest;
}

static void equal_stacks_are_told_together(void **state)
{
	(void)state;
	struct taken *t = take((struct xc_backtrace_options){.choice = XC_THREADS_OTHERS, .group = true});
	assert_int_equal(t->stacks->stack_count, 4);
	assert_int_equal(t->stacks->group_count, 3);
	assert_int_equal(largest_group(t->stacks), 2);
	done(t);
}

static void in_brief_the_depth_of_recursion_does_not_tell_stacks_apart(void **state)
{
	(void)state;
	struct taken *t =
		take((struct xc_backtrace_options){.choice = XC_THREADS_OTHERS, .group = true, .brief = true});
	assert_true(t->stacks->brief);
	assert_int_equal(t->stacks->group_count, 2);
	assert_int_equal(largest_group(t->stacks), 3);
	done(t);
}

static const struct xc_stack_row *row_of(const struct xc_stack *stack, const char *function)
{
	for (size_t i = 0; i < stack->row_count; i++)
		if (stack->rows[i].function && strcmp(stack->rows[i].function, function) == 0)
			return &stack->rows[i];
	fail_msg("no frame %s", function);
	return NULL;
}

static void the_runtimes_frames_are_marked(void **state)
{
	(void)state;
	struct taken *t = take((struct xc_backtrace_options){.choice = XC_THREADS_CRASHED});
	const struct xc_stack *crashed = &t->stacks->stacks[0];
	assert_false(row_of(crashed, "main")->runtime || row_of(crashed, "main")->startup);
	assert_false(crashed->rows[0].runtime || crashed->rows[0].startup);
	const struct xc_stack_row *caller = row_of(crashed, "main") + 1;
	assert_true(caller->runtime && caller->startup);
	assert_true(crashed->rows[crashed->row_count - 1].startup);
	done(t);
}

/* A signal's trampoline without a symbol, behind a function whose symbol has no size; no call frame information tells
 * them apart. The argument: it has a symbol. */
static const char trampoline[] =
	"#include <signal.h>\n#include <string.h>\n#include <sys/syscall.h>\n#include <unistd.h>\n"
	"asm(\".text\\n.globl before\\n.type before,@function\\nbefore: .skip 32,0x90; ret\\n.balign 16\\n\"\n"
	"    NAME \": mov $15,%rax; syscall\\n.balign 16\\n.globl behind\\n.type behind,@function\\nbehind: ret\\n\"\n"
	"    \".data\\n.globl restorer\\nrestorer: .quad \" NAME \"\\n.text\\n\");\n"
	"extern void (*restorer)(void); int *volatile null;\n"
	"static void handler(int s) { *null = s; }\n"
	"int main(void) { struct { void (*f)(int); unsigned long flags; void (*r)(void); unsigned long mask; } a =\n"
	"  {handler, 0x04000000, restorer, 0};\n"
	"  syscall(SYS_rt_sigaction, SIGUSR1, &a, 0, 8); syscall(SYS_tgkill, getpid(), getpid(), SIGUSR1); return 0; "
	"}\n";

static void a_trampoline_has_no_name_of_another_function(void **state)
{
	(void)state;
	static const struct {
		const char *compiler, *name;
	} cases[] = {
		{"gcc -g -O1 -no-pie -DNAME='\".Lown\"' -x c", NULL},
		{"gcc -g -O1 -no-pie -DNAME='\"own_restorer\"' -x c", "own_restorer"},
	};
	for (size_t i = 0; i < XC_COUNT(cases); i++) {
		struct taken t = {.process = died(cases[i].compiler, trampoline), .report = xc_report_new("bt")};
		struct xc_backtrace_options options = {.choice = XC_THREADS_CRASHED};
		struct xc_section *s = xc_report_section(t.report, "bt", "Stacks");
		CHECK_OK(xc_backtrace(s, t.process, &options));
		const struct xc_stack *stack = &s->items->stacks->stacks[0];
		const struct xc_stack_row *row = row_of(stack, "handler") + 1;
		assert_true(row->signal);
		if (cases[i].name)
			assert_string_equal(row->function, cases[i].name);
		else
			assert_null(row->function);
		assert_non_null(row_of(stack, "main"));
		xc_report_free(t.report);
		close_process(t.process);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_trampoline_has_no_name_of_another_function),
		cmocka_unit_test(equal_stacks_are_told_together),
		cmocka_unit_test(in_brief_the_depth_of_recursion_does_not_tell_stacks_apart),
		cmocka_unit_test(the_runtimes_frames_are_marked),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
