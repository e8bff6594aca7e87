/* layer: core */
/* Stacks as text: frames, values, folded threads and recursions, brief and whole. */
#include "tests/unit/core/render/text_of_report.h"

static void a_frame_shows_place_marks_arguments_and_locals(void **state)
{
	(void)state;
	char *text = render((struct xc_render_options){0});
	assert_contains(text, "server.c:42  [inlined]");
	assert_contains(text, "r=0x55d0c1a2b3c0, n=<optimized out>, flags=3 (at entry)\n");
	assert_contains(text, "        secret ");
	assert_contains(text, "char [16]");
	assert_contains(text, "libfoo.so+0x1234\n");
	assert_contains(text, "      [guess: found by stack scan, module unverified]\n");
	assert_contains(text, "[signal handler called, found by frame pointer]");
	assert_contains(text, "  ⋮   897 frames left out; in all 448 × [parse_value → parse_array]\n#900  main");
	free(text);
}

static void equal_threads_are_folded_and_clean_ends_are_silent(void **state)
{
	(void)state;
	char *text = render((struct xc_render_options){0});
	assert_contains(text, "thread 100 \"crasher\", crashed\n");
	assert_contains(text, "2 × thread 101 \"worker\"   and 102; the values are those of 101\n");
	assert_contains(text, "stack ends here: 0x7fff0000: not dumped into the core\n");
	assert_null(strstr(text, XC_STOP_OUTERMOST));
	free(text);
}

static void brief_stacks_show_values_of_the_crashed_thread_only(void **state)
{
	(void)state;
	struct fixture f = fixture_new("core.1");
	f.report->sections->items->stacks->brief = true;
	char *text = render_to_string(xc_render_text, f.report, (struct xc_render_options){0});
	const char *first = strstr(text, "r=0x55d0c1a2b3c0");
	assert_non_null(first);
	assert_null(strstr(first + 1, "r=0x55d0c1a2b3c0"));
	assert_null(strstr(text, "the values are those"));
	free(text);
	fixture_free(&f);
}

static void runs_of_equal_frames_fold_where_no_values_are_shown(void **state)
{
	(void)state;
	static struct xc_stack_row rows[12];
	for (unsigned i = 0; i < 12; i++)
		rows[i] = (struct xc_stack_row){.index = i,
						.pc = 1,
						.trust = "cfi",
						.function = i < 10 ? "descend" : "main",
						.file = "t.c",
						.line = i < 10 ? 57 : i};
	static struct xc_stack stack = {.tid = 5, .rows = rows, .row_count = 12, .cycle = "10 × [descend]"};
	struct xc_report *report = xc_report_new("bt");
	struct xc_stacks *stacks = xc_section_stacks(xc_report_section(report, "stacks", "Threads"), "stacks");
	stacks->stacks = &stack;
	stacks->stack_count = 1;
	stacks->brief = true;
	char *text = render_to_string(xc_render_text, report, (struct xc_render_options){0});
	assert_string_equal(text, "thread 5\n#0   descend  t.c:57\n  ⋮   9 more of the same\n"
				  "#10  main     t.c:10\n#11  main     t.c:11\n");
	free(text);
	static struct xc_variable_text level = {.name = "level", .type = "int", .value = "7"};
	for (unsigned i = 0; i < 10; i++) {
		rows[i].args = &level;
		rows[i].arg_count = 1;
	}
	stacks->brief = false;
	text = render_to_string(xc_render_text, report, (struct xc_render_options){0});
	assert_contains(text, "#9   descend  t.c:57  level=7\n");
	assert_contains(text, "repeats: 10 × [descend]\n");
	free(text);
	xc_report_free(report);
}

