/* layer: lua tier: long
 *
 * The plugin tests/plugin/toy/toy.lua on its program, which records who called whom. */
#include <sys/resource.h>

#include "tests/support/opened.h"
#include "tests/support/scripted.h"

#include "dwarf/stack/backtrace.h"
#include "dwarf/cfi/foreign_frame_report.h"
#include "dwarf/elf/symbol.h"
#include "lua/target/bind_stacks.h"
#include "lua/runner/runner.h"

#define PLUGIN(body)                                                                                                   \
	"local xcore = require 'xcore' return {name = 'toy', about = 'a', stacks = function(t, stacks) " body " end}"

static struct xc_process *process;

static char *file_text(const char *path)
{
	char *text = xc_alloc(1 << 16);
	FILE *file = fopen(path, "r");
	assert_non_null(file);
	assert_true(fread(text, 1, (1 << 16) - 1, file) > 0);
	fclose(file);
	return text;
}

static int make_process(void **state)
{
	(void)state;
#ifndef __x86_64__
	check_skip("its code is for x86-64");
#endif
	char *source = file_text("tests/plugin/toy/toy.c");
	process = died("gcc -g -O1 -x c", source);
	free(source);
	return 0;
}

static int close_all(void **state)
{
	(void)state;
	close_process(process);
	return 0;
}

/* The stacks of the plugin in this text, as loaded by the command line; returns its error. */
static struct xc_error *ask_for(const char *text, bool in_process, bool detached)
{
	struct xc_report *report = xc_report_new("stacks");
	const struct xc_run run = {.process = process,
				   .report = report,
				   .what = XC_RUN_STACKS,
				   .plugin = "toy",
				   .name = "plugin toy",
				   .chunk = "toy.lua",
				   .text = text,
				   .len = strlen(text),
				   .limits = xc_limits_defaults(),
				   .detached = detached,
				   .in_process = in_process,
				   .quiet = true};
	xc_foreign_set(process, NULL);
	struct xc_error *err = xc_runner_run(&run);
	xc_foreign_set(process, NULL);
	for (const struct xc_section *s = report->sections; s; s = s->next)
		if (strcmp(s->key, "stacks") == 0)
			CHECK_OK(xc_foreign_load(process, s));
	xc_report_free(report);
	return err;
}

static struct xc_error *ask(const char *text, bool in_process)
{
	return ask_for(text, in_process, false);
}

static const struct xc_backtrace_options full = {.choice = XC_THREADS_CRASHED, .args = true, .locals = true};

static struct xc_report *backtrace(const struct xc_stack **stack_out)
{
	struct xc_report *report = xc_report_new("bt");
	struct xc_section *s = xc_report_section(report, "bt", "Stacks");
	struct xc_backtrace_options options = full;
	options.format = xc_format_defaults();
	CHECK_OK(xc_backtrace(s, process, &options));
	for (const struct xc_item *item = s->items; item; item = item->next)
		if (item->kind == XC_ITEM_STACKS)
			*stack_out = item->stacks->stacks;
	return report;
}

/* Names, outermost first, from main. */
static char *chain_of(const struct xc_stack *stack)
{
	struct xc_text text = {0};
	size_t i = stack->row_count;
	while (i > 0 && (!stack->rows[i - 1].function || strcmp(stack->rows[i - 1].function, "main") != 0))
		i--;
	while (i-- > 0)
		xc_text_printf(&text, "%s ", stack->rows[i].function ? stack->rows[i].function : "??");
	return xc_text_take(&text);
}

static uint64_t word_of(const char *symbol, uint64_t index, size_t size)
{
	xc_addr at;
	uint64_t word;
	assert_non_null(xc_symbol_find(process, symbol, NULL, &at));
	assert_true(xc_space_peek_uint(process->space, at + index * size, size, &word));
	return word;
}

/* The program's record. */
static char *account(void)
{
	struct xc_text text = {0};
	for (uint64_t i = 0, count = word_of("account_count", 0, 4); i < count; i++) {
		char name[32] = "";
		xc_space_peek(process->space, word_of("account", i, 8), name, sizeof name - 1);
		xc_text_printf(&text, "%s ", name);
	}
	return xc_text_take(&text);
}

static void merged_stacks_are_the_programs_own_account(void **state)
{
	(void)state;
	char *text = file_text("tests/plugin/toy/toy.lua"), *want = account();
	for (int in_process = 0; in_process < 2; in_process++) {
		const struct xc_stack *stack = NULL;
		CHECK_OK(ask(text, in_process));
		struct xc_report *report = backtrace(&stack);
		char *got = chain_of(stack);
		assert_string_equal(got, want);
		assert_string_equal(stack->stop, XC_STOP_OUTERMOST);
		free(got);
		xc_report_free(report);
	}
	free(text);
	free(want);
}

