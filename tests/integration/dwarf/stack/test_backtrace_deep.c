/* layer: dwarf tier: long */
/* Deep stacks: repeated calls are shown as one cycle, the middle is omitted and counted, and the walk ends. */
#include "tests/support/scene.h"

#include <time.h>

#include "core/report/report.h"
#include "dwarf/stack/backtrace.h"

/* depth calls of ping and pong in turn, then a crash; main calls ping. */
static const char recursion[] =
	"int *volatile null; volatile int sink;\n"
	"int pong(int n);\n"
	"__attribute__((noinline, noclone)) int crash(int n) { *null = n; return n + sink; }\n"
	"__attribute__((noinline, noclone)) int ping(int n) { return (n ? pong(n - 1) : crash(n)) + sink; }\n"
	"__attribute__((noinline, noclone)) int pong(int n) { return (n ? ping(n - 1) : crash(n)) + sink; }\n"
	"int main(void) { return ping(999) + sink; }\n";
enum { CALLS = 1000 };

struct told {
	struct xc_process *process;
	struct xc_report *report;
	const struct xc_stack *stack;
	size_t kept; /* rows */
};

static struct told tell(const char *source, size_t max_frames)
{
	struct told t = {.process = died("gcc -g -O0 -x c", source), .report = xc_report_new("bt")};
	struct xc_backtrace_options options = {.choice = XC_THREADS_CRASHED, .max_frames = max_frames};
	struct xc_section *s = xc_report_section(t.report, "bt", "Stacks");
	CHECK_OK(xc_backtrace(s, t.process, &options));
	t.stack = &s->items->stacks->stacks[0];
	t.kept = t.stack->row_count;
	return t;
}

static void done(struct told *t)
{
	xc_report_free(t->report);
	close_process(t->process);
}

static void a_repeated_cycle_is_told_once_with_its_count(void **state)
{
	(void)state;
	struct told t = tell(recursion, 10);
	check_text(t.stack->cycle, "× [");
	check_text(t.stack->cycle, "ping");
	check_text(t.stack->cycle, "pong");
	/* the innermost and the outermost call have other return addresses than the repeated ones */
	assert_in_range(strtoul(t.stack->cycle, NULL, 10), CALLS / 2 - 1, CALLS / 2);
	done(&t);
}

static void a_stack_without_repeats_has_no_cycle(void **state)
{
	(void)state;
	struct told t = tell("int a(void) { *(volatile int *)0 = 1; return 0; } int b(void) { return a() + 1; }\n"
			     "int main(void) { return b() + 1; }\n",
			     10);
	assert_null(t.stack->cycle);
	assert_int_equal(t.stack->elided, 0);
	done(&t);
}

/* crash, the calls, main, and its callers in the C library. */
static void what_is_left_out_and_what_is_kept_make_up_the_whole(void **state)
{
	(void)state;
	struct told whole = tell(recursion, 5000);
	size_t all = whole.kept;
	assert_int_equal(whole.stack->elided, 0);
	assert_in_range(all, CALLS + 2, CALLS + 8);
	static const size_t limits[] = {1, 2, 3, 4, 7, 10, 100, 1001};
	for (size_t i = 0; i < XC_COUNT(limits); i++) {
		struct told t = tell(recursion, limits[i]);
		if (t.kept > limits[i])
			fail_msg("%zu rows instead of %zu", t.kept, limits[i]);
		assert_int_equal(t.kept, limits[i]);
		assert_int_equal(t.kept + t.stack->elided, all);
		assert_string_equal(t.stack->rows[0].function, "crash");
		if (limits[i] > 1)
			assert_string_equal(t.stack->rows[t.kept - 1].function, "_start");
		for (size_t row = 0; row < t.kept; row++)
			assert_int_equal(t.stack->rows[row].index,
					 row < t.stack->elided_at || !t.stack->elided ? row : row + t.stack->elided);
		done(&t);
	}
	done(&whole);
}

static void a_thread_that_is_not_there_is_an_error(void **state)
{
	(void)state;
	struct xc_process *p = died("gcc -g -O0 -x c", "int main(void) { *(volatile int *)0 = 1; }");
	struct xc_report *r = xc_report_new("bt");
	struct xc_backtrace_options options = {.choice = XC_THREADS_ONE, .tid = p->threads[0].tid + 1};
	struct xc_error *err = xc_backtrace(xc_report_section(r, "bt", "Stacks"), p, &options);
	assert_non_null(err);
	assert_int_equal(err->code, XC_ERR_NOT_FOUND);
	assert_non_null(err->hint);
	xc_error_free(err);
	xc_report_free(r);
	close_process(p);
}

