/* layer: lua */
/* policy: a user's rules reach the signature, and their errors do not reach the batch. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "batch/signature/signature.h"
#include "lua/plugin/policy.h"

static struct xc_record_frame frames[] = {
	{.function = "raise", .module = "libc.so.6"},
	{.function = "glue", .module = "libglue.so", .has_offset = true, .offset = 0x123},
	{.function = "memcpy", .module = "libc.so.6"},
	{.function = "parse(char const*)", .module = "shop", .file = "parse.c", .line = 7},
	{.module = "shop", .has_offset = true, .offset = 0xbeef},
	{.function = "main", .module = "shop"},
};

static const struct xc_record record = {
	.status = XC_RECORD_OK,
	.path = "core.1",
	.program = "shop",
	.class_name = "abort",
	.severity = "low",
	.confidence = "likely",
	.headline = "SIGABRT",
	.message = "Out of memory: 17 bytes",
	.function = "parse",
	.frames = frames,
	.frame_count = XC_COUNT(frames),
	.size = UINT64_C(1) << 60,
};

struct warnings {
	unsigned count;
	char last[512];
};

static void hear(void *user, const struct xc_error *err)
{
	struct warnings *warnings = user;
	warnings->count++;
	snprintf(warnings->last, sizeof warnings->last, "%s", err->message);
}

struct made {
	struct xc_policy_script *script;
	struct warnings warnings;
	struct xc_arena arena;
	const struct xc_signature *s;
};

static uint64_t instructions = 10000000;
static double seconds = 20;

static void load(struct made *made, const char *text)
{
	const struct xc_policy_script_options options = {
		.limits = {.instructions = instructions, .memory = 8 << 20, .seconds = seconds},
		.warn = hear,
		.warn_user = &made->warnings};
	struct xc_error *err = xc_policy_script_load("rules.lua", text, strlen(text), &options, &made->script);
	if (err)
		fail_msg("%s", err->message);
}

static void sign(struct made *made, const struct xc_record *of)
{
	struct xc_framerules *rules = xc_framerules_builtin();
	made->s = xc_signature(of, rules, xc_policy_script_hooks(made->script), &made->arena);
	xc_framerules_free(rules);
}

static void end(struct made *made)
{
	xc_policy_script_free(made->script);
	xc_arena_fini(&made->arena);
}

static void expect_warning(const char *text, const char *warning)
{
	struct made made = {0};
	load(&made, text);
	sign(&made, &record);
	if (made.warnings.count != 1 || !strstr(made.warnings.last, warning))
		fail_msg("%u warnings, the last: %s", made.warnings.count, made.warnings.last);
	assert_string_equal(made.s->class_name, "abort"); /* its answer is silence */
	end(&made);
}

static void expect_error(const char *text, const char *message)
{
	struct xc_policy_script *script = NULL;
	const struct xc_policy_script_options options = {.limits = {.instructions = 1000000}};
	struct xc_error *err = xc_policy_script_load("rules.lua", text, strlen(text), &options, &script);
	assert_null(script);
	if (!err || !strstr(err->message, message))
		fail_msg("\"%s\" instead of \"%s\"", err ? err->message : "no error", message);
	xc_error_free(err);
}

static void a_class_and_severity_are_the_policys(void **state)
{
	struct made made = {0};
	(void)state;
	load(&made, "function class(r)\n"
		    "  assert(r.path == 'core.1' and r.program == 'shop' and #r.frames == 6 and r.func == 'parse')\n"
		    "  assert(r.status == 'ok' and r.severity == 'low' and r.size == '1152921504606846976')\n"
		    "  if r.message:find('^Out of memory') then return 'low-memory', 'medium' end\n"
		    "end");
	sign(&made, &record);
	assert_string_equal(made.s->class_name, "low-memory");
	assert_string_equal(made.s->severity, "medium");
	assert_int_equal(made.warnings.count, 0);
	struct xc_record other = record;
	other.message = "fine";
	sign(&made, &other);
	assert_string_equal(made.s->class_name, "abort");
	assert_string_equal(made.s->severity, "low");
	end(&made);
}

static void frames_are_kept_and_skipped(void **state)
{
	struct made made = {0};
	(void)state;
	load(&made, "function keep(f, r)\n"
		    "  assert(r.frames[f.index] == f)\n"
		    "  if f.module == 'libglue.so' then assert(f.func == 'glue' and f.name == 'glue' and f.offset == "
		    "'0x123')\n"
		    "    return false end\n"
		    "  if f.name == 'memcpy' then return true end\n"
		    "end");
	sign(&made, &record);
	assert_int_equal(made.s->frames[1].fate, XC_FRAME_POLICY);
	assert_int_equal(made.s->frames[2].fate, XC_FRAME_KEPT);
	assert_int_equal(made.s->kept[0], 2);
	assert_int_equal(made.warnings.count, 0);
	end(&made);
}