static const struct xc_stack_row *row_named(const struct xc_stack *stack, const char *name)
{
	for (size_t i = 0; i < stack->row_count; i++)
		if (stack->rows[i].function && strcmp(stack->rows[i].function, name) == 0)
			return &stack->rows[i];
	fail_msg("no row %s", name);
	return NULL;
}

/* `kept` is in rbx, which TRACE 2 overwrites and restores: n is 5. */
static void registers_that_a_trace_saved_are_restored(void **state)
{
	(void)state;
	const struct xc_stack *stack = NULL;
	char *text = file_text("tests/plugin/toy/toy.lua");
	CHECK_OK(ask(text, false));
	struct xc_report *report = backtrace(&stack);
	const struct xc_stack_row *row = row_named(stack, "middle");
	assert_string_equal(row->trust, "plugin");
	for (size_t i = 0; i < row->local_count; i++)
		if (strcmp(row->locals[i].name, "kept") == 0)
			assert_string_equal(row->locals[i].value, "40");
	row = row_named(stack, "TRACE 2");
	assert_true(!row->guest && row->pc && row->line == 42);
	assert_string_equal(row->language, "toy");
	row = row_named(stack, "outer_main");
	assert_true(row->guest && row->line == 10);
	assert_string_equal(row->kind, "main");
	assert_string_equal(row->args[0].value, "5");
	assert_string_equal(row->locals[0].type, "upvalue");
	xc_report_free(report);
	free(text);
}

static void without_the_plugin_the_stack_is_another(void **state)
{
	(void)state;
	const struct xc_stack *stack = NULL;
	xc_foreign_set(process, NULL);
	struct xc_report *report = backtrace(&stack);
	char *got = chain_of(stack), *want = account();
	assert_string_not_equal(got, want);
	free(got);
	free(want);
	xc_report_free(report);
}

static void what_was_told_before_an_error_stays(void **state)
{
	(void)state;
	const struct xc_stack *stack = NULL;
	CHECK_ERROR(ask(PLUGIN("stacks:frames(t:thread().tid, t:thread():frames()[1].sp, {{name = 'one'}})"
			       " error 'broken'"),
			false),
		    XC_ERR_FORMAT, "broken");
	struct xc_report *report = backtrace(&stack);
	assert_true(row_named(stack, "one")->guest);
	xc_report_free(report);
}

static void a_plugin_that_runs_wild_ends_with_its_limits(void **state)
{
	(void)state;
	CHECK_ERROR(ask(PLUGIN("local row = {} local rows = {} for i = 1, 262145 do rows[i] = row end "
			       "stacks:frames(t:thread().tid, 0, rows)"),
			false),
		    XC_ERR_LIMIT, "more than 262144 frames");
	CHECK_ERROR(ask(PLUGIN("for i = 1, 70000 do stacks:code{lo = i} end"), false), XC_ERR_LIMIT,
		    "more than 65536 ranges of code");
	CHECK_ERROR(
		ask(PLUGIN("local text = ('x'):rep(1 << 20) for i = 1, 1000 do stacks:code{lo = i, name = text} end"),
		    false),
		XC_ERR_LIMIT, "texts of more than 128 MiB");
	CHECK_ERROR(ask(PLUGIN("while true do stacks:stack{name = 'x', rows = {}} end"), false), XC_ERR_LIMIT,
		    "more than 65536 lists");
	xc_foreign_set(process, NULL);
}

static void a_plugin_knows_whether_stacks_on_no_thread_are_wanted(void **state)
{
	(void)state;
	const char *text = PLUGIN("error(tostring(stacks.detached))");
	CHECK_ERROR(ask_for(text, true, true), XC_ERR_FORMAT, "true");
	CHECK_ERROR(ask_for(text, true, false), XC_ERR_FORMAT, "false");
	CHECK_ERROR(ask_for(text, false, true), XC_ERR_FORMAT, "true");
	xc_foreign_set(process, NULL);
}

/* ---- in a script ---- */

static struct scripted *script_with_stacks(void)
{
	struct scripted *s = script_over(process);
	xc_bind_push_stacks(s->host->L, "toy", true);
	lua_setglobal(s->host->L, "stacks");
	return s;
}

static void told_code_takes_effect_at_once(void **state)
{
	(void)state;
	struct scripted *s = script_with_stacks();
	RUNS(s,
	     "local function names() local out = {} for _, f in ipairs(t:thread():frames()) do "
	     "if not f.module then out[#out + 1] = (f.name or '?') .. ' ' .. (f.language or '-') .. ' ' .. (f.line or "
	     "0) end end "
	     "return table.concat(out, ', ') end "
	     "local trace = t:var 'traces'[1] local lo = xcore.addr(trace.code) local before = names() "
	     "stacks:code{lo = lo, hi = lo + trace.size - 1, cfa = {'sp', trace.frame + 8}, saved = {pc = -8, rbx = "
	     "-16}, "
	     "name = 'second', language = 'x', line = 3} "
	     "print(before:match '^[^,]*', names():match '^[^,]*')",
	     "? - 0\tsecond x 3");
	RUNS(s,
	     "t:stacks():code{lo = t:thread():frames()[1].pc, override = true, name = 'mine'} "
	     "print(t:thread():frames()[1].name)",
	     "mine");
	RUNS(s,
	     "local f = t:thread():frames() local r = f[1]:registers() print(r.rsp == f[1].sp, r.rip == f[1].pc, "
	     "f[1].trust)",
	     "true\ttrue\tcontext");
	end_script(s);
	xc_foreign_set(process, NULL);
}