/* A report of one crashed thread: a function of the program, its caller, and one of the C library on top. */
static char *render_values(bool brief, struct xc_report **report_out)
{
	static struct xc_variable_text locals[] = {{.name = "a", .type = "int", .why = "optimized out"},
						   {.name = "n", .type = "int", .value = "7"},
						   {.name = "b", .type = "int", .why = "optimized out"}};
	static struct xc_variable_text arg = {.name = "x", .type = "int", .value = "1"};
	static struct xc_stack_row rows[3];
	static const char *const names[] = {"strlen", "work", "_start"};
	for (unsigned i = 0; i < 3; i++)
		rows[i] = (struct xc_stack_row){.index = i,
						.pc = i,
						.trust = "cfi",
						.function = names[i],
						.args = &arg,
						.arg_count = 1,
						.locals = locals,
						.local_count = 3,
						.runtime = i == 0,
						.startup = i == 2};
	static struct xc_stack stack = {.tid = 5, .crashed = true, .rows = rows, .row_count = 3};
	struct xc_report *report = *report_out = xc_report_new("bt");
	struct xc_stacks *stacks = xc_section_stacks(xc_report_section(report, "stacks", "Threads"), "stacks");
	stacks->stacks = &stack;
	stacks->stack_count = 1;
	stacks->full = true;
	stacks->brief = brief;
	return render_to_string(xc_render_text, report, (struct xc_render_options){0});
}

/* The wait of the other threads of a group is derived from their calls, not from a word in a lock's name. */
static void groups_that_wait_for_different_things_say_on_what(void **state)
{
	(void)state;
	struct xc_stack stack = {.tid = 5, .waits = "waiting for mutex `descriptors`"};
	struct xc_stack_group group = {.member_count = 2};
	struct xc_text text = {0};
	xc_render_waits(&text, &stack, &group, false);
	assert_string_equal(text.bytes, ", waiting for mutex `descriptors` (not all of them)");
	text.len = 0;
	stack.waits = "read from descriptor 5";
	group.on_descriptors = true;
	xc_render_waits(&text, &stack, &group, false);
	assert_string_equal(text.bytes, ", read from descriptor 5 (not all on this descriptor)");
	xc_text_fini(&text);
}

static void what_was_optimized_out_takes_one_line(void **state)
{
	(void)state;
	struct xc_report *report;
	char *text = render_values(false, &report);
	assert_contains(text, "#1  work      x=1\n        n  int  7\n        optimized out: a, b\n#2");
	assert_contains(text, "#2  _start    x=1\n        n  int  7\n");
	free(text);
	xc_report_free(report);
}

static void brief_stacks_keep_to_the_programs_own_values(void **state)
{
	(void)state;
	struct xc_report *report;
	char *text = render_values(true, &report);
	assert_contains(
		text,
		"#0  strlen    x=1\n#1  work      x=1\n        n  int  7\n        optimized out: a, b\n#2  _start\n");
	free(text);
	xc_report_free(report);
}

static void long_stacks_show_their_two_ends_in_brief(void **state)
{
	(void)state;
	enum { ROWS = 200 };
	static struct xc_stack_row rows[ROWS];
	static struct xc_variable_text arg = {.name = "n", .type = "int", .value = "1"};
	for (unsigned i = 0; i < ROWS; i++)
		rows[i] = (struct xc_stack_row){.index = i < 100 ? i : i + 1000,
						.pc = 1,
						.trust = "cfi",
						.function = "f",
						.line = i, /* no two calls are alike */
						.args = &arg,
						.arg_count = 1};
	static struct xc_stack stack = {.tid = 5,
					.crashed = true,
					.rows = rows,
					.row_count = ROWS,
					.elided = 1000,
					.elided_at = 100,
					.cycle = "1,200 × [f]"};
	struct xc_report *report = xc_report_new("bt");
	struct xc_stacks *stacks = xc_section_stacks(xc_report_section(report, "stacks", "Threads"), "stacks");
	*stacks = (struct xc_stacks){.stacks = &stack, .stack_count = 1, .brief = true};
	char *text = render_to_string(xc_render_text, report, (struct xc_render_options){0});
	assert_contains(text, "#31    f    n=1\n  ⋮   1,152 frames left out; in all 1,200 × [f]\n#1184  f    n=1\n");
	assert_contains(text, "#1199  f    n=1\n");
	free(text);
	stacks->brief = false;
	text = render_to_string(xc_render_text, report, (struct xc_render_options){0});
	assert_contains(text, "#99    f    n=1\n  ⋮   1,000 frames left out; in all 1,200 × [f]\n#1100  f    n=1\n");
	free(text);
	xc_report_free(report);
}

