/* layer: lua
 *
 * Scripts that read a process while it writes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/live/live.h"
#include "dwarf/module/debugfile.h"
#include "dwarf/symbolize/debuginfo.h"
#include "lua/vm/host.h"
#include "tests/support/live_child.h"

static char printed[4096];

static void collect(void *user, const char *line, size_t len)
{
	(void)user;
	size_t at = strlen(printed);
	snprintf(printed + at, sizeof printed - at, "%.*s\n", (int)len, line);
}

static struct xc_error *run_within(struct xc_process *p, const char *code, struct xc_limits limits)
{
	struct xc_host_options options = {.process = p, .name = "test", .limits = limits, .output = collect};
	struct xc_host *host = xc_host_new(&options);
	printed[0] = '\0';
	struct xc_error *err = xc_host_run(host, "test", code, strlen(code), NULL, 0);
	xc_host_free(host);
	return err;
}

static struct xc_error *run(struct xc_process *p, const char *code)
{
	return run_within(p, code, xc_limits_defaults());
}

static void assert_prints(struct xc_process *p, const char *code, const char *expected)
{
	XC_OK(run(p, code));
	assert_string_equal(printed, expected);
}

static void assert_fails(struct xc_error *err, enum xc_error_code kind, const char *why)
{
	assert_non_null(err);
	if (err->code != kind || !strstr(err->message, why))
		fail_msg("expected '%s' (%d), got '%s' (%d)", why, (int)kind, err->message, (int)err->code);
	xc_error_free(err);
}

static void assert_raises(struct xc_process *p, const char *code, enum xc_error_code kind, const char *why)
{
	assert_fails(run(p, code), kind, why);
}

static void close_process(struct xc_process *p)
{
	xc_debuginfo_close(p);
	xc_debugfiles_close(p);
	xc_process_close(p);
}

#define PRELUDE                                                                                                        \
	"local t = xcore.target\n"                                                                                     \
	"local r = t:var 'live_record'\n"                                                                              \
	"local torn = 0\n"                                                                                             \
	"local function settled() return r.gen end\n"                                                                  \
	"local function pair()\n"                                                                                      \
	"  if r.gen % 2 == 1 then error({kind = 'torn'}) end\n"                                                        \
	"  local a = r.a\n"                                                                                            \
	"  local x = 0 for i = 1, 200 do x = x + i end\n"                                                              \
	"  xcore.refresh()\n" /* so that a and b come from two reads */                                                \
	"  return a, r.b\n"                                                                                            \
	"end\n"

static void without_retry_reads_are_torn_and_with_it_never(void **state)
{
	struct child c = start_child();
	(void)state;
	tell(&c, 'w');
	struct xc_process *p = open_pid(c.pid);
	assert_prints(p,
		      PRELUDE "for i = 1, 1e6 do xcore.refresh() local a = r.a xcore.refresh()"
			      " if a ~= r.b then torn = torn + 1 break end end\n"
			      "print(torn > 0)",
		      "true\n");
	assert_int_equal(xc_live_stats(p).torn, 0);
	assert_prints(p,
		      PRELUDE
		      "for i = 1, 3000 do local a, b = xcore.retry(pair, {tries = 1000, words = {xcore.ref(r, 'gen')}})"
		      " if a ~= b then torn = torn + 1 end end print(torn)",
		      "0\n");
	assert_true(xc_live_stats(p).torn > 0);
	assert_prints(p,
		      PRELUDE "for i = 1, 300 do local a, b = xcore.retry(pair, {tries = 1000, words = {settled}})"
			      " if a ~= b then torn = torn + 1 end end print(torn)",
		      "0\n");
	close_process(p);
	end_child(&c);
}

static void a_snapshot_holds_what_the_program_writes(void **state)
{
	struct child c = start_child();
	(void)state;
	tell(&c, 'w');
	struct xc_process *p = open_pid(c.pid);
	assert_prints(
		p,
		PRELUDE
		"xcore.snapshot(r) local gen, a, b = r.gen, r.a, r.b\n"
		"for i = 1, 200 do xcore.retry(function() assert(r.gen == gen and r.a == a and r.b == b) end) end\n"
		"for i = 1, 1e6 do xcore.refresh() if r.gen ~= gen then break end end print(r.gen ~= gen)",
		"true\n");
	assert_prints(p, "xcore.snapshot(xcore.addr(xcore.target:var 'live_record', 'a'), 8) print 'by address'",
		      "by address\n");
	assert_raises(p, "xcore.snapshot(16, 8)", XC_ERR_FAULT, "snapshot: 0x10");
	assert_raises(p, "xcore.snapshot(xcore.target:var 'live_record', 1 << 40)", XC_ERR_LIMIT, "256 MiB");
	assert_prints(p, "print(select(2, pcall(xcore.snapshot, xcore.target:var 'live_record', -1)).kind)", "usage\n");
	close_process(p);
	end_child(&c);
}

/* One page of many, read in every way that looks at bytes in place: before the program writes it, after that, and after
 * it is dropped. */