static double seconds(void)
{
	struct timespec now;
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
	return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

enum { WORDS = 1 << 20 };

static uint64_t words[WORDS];

/* Threads at the start of one stack of 8 MiB, which is full of a function's own return address. */
static struct scene *on_one_stack(int threads)
{
	struct scene *s =
		make_scene("gcc -g -x assembler", "\t.globl self\n\t.type self,@function\nself:\n\t.cfi_startproc\n"
						  "\tcall self\n\tret\n\t.cfi_endproc\n\t.size self,.-self\n");
	for (size_t i = 0; i < WORDS; i++)
		words[i] = label(s, "self") + 5;
	lay(s, STACK_LO, words, sizeof words, XC_FROM_CORE);
	first_frame(s, label(s, "self") + 5, STACK_LO);
	s->process->threads = xc_alloc((size_t)threads * sizeof *s->process->threads);
	s->process->thread_count = (size_t)threads;
	for (int i = 0; i < threads; i++) {
		s->process->threads[i] = s->thread;
		s->process->threads[i].tid = i + 1;
	}
	return s;
}

static struct xc_report *bt_of_all(struct xc_process *process, size_t max_frames)
{
	struct xc_report *r = xc_report_new("bt");
	struct xc_section *section = xc_report_section(r, "bt", "Stacks");
	struct xc_backtrace_options options = {.choice = XC_THREADS_ALL, .max_frames = max_frames};
	double from = seconds();
	CHECK_OK(xc_backtrace(section, process, &options));
	assert_true(seconds() - from < (UNDER_ASAN ? 20 : 5));
	return r;
}

static void threads_that_share_one_deep_stack_do_not_take_their_product(void **state)
{
	(void)state;
	enum { THREADS = 200 };
	struct scene *s = on_one_stack(THREADS);
	struct xc_report *r = bt_of_all(s->process, 100);
	const struct xc_stacks *stacks = r->sections->items->stacks;
	assert_int_equal(stacks->stack_count, THREADS);
	assert_int_equal(stacks->stacks[0].row_count + stacks->stacks[0].elided, WORDS + 1); /* the first is complete */
	for (size_t i = 0; i < THREADS; i++)
		assert_true(stacks->stacks[i].row_count == 100); /* each has its ends */
	check_text(stacks->stacks[THREADS - 1].stop, "more frames than xcore follows");
	assert_null(r->sections->items->next);
	xc_report_free(r);
	end_scene(s);
}

static void the_frames_of_all_stacks_are_bounded_and_equal_stacks_stay_equal(void **state)
{
	(void)state;
	enum { THREADS = 5000, EACH = 26 };
	struct scene *s = on_one_stack(THREADS);
	struct xc_report *r = bt_of_all(s->process, 0);
	const struct xc_stacks *stacks = r->sections->items->stacks;
	for (size_t i = 0; i < THREADS; i++)
		assert_int_equal(stacks->stacks[i].row_count, EACH);
	assert_string_equal(r->sections->items->next->message.text,
			    "5000 deep stacks are shown with 26 frames, because there are 5000 stacks");
	xc_report_free(r);
	r = xc_report_new("bt");
	struct xc_section *section = xc_report_section(r, "bt", "Stacks");
	const struct xc_backtrace_options one = {.choice = XC_THREADS_ONE, .tid = 7};
	CHECK_OK(xc_backtrace(section, s->process, &one));
	assert_int_equal(section->items->stacks->stacks[0].row_count, 1024);
	assert_null(section->items->next);
	xc_report_free(r);
	end_scene(s);
}

/* Each thread may have 10,000 frames, but not all of them. */
static void a_limit_that_is_asked_for_does_not_multiply_by_the_threads(void **state)
{
	(void)state;
	enum { THREADS = 2000, LIMIT = 10000, ALL = 1 << 17, LEAST = 4, WHOLE = ALL / LIMIT };
	struct scene *s = on_one_stack(THREADS);
	struct xc_report *r = bt_of_all(s->process, LIMIT);
	const struct xc_stack *stacks = r->sections->items->stacks->stacks;
	for (size_t i = 0; i < THREADS; i++)
		assert_int_equal(stacks[i].row_count, i < WHOLE ? LIMIT : i == WHOLE ? ALL % LIMIT : LEAST);
	assert_string_equal(stacks[THREADS - 1].rows[0].function, "self");
	assert_non_null(strstr(r->sections->items->next->message.text,
			       "1987 deep stacks are shown with less than 10000 frames"));
	xc_report_free(r);
	end_scene(s);
}

static void a_large_core_has_room_for_more_frames(void **state)
{
	(void)state;
	enum { THREADS = 5000, SIZE = 64 << 20, EACH = SIZE / 128 / THREADS };
	static struct xc_source core = {.size = SIZE, .stored_size = SIZE >> 3};
	struct scene *s = on_one_stack(THREADS);
	s->process->core = &core;
	struct xc_report *r = bt_of_all(s->process, 0);
	for (size_t i = 0; i < THREADS; i++)
		assert_int_equal(r->sections->items->stacks->stacks[i].row_count, EACH);
	s->process->core = NULL;
	xc_report_free(r);
	end_scene(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_repeated_cycle_is_told_once_with_its_count),
		cmocka_unit_test(a_stack_without_repeats_has_no_cycle),
		cmocka_unit_test(what_is_left_out_and_what_is_kept_make_up_the_whole),
		cmocka_unit_test(a_thread_that_is_not_there_is_an_error),
		cmocka_unit_test(threads_that_share_one_deep_stack_do_not_take_their_product),
		cmocka_unit_test(the_frames_of_all_stacks_are_bounded_and_equal_stacks_stay_equal),
		cmocka_unit_test(a_limit_that_is_asked_for_does_not_multiply_by_the_threads),
		cmocka_unit_test(a_large_core_has_room_for_more_frames),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