static void a_frame_says_whose_stack_begins(void **state)
{
	struct made made = {0};
	struct xc_record_frame of_two[XC_COUNT(frames)];
	struct xc_record deadlock = record;
	(void)state;
	memcpy(of_two, frames, sizeof of_two);
	of_two[0].thread = "thread 11";
	of_two[3].thread = "thread 12 \"worker\"";
	deadlock.frames = of_two;
	load(&made, "function keep(f) if f.thread == 'thread 12 \"worker\"' then return false end end");
	sign(&made, &deadlock);
	for (size_t i = 0; i < XC_COUNT(frames); i++)
		assert_int_equal(made.s->frames[i].fate == XC_FRAME_POLICY, i == 3);
	assert_int_equal(made.warnings.count, 0);
	end(&made);
}

static void frames_are_named(void **state)
{
	struct made made = {0};
	(void)state;
	load(&made,
	     "function name(f) if not f.name and f.module == 'shop' then return 'shop\\27:' .. f.offset end end");
	sign(&made, &record);
	assert_string_equal(made.s->frames[4].name, "shop\x1b:0xbeef"); /* hostile like any name */
	assert_string_equal(made.s->frames[3].name, "parse");
	assert_int_equal(made.warnings.count, 0);
	end(&made);
}

static void errors_are_told_once_and_mean_silence(void **state)
{
	(void)state;
	expect_warning("function keep(f) error('oops') end", "oops");
	expect_warning("function keep(f) return 7 end", "keep() returned a number");
	expect_warning("function name(f) return {} end", "name() returned a table");
	expect_warning("function name(f) return '' end", "empty string");
	expect_warning("function class(r) return 'No Class' end", "an invalid class");
	expect_warning("function class(r) return ('a'):rep(65) end", "an invalid class");
	expect_warning("function class(r) return 'a', 'deadly' end", "severity");
	expect_warning("function class(r) return 'a\\0b' end", "NUL");
	expect_warning("function class(r) return r.frames.x.y end", "nil");
	expect_warning("function keep(f, r) r.frames = nil end", "a script removed it");
	expect_warning("function keep(f) return setmetatable({}, {__tostring = error}) end", "keep() returned a table");
	expect_warning("function keep(f) f() end", "call");
}

static void limits_end_it_for_good(void **state)
{
	(void)state;
	expect_warning("function keep(f) while true do end end", "instructions");
	expect_warning("function keep(f) while true do pcall(error) end end", "instructions");
	expect_warning("local t = {} function keep(f) while true do t[#t + 1] = ('x'):rep(1000) .. #t end end",
		       "memory");
	expect_warning("function class(r) return ('x'):rep(1 << 30) end", "memory");
	expect_warning("function class(r) return (('a'):rep(3000):find(('a*'):rep(20) .. 'b')) end", "instructions");
	expect_warning("function class(r) local function f() return f() + 1 end return f() end", "memory");
}

/* With two seconds for the policy, a third of which passes before each query. */
static void only_the_time_of_its_own_calls_counts(void **state)
{
	const struct timespec pause = {.tv_nsec = 700000000};
	struct made made = {0};
	(void)state;
	seconds = 2;
	load(&made, "function keep(f) for _ = 1, 3000 do end if f.module == 'libglue.so' then return false end end");
	for (int i = 0; i < 3; i++) {
		nanosleep(&pause, NULL);
		sign(&made, &record);
		assert_int_equal(made.s->frames[1].fate, XC_FRAME_POLICY);
	}
	assert_int_equal(made.warnings.count, 0);
	end(&made);
	seconds = 0.2;
	instructions = 0;
	expect_warning("function keep(f) while true do end end", "more than 0.2 s");
	seconds = 20;
	instructions = 10000000;
}

static void the_sandbox_is_a_plugins(void **state)
{
	struct made made = {0};
	(void)state;
	load(&made, "assert(not io and not os and not package and not dofile and not loadfile and not debug.sethook)\n"
		    "assert(not pcall(function() return xcore.target:threads() end))\n"
		    "assert(not pcall(load, '\\27Lua', 'x', 'b') or not load('\\27Lua', 'x', 'b'))\n"
		    "function class(r) return 'fine' end");
	sign(&made, &record);
	assert_string_equal(made.s->class_name, "fine");
	end(&made);
}

static void files_that_are_no_policies_are_errors(void **state)
{
	(void)state;
	expect_error("", "defines none of class(record)");
	expect_error("class = 7", "class is a number");
	expect_error("function class(", "rules.lua:1:");
	expect_error("error('oops')", "oops");
	expect_error("while true do end", "instructions");
	expect_error("\033Lua", "binary");
	expect_error("setmetatable(_G, {__index = function() return print end})", "defines none");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_class_and_severity_are_the_policys),  cmocka_unit_test(frames_are_kept_and_skipped),
		cmocka_unit_test(a_frame_says_whose_stack_begins),       cmocka_unit_test(frames_are_named),
		cmocka_unit_test(errors_are_told_once_and_mean_silence), cmocka_unit_test(limits_end_it_for_good),
		cmocka_unit_test(only_the_time_of_its_own_calls_counts), cmocka_unit_test(the_sandbox_is_a_plugins),
		cmocka_unit_test(files_that_are_no_policies_are_errors),
	};
	return cmocka_run_group_tests_name("policy", tests, NULL, NULL);
}