static void bulk_words_see_what_is_frozen(void **state)
{
	struct child c = start_child();
	(void)state;
	struct xc_process *p = open_pid(c.pid);
	static char code[1200];
	snprintf(code, sizeof code,
		 "local t, at = xcore.target, %llu\n"
		 "xcore.snapshot(at, 16) xcore.snapshot(at + 16, 1 << 20)\n"
		 "xcore.cdef 'struct frozen_bytes { unsigned char a; unsigned char b[15]; };'\n"
		 "local places = {} for i = 0, 299 do places[#places + 1] = at + i * 16 %% (1 << 20) end\n"
		 "function all()\n"
		 "  local c, sum = xcore.gather('struct frozen_bytes', places, {'a', 'b[14]'}), 0\n"
		 "  local d = xcore.columns(xcore.cast(at, 'struct frozen_bytes *'), 300, {'a', 'b[14]'})\n"
		 "  for i = 1, 300 do\n"
		 "    assert(c.a[i] == d.a[i] and c['b[14]'][i] == d['b[14]'][i])\n"
		 "    assert(c.a[i] == t:u8(places[i]) and c['b[14]'][i] == t:u8(places[i] + 15))\n"
		 "    sum = sum + c.a[i] * i + c['b[14]'][i]\n"
		 "  end\n"
		 "  return sum\n"
		 "end\n"
		 "before = before or all() print(all() == before)",
		 (unsigned long long)shared->big);
	struct xc_host_options options = {.process = p, .name = "test", .output = collect};
	struct xc_host *host = xc_host_new(&options);
	printed[0] = '\0';
	XC_OK(xc_host_run(host, "test", code, strlen(code), NULL, 0));
	tell(&c, 'c');
	static const char again[] = "print(all() == before) xcore.refresh() print(all() == before)";
	XC_OK(xc_host_run(host, "test", again, strlen(again), NULL, 0));
	assert_string_equal(printed, "true\ntrue\nfalse\n");
	xc_host_free(host);
	close_process(p);
	end_child(&c);
}

static void retry_ends_with_the_error_that_counts(void **state)
{
	struct child c = start_child();
	(void)state;
	struct xc_process *p = open_pid(c.pid);
	assert_prints(p, "print(xcore.retry(function() return 1, nil, 'x' end))", "1\tnil\tx\n");
	assert_prints(p, "print(pcall(xcore.retry, function() error('mine', 0) end))", "false\tmine\n");
	assert_int_equal(xc_live_stats(p).torn, 0);
	assert_prints(p,
		      "local n = 0 local ok, e = pcall(xcore.retry, function() n = n + 1 return "
		      "xcore.deref(xcore.cast(16, 'char *')) end, {tries = 4})\n"
		      "print(ok, e.kind, n)",
		      "false\tfault\t4\n");
	assert_int_equal(xc_live_stats(p).torn, 3);
	assert_prints(p,
		      "local n = 0 local ok, e = pcall(xcore.retry, function() end, {words = {function() n = n + 1 "
		      "return n end}})\n"
		      "print(ok, e.kind, e.message, n)",
		      "false\ttorn\tthe data changed during each of 5 tries\t10\n");
	assert_prints(p, "print(select(2, pcall(xcore.retry, print, {tries = 0})).kind)", "usage\n");
	close_process(p);
	end_child(&c);
}

static void a_limit_ends_all_tries(void **state)
{
	struct child c = start_child();
	(void)state;
	struct xc_process *p = open_pid(c.pid);
	static const char endless[] = "xcore.retry(function() while true do end end)";
	const struct xc_limits few = {.instructions = 1000000}, soon = {.seconds = 0.2};
	assert_fails(run_within(p, endless, few), XC_ERR_LIMIT, "1,000,000 instructions");
	assert_fails(run_within(p, endless, soon), XC_ERR_LIMIT, "0.2 s");
	close_process(p);
	end_child(&c);
}

static char late[200];

static void a_fault_in_new_memory_is_found_by_the_next_try(void **state)
{
	struct child c = start_child();
	struct xc_process *p = open_pid(c.pid);
	(void)state;
	tell(&c, 'g');
	snprintf(late, sizeof late,
		 "print(xcore.retry(function() return xcore.deref(xcore.cast(%llu, 'unsigned *')) end))",
		 (unsigned long long)shared->grown);
	assert_prints(p, late, "1734829927\n" /* gggg */);
	assert_int_equal(xc_live_stats(p).torn, 1);
	close_process(p);
	end_child(&c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(without_retry_reads_are_torn_and_with_it_never),
		cmocka_unit_test(a_snapshot_holds_what_the_program_writes),
		cmocka_unit_test(bulk_words_see_what_is_frozen),
		cmocka_unit_test(retry_ends_with_the_error_that_counts),
		cmocka_unit_test(a_limit_ends_all_tries),
		cmocka_unit_test(a_fault_in_new_memory_is_found_by_the_next_try),
	};
	return cmocka_run_group_tests_name("bind_live", tests, live_child_make_files, live_child_remove_files);
}