static void wrong_arguments_say_what_is_wrong(void **state)
{
	(void)state;
	struct scripted *s = script_with_stacks();
	RAISES(s, "stacks:code{}", "usage", "'lo' is missing: the start of the code");
	RAISES(s, "stacks:code{lo = 5, hi = 4}", "usage", "code that ends before it begins");
	RAISES(s, "stacks:code{lo = 5, cfa = {'rzz', 8}}", "usage", "x86-64 has no register 'rzz'");
	RAISES(s, "stacks:code{lo = 5, cfa = 8}", "usage", "cfa: expected a register and an offset: {\"sp\", 16}");
	RAISES(s, "stacks:code{lo = 5, cfa = {'sp', 'x'}}", "usage", "cfa: expected an offset in bytes, not a string");
	RAISES(s, "stacks:code{lo = 5, cfa = {'sp', 8}, saved = {fs_base = 8}}", "usage",
	       "a register that call frame information does not cover");
	RAISES(s, "stacks:code{lo = 5, saved = {rbx = 8}}", "usage", "'saved' without 'cfa'");
	RAISES(s, "stacks:code{lo = 5, low = 6}", "usage",
	       "'low' is not an option here; options: lo hi cfa saved override name file line language");
	RAISES(s, "stacks:frames(1, 0, {})", "not_found", "no thread 1");
	RAISES(s, "stacks:frames(t:thread().tid, 0, {5})", "usage", "a row must be a table, not a number");
	RAISES(s, "stacks:frames(t:thread().tid, 0, {{args = 5}})", "usage", "args: expected a list, not a number");
	RAISES(s, "stacks:frames(t:thread().tid, 0, {{locals = {5}}})", "usage", "locals: expected a list of tables");
	RAISES(s, "stacks:stack{rows = {}}", "usage", "expected 'name' and 'rows'");
	RUNS(s,
	     "stacks:frames(t:thread().tid, -1, {{name = 'a\\0b\\27', line = -7, file = ('x'):rep(1 << 16)}}) print "
	     "'fine'",
	     "fine");
	end_script(s);
	xc_foreign_set(process, NULL);
}

static size_t most_memory(void)
{
	struct rusage usage;
	assert_int_equal(getrusage(RUSAGE_SELF, &usage), 0);
	return (size_t)usage.ru_maxrss << 10;
}

/* Texts are copied into memory that Lua's limits do not count: all objects share one bound. */
static void texts_are_bounded_however_many_ask_for_the_stacks(void **state)
{
	(void)state;
	struct scripted *s = script_with_stacks();
	RAISES(s,
	       "local big = ('x'):rep(65 << 20) t:stacks():stack{name = big, rows = {}} "
	       "t:stacks():stack{name = big, rows = {}}",
	       "limit", "texts of more than 128 MiB");
	end_script(s);
	xc_foreign_set(process, NULL);
}

/* The same tables repeatedly: room for 2^27 variables would take 4 GiB. */
static void variables_are_counted_before_there_is_room_for_them(void **state)
{
	(void)state;
	struct scripted *s = script_with_stacks();
	size_t before = most_memory();
	RAISES(s,
	       "local list, rows = {}, {} for i = 1, 1 << 14 do list[i] = {} end "
	       "for i = 1, 1 << 13 do rows[i] = {locals = list} end stacks:stack{name = 'x', rows = rows}",
	       "limit", "more than 1048576 variables of frames");
	assert_in_range(most_memory() - before, 0, 1 << 29);
	end_script(s);
	xc_foreign_set(process, NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(variables_are_counted_before_there_is_room_for_them),
		cmocka_unit_test(texts_are_bounded_however_many_ask_for_the_stacks),
		cmocka_unit_test(merged_stacks_are_the_programs_own_account),
		cmocka_unit_test(registers_that_a_trace_saved_are_restored),
		cmocka_unit_test(without_the_plugin_the_stack_is_another),
		cmocka_unit_test(what_was_told_before_an_error_stays),
		cmocka_unit_test(a_plugin_that_runs_wild_ends_with_its_limits),
		cmocka_unit_test(a_plugin_knows_whether_stacks_on_no_thread_are_wanted),
		cmocka_unit_test(told_code_takes_effect_at_once),
		cmocka_unit_test(wrong_arguments_say_what_is_wrong),
	};
	return cmocka_run_group_tests(tests, make_process, close_all);
}
