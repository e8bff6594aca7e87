/* layer: dwarf */
/* Go stacks across the switch to the thread's stack, on programs with known calls; skipped without go. */
#include <stdlib.h>

#include "core/base/text.h"
#include "tests/support/go_program.h"
#include "tests/support/grid.h"
#include "tests/support/opened.h"

#define HEAD                                                                                                           \
	"package main\nimport (\"os\"; \"runtime\"; \"sync\"; \"syscall\")\nvar m sync.Mutex\nvar sink int\n"          \
	"func init() { runtime.LockOSThread(); f, _ := os.Create(\"/dev/null\"); syscall.Dup2(int(f.Fd()), 2) }\n"     \
	"//go:noinline\nfunc outer(n int, p *int) { inner(n + 1, p); sink++ }\n"                                       \
	"func main() { outer(1, nil); os.Exit(2) }\n//go:noinline\n"

static struct xc_process *go_died(const char *more, const char *source)
{
	char line[300];
	return died(go_compiler(more, line), source);
}

/* The names of all frames in one line, and the frame of the function named `wanted`. */
static void walk(struct xc_process *p, const char *wanted, struct xc_text *names, struct xc_frame *found)
{
	struct xc_unwinder *u = xc_unwinder_new(p);
	struct xc_frame frame;
	const char *stop;
	assert_true(xc_unwind_first(u, &p->threads[0], &frame));
	do {
		const struct xc_place *place = xc_debuginfo_place(p, xc_frame_lookup(&frame));
		const char *name = xc_place_function(place, place->level_count ? place->level_count - 1 : 0);
		name = name ? name : "?";
		xc_text_printf(names, " %s", name);
		if (!strcmp(name, wanted))
			*found = frame;
	} while (xc_unwind_step(u, &frame, &frame, &stop));
	xc_unwinder_free(u);
}

static void expect_calls(const char *more, const char *source, const char *calls, struct xc_frame *inner)
{
	struct xc_text names = {0};
	struct xc_process *p = go_died(more, source);
	*inner = (struct xc_frame){.pc = 0};
	walk(p, "main.inner", &names, inner);
	if (!strstr(xc_text_string(&names), calls))
		fail_msg("%s:%s", more, xc_text_string(&names));
	xc_text_fini(&names);
	close_process(p);
}

static void a_goroutine_goes_on_behind_its_thread(void **state)
{
	(void)state;
	static const char source[] = HEAD "func inner(n int, p *int) { m.Unlock(); sink = n }\n";
	struct xc_frame inner;
	check_needs("go");
	GRID(i, GO_FLAGS)
		expect_calls(go_flags[i], source, " main.inner main.outer main.main runtime.main", &inner);
}

/* Only the stack pointer is preserved across Go calls. */
static void registers_of_a_caller_are_not_known(void **state)
{
	(void)state;
	static const char source[] = HEAD "func inner(n int, p *int) { panic(n) }\n";
	struct xc_frame inner;
	check_needs("go");
	expect_calls("", source, " runtime.gopanic main.inner main.outer main.main runtime.main", &inner);
	assert_false(xc_regs_known(&inner.regs, 3)); /* rbx, r12 and more are preserved in C */
	assert_false(xc_regs_known(&inner.regs, 12));
	assert_true(xc_regs_known(&inner.regs, 7));
}

/* A function's first instruction may fault: its pc must not be moved back by one byte. */
static void what_faulted_is_the_instruction_itself(void **state)
{
	(void)state;
	static const char source[] = HEAD "func inner(n int, p *int) { *p = n }\n";
	struct xc_frame inner;
	check_needs("go");
	GRID(i, GO_FLAGS) {
		expect_calls(go_flags[i], source, " runtime.sigpanic main.inner main.outer main.main runtime.main",
			     &inner);
		assert_true(inner.interrupted);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_goroutine_goes_on_behind_its_thread),
		cmocka_unit_test(registers_of_a_caller_are_not_known),
		cmocka_unit_test(what_faulted_is_the_instruction_itself),
	};
	setenv("GOTRACEBACK", "crash", 1);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
