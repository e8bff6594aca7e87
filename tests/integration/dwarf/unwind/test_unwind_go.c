/* layer: dwarf tier: long */
/* Go stacks across the switch to the thread's stack, on programs with known calls; skipped without go. */
#include <stdlib.h>

#include "core/base/text.h"
#include "dwarf/unwind/goruntime.h"
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

/* ---- goroutines that are on no thread ---- */

/* The frame of a function on the stack of any goroutine that was switched away from. */
static bool find_parked(struct xc_process *p, const char *wanted, struct xc_frame *found)
{
	struct xc_goruntime go;
	xc_addr list, items, g;
	uint64_t size, count;
	bool is_there = false;
	struct xc_unwinder *u = xc_unwinder_new(p);
	assert_true(xc_goruntime_find(p, &go) && xc_goruntime_variable(&go, "runtime.allgs", &list, &size) &&
		    xc_space_peek_uint(p->space, list, 8, &items) && xc_space_peek_uint(p->space, list + 8, 8, &count));
	for (uint64_t i = 0; i < count && !is_there; i++) {
		struct xc_regs regs = {.vector = NULL};
		const char *stop;
		if (!xc_space_peek_uint(p->space, items + 8 * i, 8, &g) || !xc_goruntime_saved(&go, g, &regs) ||
		    !xc_unwind_parked(u, &regs, found))
			continue;
		do {
			const struct xc_place *place = xc_debuginfo_place(p, xc_frame_lookup(found));
			const char *name = xc_place_function(place, place->level_count ? place->level_count - 1 : 0);
			is_there = name && !strcmp(name, wanted);
		} while (!is_there && xc_unwind_step(u, found, found, &stop));
	}
	xc_unwinder_free(u);
	return is_there;
}

#define PARKED                                                                                                         \
	"package main\nimport (\"os\"; \"runtime\"; \"syscall\"; \"time\")\nvar sink, more int\n"                      \
	"func init() { runtime.GOMAXPROCS(1); f, _ := os.Create(\"/dev/null\"); syscall.Dup2(int(f.Fd()), 2) }\n"      \
	"func main() {\ngo other()\ntime.Sleep(50 * time.Millisecond)\npanic(1)\n}\n//go:noinline\n"

/* The saved pc of one that called is behind its call, where another line may begin. */
static void a_goroutine_that_called_is_at_its_call(void **state)
{
	(void)state;
	static const char source[] = PARKED "func other() {\n"
					    "for sink >= 0 {\n"
					    "runtime.Gosched()\n" /* line 12 */
					    "more++\n"
					    "}\n"
					    "}\n";
	check_needs("go");
	GRID(i, GO_FLAGS) {
		struct xc_frame frame;
		struct xc_process *p = go_died(go_flags[i], source);
		assert_true(find_parked(p, "main.other", &frame));
		assert_false(frame.interrupted);
		const struct xc_place *place = xc_debuginfo_place(p, xc_frame_lookup(&frame));
		if (place->level_count)
			assert_int_equal(place->levels[place->level_count - 1].line, 12);
		close_process(p);
	}
}

/* A signal interrupts a loop without calls: the pc that it leaves is exact. */
static void a_preempted_goroutine_is_at_its_instruction(void **state)
{
	(void)state;
	static const char source[] = PARKED "func other() {\nfor sink >= 0 {\nmore++\n}\n}\n";
	check_needs("go");
	GRID(i, GO_FLAGS) {
		struct xc_frame frame;
		struct xc_process *p = go_died(go_flags[i], source);
		assert_true(find_parked(p, "main.other", &frame));
		assert_true(frame.interrupted);
		close_process(p);
	}
}

/* Nothing called a goroutine that has not run: the byte before its function is another's. */
static void a_fresh_goroutine_is_at_its_function(void **state)
{
	(void)state;
	static const char source[] = PARKED "func other() {\nfor i := 0; i < 100; i++ {\ngo last()\n}\npanic(2)\n}\n"
					    "//go:noinline\nfunc last() { sink++ }\n";
	check_needs("go");
	struct xc_frame frame;
	struct xc_process *p = go_died("", source);
	assert_true(find_parked(p, "main.last", &frame));
	assert_true(frame.interrupted);
	close_process(p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_goroutine_goes_on_behind_its_thread),
		cmocka_unit_test(registers_of_a_caller_are_not_known),
		cmocka_unit_test(what_faulted_is_the_instruction_itself),
		cmocka_unit_test(a_goroutine_that_called_is_at_its_call),
		cmocka_unit_test(a_preempted_goroutine_is_at_its_instruction),
		cmocka_unit_test(a_fresh_goroutine_is_at_its_function),
	};
	setenv("GOTRACEBACK", "crash", 1);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