/* Rows of: crash(), then rounds of value() and array(), then main(); each with an argument that differs. */
static char *render_rounds(struct xc_stack_row *rows, unsigned count, struct xc_stack *stack, bool brief)
{
	static struct xc_variable_text arg = {.name = "n", .type = "int", .value = "1"};
	for (unsigned i = 0; i < count; i++)
		rows[i] = (struct xc_stack_row){.index = i >= stack->elided_at ? i + (unsigned)stack->elided : i,
						.pc = 1,
						.trust = "cfi",
						.function = i == 0           ? "crash"
							    : i + 1 == count ? "main"
							    : i % 2          ? "value"
									     : "array",
						.args = &arg,
						.arg_count = 1};
	struct xc_report *report = xc_report_new("bt");
	struct xc_stacks *stacks = xc_section_stacks(xc_report_section(report, "stacks", "Threads"), "stacks");
	*stacks = (struct xc_stacks){.stacks = stack, .stack_count = 1, .brief = brief};
	char *text = render_to_string(xc_render_text, report, (struct xc_render_options){0});
	xc_report_free(report);
	return text;
}

static void rounds_of_a_recursion_are_folded_in_brief(void **state)
{
	(void)state;
	enum { ROWS = 50 };
	static struct xc_stack_row rows[ROWS];
	struct xc_stack stack = {.crashed = true, .rows = rows, .row_count = ROWS, .cycle = "24 × [array → value]"};
	stack.elided_at = ROWS;
	char *text = render_rounds(rows, ROWS, &stack, true);
	assert_contains(
		text, "#4   array    n=1\n  ⋮   42 frames left out; in all 24 × [array → value]\n#47  value    n=1\n");
	assert_contains(text, "#48  array    n=1\n#49  main     n=1\n");
	free(text);
	stack.elided = 1000;
	stack.elided_at = 20;
	text = render_rounds(rows, ROWS, &stack, true);
	assert_contains(
		text,
		"#4     array    n=1\n  ⋮   1,042 frames left out; in all 24 × [array → value]\n#1047  value    n=1\n");
	assert_contains(text, "#1048  array    n=1\n#1049  main     n=1\n");
	free(text);
	stack.elided = 0;
	text = render_rounds(rows, ROWS, &stack, false);
	assert_contains(text, "#24  array    n=1\n#25  value    n=1\n");
	free(text);
}

static void groups_say_when_members_differ_in_depth(void **state)
{
	(void)state;
	static struct xc_stack_row rows[3] = {{.pc = 1, .trust = "cfi", .function = "f"},
					      {.index = 1, .pc = 1, .trust = "cfi", .function = "f"},
					      {.index = 2, .pc = 1, .trust = "cfi", .function = "f"}};
	static struct xc_stack two[2] = {{.tid = 5, .rows = rows, .row_count = 3},
					 {.tid = 6, .rows = rows, .row_count = 2}};
	static size_t members[2] = {0, 1};
	static struct xc_stack_group group = {.members = members, .member_count = 2};
	struct xc_report *report = xc_report_new("bt");
	struct xc_stacks *stacks = xc_section_stacks(xc_report_section(report, "stacks", "Threads"), "stacks");
	*stacks = (struct xc_stacks){.stacks = two, .stack_count = 2, .groups = &group, .group_count = 1};
	char *text = render_to_string(xc_render_text, report, (struct xc_render_options){0});
	assert_contains(text, "2 × thread 5   and 6; in different depths of recursion\n");
	assert_null(strstr(text, "values are those"));
	free(text);
	xc_report_free(report);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_frame_shows_place_marks_arguments_and_locals),
		cmocka_unit_test(equal_threads_are_folded_and_clean_ends_are_silent),
		cmocka_unit_test(brief_stacks_show_values_of_the_crashed_thread_only),
		cmocka_unit_test(runs_of_equal_frames_fold_where_no_values_are_shown),
		cmocka_unit_test(groups_that_wait_for_different_things_say_on_what),
		cmocka_unit_test(what_was_optimized_out_takes_one_line),
		cmocka_unit_test(brief_stacks_keep_to_the_programs_own_values),
		cmocka_unit_test(long_stacks_show_their_two_ends_in_brief),
		cmocka_unit_test(rounds_of_a_recursion_are_folded_in_brief),
		cmocka_unit_test(groups_say_when_members_differ_in_depth),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
