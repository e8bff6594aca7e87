/* layer: lua tier: long
 *
 * xcore.gather and xcore.graph on a program that recorded the retained sizes of its objects: an interpreter's, with
 * tagged values, tables in two widths, and compressed pointers. */
#include "core/report/stacktree.h"
#include "lua/vm/bind.h"
#include "tests/support/opened.h"
#include "tests/support/scripted.h"

/* Objects in a ring in creation order. Object i > 0 hangs below object (i - 1) / 2, by a tagged slot; the last ten are
 * not linked. The program counts each object's retained objects and their number. A tagged slot that is not a reference
 * holds the same bits. */
static const char source[] =
	"#include <stdlib.h>\n"
	"#include <stdint.h>\n"
	"enum { N = 1000, LOOSE = 10 };\n"
	"struct object { struct object *next; uint32_t count; uint32_t small; uint64_t *slots; struct { int64_t bytes; "
	"} kept;\n"
	"  int size; };\n"
	"struct cell { uint64_t value; uint8_t tag, key_tag; uint32_t chain; uint64_t key; };\n"
	"struct object *all, *top, *objects[N];\n"
	"struct cell cells[4];\n"
	"uint32_t small[4];\n"
	"char *base;\n"
	"int count;\n"
	"unsigned long *untouched;\n"
	"static uint64_t tagged(const void *p, int tag) { return (uint64_t)(uintptr_t)p | (uint64_t)(int64_t)tag << "
	"47; }\n"
	"int main(void) {\n"
	"  for (int i = 0; i < N; i++) {\n"
	"    struct object *o = calloc(1, sizeof *o); objects[i] = o; o->next = all; all = o; o->size = 40 + i % 7;\n"
	"    o->slots = calloc(4, 8); o->count = 4; o->slots[3] = 12345; count++; o->kept.bytes = o->size; }\n"
	"  for (int i = N - LOOSE - 1; i > 0; i--) {\n"
	"    objects[(i - 1) / 2]->kept.bytes += objects[i]->kept.bytes;\n"
	"    objects[(i - 1) / 2]->slots[i % 2] = tagged(objects[i], i % 2 ? -5 : -12);\n"
	"    objects[(i - 1) / 2]->slots[2] = tagged(objects[N - 1], -1); }\n"
	"  top = objects[0];\n"
	"  base = (char *)((uintptr_t)top & ~0xffffffffull);\n"
	"  for (int i = 0; i < 4; i++) {\n"
	"    cells[i].value = (uintptr_t)objects[i]; cells[i].tag = i % 2 ? 0x45 : 5; cells[i].key = "
	"(uintptr_t)objects[10 + i];\n"
	"    cells[i].key_tag = 0x44; small[i] = (uint32_t)((uintptr_t)objects[i] - (uintptr_t)base) | (i < 3); }\n"
	"  untouched = calloc(1 << 20, 8);\n"
	"  untouched[0] = 1;\n"
	"  abort(); }\n";

static struct xc_process *process;
static struct scripted *session;

static int open_group(void **state)
{
	(void)state;
	process = died("gcc -g -x c", source);
	session = script_over(process);
	return 0;
}

static int close_group(void **state)
{
	(void)state;
	end_script(session);
	close_process(process);
	return 0;
}

/* The graph of all objects, as built by a plugin. */
#define LIST "local all = xcore.follow(t:var 'all', 'next')[1] "
#define C    "local c = xcore.gather('struct object', all, {'slots', 'count', 'kept.bytes', 'size'}) "
#define SCAN                                                                                                           \
	"{from = all, start = c.slots, count = c.count, mask = 0x7fffffffffff, tag = {shift = 47, lo = -14, hi = -4}}"
#define MADE                                                                                                           \
	LIST C "local g = xcore.graph() g:nodes(all, c.size, 'object') local found, missing = g:scan" SCAN             \
	       " g:root(t:var 'top', 'top') "
#define SMALL                                                                                                          \
	"local g = xcore.graph() g:nodes({0x1000, 0x2000, 0x3000, 0x4000}, {10, 20, 30, 40}, {'a', 'b', 'a', 'c'}) "

static void gathered_members_are_those_of_each_struct(void **state)
{
	(void)state;
	RUNS(session,
	     LIST C "local wrong = 0 for i, addr in ipairs(all) do local o = t:value('struct object', addr) "
		    "if c.count[i] ~= o.count or c['kept.bytes'][i] ~= o.kept.bytes or c.slots[i] ~= "
		    "xcore.addr(o.slots) then wrong "
		    "= wrong + 1 end end print(#all, #c.slots, wrong)",
	     "1000\t1000\t0");
	RUNS(session,
	     LIST "local mixed = {all[1], 16, all[2], false, all[3]} "
		  "local c, missing = xcore.gather('struct object', mixed, {'size', 'slots'}, {partial = true}) "
		  "print(c.size[1] == t:value('struct object', all[1]).size, c.size[2], c.slots[2], c.size[3] > 0, "
		  "c.size[4], "
		  "#c.size, missing)",
	     "true\tfalse\tfalse\ttrue\tfalse\t5\t2");
	RUNS(session, "local c, missing = xcore.gather('struct object', {}, {'size'}) print(#c.size, missing)", "0\t0");
	RAISES(session, "xcore.gather('struct object', {xcore.addr(t:var 'top'), 16}, {'size'})", "fault",
	       "row 2 (0x10): size: 0x30: not mapped");
	RAISES(session, "xcore.gather('struct object', {'x'}, {'size'})", "usage",
	       "addresses: row 1 is a string value, not an address");
	RAISES(session, "xcore.gather('struct objekt', {}, {'size'})", "not_found", "no struct `objekt`");
}

/* Compared with a count of the rows of xcore.gather, one by one. */
static void a_tally_counts_what_gathered_rows_count(void **state)
{
	(void)state;
	RUNS(session,
	     LIST "local seen, wrong, sum, last = {}, 0, 0, 0 "
		  "local c = xcore.gather('struct object', all, {'size', 'count'}) "
		  "for i, size in ipairs(c.size) do local key = size .. ':' .. c.count[i] "
		  "seen[key] = seen[key] or {count = 0, first = i} seen[key].count = seen[key].count + 1 end "
		  "local d, counts, firsts, missing = xcore.tally('struct object', all, {'size', 'count'}) "
		  "for i, n in ipairs(counts) do local s = seen[d.size[i] .. ':' .. d.count[i]] "
		  "if s.count ~= n or all[s.first] ~= firsts[i] or s.first <= last then wrong = wrong + 1 end "
		  "sum, last = sum + n, s.first end "
		  "print(wrong, sum, #counts == #d.size and #counts == #firsts and #counts > 2, missing)",
	     "0\t1000\ttrue\t0");
	RUNS(session,
	     LIST "local d, counts, firsts = xcore.tally('struct object', all, {'kept.bytes', 'slots'}) "
		  "local more, n = {}, {} for i = 1, 200000 do more[i] = all[i % #all + 1] end "
		  "local e, many = xcore.tally('struct object', more, {'kept.bytes', 'slots'}) "
		  "local wrong = #counts ~= #many and 1 or 0 local by = {} "
		  "for i, n in ipairs(counts) do by[d['kept.bytes'][i] .. ':' .. d.slots[i]] = n end "
		  "for i, n in ipairs(many) do if by[e['kept.bytes'][i] .. ':' .. e.slots[i]] * 200 ~= n then "
		  "wrong = wrong + 1 end end print(wrong)",
	     "0");
	RUNS(session,
	     LIST "local d, counts, firsts, missing = xcore.tally('struct object', {16, all[1], false, all[1], 17}, "
		  "{'size'}, {partial = true}) print(#d.size, counts[1], firsts[1] == all[1], missing)",
	     "1\t2\ttrue\t3");
	RUNS(session,
	     "local d, counts, firsts = xcore.tally('struct object', {}, {'size'}) print(#d.size, #counts, #firsts)",
	     "0\t0\t0");
	RAISES(session, "xcore.tally('struct object', {xcore.addr(t:var 'top'), 16}, {'size'})", "fault",
	       "row 2 (0x10): size: 0x30: not mapped");
	RAISES(session, "xcore.tally('struct object', {}, {})", "usage", "tally needs at least one field");
}

static void groups_keep_the_order_of_their_rows(void **state)
{
	(void)state;
	RUNS(session,
	     "local values, keys = {}, {} "
	     "for i = 1, 5000 do values[i] = i keys[i] = ({3, -1, 63, 64, 'x', 1 << 40, false, 2.5, 0})[i * i % 9 + "
	     "1] end "
	     "local by, wrong, rows = xcore.group(values, keys), 0, 0 "
	     "for key, list in pairs(by) do local place = 0 "
	     "for i, k in ipairs(keys) do if k == key then place = place + 1 "
	     "if list[place] ~= i then wrong = wrong + 1 end end end "
	     "if #list ~= place then wrong = wrong + 1 end rows = rows + #list end print(wrong, rows, #by[3] > 0)",
	     "0\t5000\ttrue");
	RUNS(session, "print(next(xcore.group({}, {})))", "nil");
	RAISES(session, "xcore.group({1, 2}, {1})", "usage", "columns of different lengths");
}

static void what_the_program_counted_is_retained(void **state)
{
	(void)state;
	RUNS(session, MADE "print(found, missing, g:count())", "989\t0\t1000\t989");
	RUNS(session, MADE "print(g.strays, g.repeated, g.missing)", "0\t0\t0");
	RUNS(session,
	     MADE "local wrong, none = 0, 0 for i, addr in ipairs(all) do local bytes = g:retained(addr) "
		  "if not bytes then none = none + 1 elseif bytes ~= c['kept.bytes'][i] then wrong = wrong + 1 end end "
		  "print(wrong, none, #g:top{limit = 5}, g:top()[1].retained == t:var 'top'.kept.bytes)",
	     "0\t10\t5\ttrue");
	RUNS(session,
	     MADE "local n = 0 for addr, size, kind in g:unreached() do n = n + 1 end "
		  "local m = 0 for _ in g:unreached 'object' do m = m + 1 end for _ in g:unreached 'other' do m = m + "
		  "1000 end "
		  "print(n, m)",
	     "10\t10");
	RUNS(session,
	     MADE "local o = t:var 'objects' local path, root = g:path(o[500]) local names = {} "
		  "for i, addr in ipairs(path) do for k = 0, 999 do if xcore.addr(o[k]) == addr then names[i] = k end "
		  "end end "
		  "print(table.concat(names, ' '), root, g:path(o[995]))",
	     "0 2 6 14 30 61 124 249 500\ttop\tnil");
}

static void graphs_by_hand(void **state)
{
	(void)state;
	const char *diamond = SMALL "g:edges({0x1000, 0x1000, 0x2010, 0x3000}, {0x2000, 0x3008, 0x4000, 0x4027}) "
				    "g:root({0x1004, 0}, 'r') g:root(0x9999, 's') ";
	const struct {
		const char *ask, *want;
	} cases[] = {
		{"g:retained(0x1000)", "100\t4"},
		{"g:retained(0x2001)", "20\t1"},
		{"xcore.hex((g:dominator(0x4000)))", "0x1000"},
		{"g:dominator(0x1000)", "nil\tr"},
		{"g:find(0x4027)", "16384\t40\tc"},
		{"g:find(0x4028)", "nil"},
		{"g:count()", "4\t4"},
		{"g.strays", "1"},
		{"#g:path(0x4000), select(2, g:path(0x4000))", "3\tr"},
		{"xcore.hex(g:referrers(0x4000)[2]), select(2, g:referrers(0x4000))", "0x3000\t2"},
		{"#g:referrers(0x4000, 1), select(2, g:referrers(0x4000, 1))", "1\t2"},
		{"select(3, g:referrers(0x1000))", "r"},
		{"select('#', g:referrers(0x2000))", "2"},
		{"xcore.hex(g:refers(0x1000)[1]), xcore.hex(g:refers(0x1000)[2])", "0x2000\t0x3000"},
		{"g:top{kind = 'a'}[1].retained, g:top{kind = 'a'}[2].retained, #g:top{kind = 'x'}", "100\t30\t0"},
		{"g:top{by = 'size', limit = 1}[1].size", "40"},
		{"g:kinds()[1].kind, g:kinds()[1].retained, g:kinds()[2].bytes, g:kinds()[2].count", "a\t100\t40\t1"},
		{"g:roots()[1].name, g:roots()[1].bytes, g:roots()[2].name, g:roots()[2].bytes, #g:roots()",
		 "r\t100\ts\t0\t2"},
	};
	for (size_t i = 0; i < XC_COUNT(cases); i++) {
		xc_auto(xc_freep) char *code = xc_asprintf("%s print(%s)", diamond, cases[i].ask);
		says_at(session, code, cases[i].want, __LINE__);
	}
	RUNS(session,
	     SMALL "g:edges(0x1000, 0x3000) g:edges(0x2000, 0x3000) g:root(0x1000, 'r') g:root(0x2000, 's') "
		   "local shared = g:roots()[3] print(shared.name, shared.bytes, shared.count, g:dominator(0x3000))",
	     "nil\t30\t1\tnil");
	RUNS(session,
	     SMALL "g:edges(0x1000, 0x3000) g:edges(0x2000, 0x3000) g:root(0x1000, 'r') g:root(0x2000, 's') "
		   "for i, r in ipairs(g:roots()) do print(r.name, r.bytes, r.near_bytes, r.near_count) end",
	     "s\t20\t20\t1\nr\t10\t40\t2\nnil\t30\tnil\tnil");
	RUNS(session, SMALL "g:nodes(0x1000, 99, 'z') print(g:find(0x1000)) print(g.repeated)", "4096\t10\ta\n1");
}

static void other_tags_and_widths(void **state)
{
	(void)state;
	const char *words = LIST "local g = xcore.graph() g:nodes(all, 40, 'object') local cells = t:ref 'cells' "
				 "local at = xcore.addr(cells) local o = t:var 'objects' ";
	const struct {
		const char *ask, *want;
	} cases[] = {
		{"g:scan{from = all[1], start = at, count = 4, stride = 24, tag = {at = 8, width = 1, mask = 0x40, lo "
		 "= 0x40, hi "
		 "= 0x40}}",
		 "2\t0"},
		{"g:scan{from = all[1], start = at, count = 4, stride = 24, at = {16}, tag = {at = -7, width = 1, "
		 "shift = 6, lo "
		 "= 1, hi = 1}}",
		 "4\t0"},
		{"g:scan{from = all[1], start = at, count = 4, stride = 24, at = {0, 16}}", "8\t0"},
		{"g:scan{from = all[1], start = at, count = 4, stride = 24, at = {0, 16}, unless = {at = 8, width = 1, "
		 "lo = 5, hi = 5}}",
		 "4\t0"},
		{"g:scan{from = all[1], start = at, count = 4, stride = 24, unless = {lo = 1}}", "0\t0"},
		{"g:scan{from = all[1], start = at - 24, offset = 24, count = 3, more = 1, stride = 24}", "4\t0"},
		{"g:scan{from = all[1], start = xcore.addr(t:ref 'small'), count = 4, width = 4, base = "
		 "xcore.addr(t:var 'base'), "
		 "mask = ~1, tag = {mask = 1, lo = 1, hi = 1}}",
		 "3\t0"},
	};
	for (size_t i = 0; i < XC_COUNT(cases); i++) {
		xc_auto(xc_freep) char *code = xc_asprintf("%s print(%s) print(g.strays)", words, cases[i].ask);
		xc_auto(xc_freep) char *want = xc_asprintf("%s\n0", cases[i].want);
		says_at(session, code, want, __LINE__);
	}
	RUNS(session,
	     LIST
	     "local g = xcore.graph() g:nodes(all, 40, 'object') local at = xcore.addr(t:ref 'cells') "
	     "g:scan{from = all[1], start = at, count = 4, stride = 24, at = {0, 16}} "
	     "local refs = g:refers(all[1]) local o = t:var 'objects' "
	     "print(#refs, refs[1] == xcore.addr(o[0]), refs[2] == xcore.addr(o[10]), refs[8] == xcore.addr(o[13]))",
	     "8\ttrue\ttrue\ttrue");
}

/* Wrong array bounds in a damaged program. */
static void hostile_arrays_end(void **state)
{
	(void)state;
	const char *made = SMALL "local start = xcore.addr(t:var 'untouched') ";
	const struct {
		const char *ask, *want;
	} cases[] = {
		{"g:scan{from = 0x1000, start = 16, count = 1000}", "0\t1000"},
		{"g:scan{from = 0x1000, start = 0, count = 1000}", "0\t0"},
		{"g:scan{from = {0x1000, false}, start = start, count = {1, 5}}", "1\t0"},
		{"g:scan{from = 0x1000, start = start, count = 1 << 40}", "0\t1099511627776"},
		{"g:scan{from = 0x1000, start = -16, count = 4}", "0\t4"},
		{"g:scan{from = 0x1000, start = start, count = -1, max = -1, stride = math.maxinteger & 0xffffffff}",
		 "1\t-2"},
		{"select('#', g:scan{from = 0x1000, start = start, count = 1 << 28})", "2"},
		{"g:scan{from = {}, start = {}, count = 3}", "0\t0"},
	};
	for (size_t i = 0; i < XC_COUNT(cases); i++) {
		xc_auto(xc_freep) char *code = xc_asprintf("%s print(%s)", made, cases[i].ask);
		says_at(session, code, cases[i].want, __LINE__);
	}
	/* 40,000 times the same 8 MiB: the script is ended before it finishes. */
	struct xc_limits limits = session->host->limit.limits;
	session->host->limit.limits.instructions = 5000000;
	const char *said = outcome(session, SMALL
				   "local many = {} for i = 1, 40000 do many[i] = xcore.addr(t:var 'untouched') end "
				   "g:scan{from = 0x1000, start = many, count = 1 << 20, tag = {lo = 7, hi = 7}}");
	assert_non_null(strstr(said, "more than 5,000,000 instructions"));
	session->host->limit.limits = limits;
}

static void memory_is_limited(void **state)
{
	(void)state;
	struct xc_limits limits = session->host->limit.limits;
	session->host->limit.limits.memory = 16 << 20;
	const char *said = outcome(
		session,
		"local g = xcore.graph() for i = 1, 100000 do g:nodes({i * 512, i * 512 + 64, i * 512 + 128, i "
		"* 512 + 192}, 64, 'n') g:edges(i * 512, {1, 2, 3, 4, 5, 6, 7, 8, 9, 10}) end print(g:count())");
	assert_non_null(strstr(said, "more than 16.0 MiB of memory"));
	said = outcome(session,
		       "local g = xcore.graph() for i = 1, 100000 do g:nodes(i * 512, 64, 'n') end print(g:count())");
	assert_non_null(strstr(said, "100000\t0"));
	said = outcome(session,
		       "for k = 1, 16 do local g = xcore.graph() for i = 1, 50000 do g:nodes(i * 512, 64, 'n') end "
		       "g:count() end print 'done'"); /* unreferenced graphs are freed */
	assert_non_null(strstr(said, "done"));
	session->host->limit.limits = limits;
}

static void what_is_wrong_is_said(void **state)
{
	(void)state;
	RAISES(session, SMALL "g:count() g:nodes(1, 2, 'x')", "usage", "the graph is finished: nothing can be added");
	RAISES(session, SMALL "g:count() g:edges(1, 2)", "usage", "the graph is finished: nothing can be added");
	RAISES(session, SMALL "g:count() g:scan{from = 1, start = 1, count = 1}", "usage",
	       "the graph is finished: nothing can be added");
	RAISES(session, SMALL "g:nodes({1, 2}, {3}, 'x')", "usage", "addresses has 2 rows and sizes 1");
	RAISES(session, SMALL "g:nodes({1}, {3}, {'x', 'y'})", "usage", "sizes has 1 rows and kinds 2");
	RAISES(session, SMALL "g:nodes(1, -3, 'x')", "usage", "sizes: row 1 is negative");
	RAISES(session, SMALL "g:nodes(1, 3)", "usage", "kind: expected a string, not a nil value");
	RAISES(session, SMALL "g:nodes(1, 3, {true})", "usage", "kind: expected a string, not a boolean value");
	RAISES(session, SMALL "g:edges({1.5}, 2)", "usage", "from: row 1 is a number value, not an integer");
	RAISES(session, SMALL "g:edges('x', 2)", "usage", "from: expected an integer or a column, not a string value");
	RAISES(session, SMALL "g:scan{from = 1, start = 1, count = 1, strid = 8}", "usage",
	       "'strid' is not an option here; options: from start count offset more max stride at width mask shift "
	       "base "
	       "exact tag unless");
	RAISES(session, SMALL "g:scan{from = 1, start = 1}", "usage",
	       "count: expected an integer or a column, not a nil value");
	RAISES(session, SMALL "g:scan{from = 1, start = 1, count = 1, width = 3}", "usage",
	       "words have a width of 4 or 8, tags of 1, 2, 4 or 8, a stride is positive, and no offset is more than "
	       "65536");
	RAISES(session, SMALL "g:scan{from = 1, start = 1, count = 1, at = {}}", "usage", "at: 1 to 64 offsets, not 0");
	RAISES(session, SMALL "g:scan{from = 1, start = 1, count = 1, shift = 64}", "usage",
	       "shift: expected 0 to 63, not 64");
	RAISES(session, SMALL "g:retained(0x5000)", "not_found", "0x5000 is in no node of the graph");
	RAISES(session, SMALL "g:top{by = 'weight'}", "usage", "by: expected \"retained\" or \"size\"");
	RAISES(session, SMALL "g:top{limit = -1}", "usage", "limit: expected an integer from 0 to 1048576");
	RAISES(session, SMALL "g:retain(1)", "usage", "a graph has no 'retain'");
}

/* ---- flame graphs ---- */

/* The tree filled by a script, as "a;b 3" lines; or the error. */
static const char *filled(const char *code)
{
	static char text[4096];
	struct xc_report *report = xc_report_new("run");
	struct xc_host_options options = {
		.process = process, .report = report, .name = "test", .limits = xc_limits_defaults()};
	xc_auto(xc_freep) char *script =
		xc_asprintf("local xcore = require 'xcore' local t = xcore.target "
			    "local tree = xcore.report:section 's':tree('t', {unit = 'bytes'}) %s",
			    code);
	xc_report_answer(report, NULL, "test");
	struct xc_host *host = xc_host_new(&options);
	struct xc_error *err = xc_host_run(host, "test", script, strlen(script), NULL, 0);
	xc_report_finish_trees(report);
	snprintf(text, sizeof text, "%s", err ? err->message : "");
	if (!err) {
		FILE *out = fmemopen(text, sizeof text, "w");
		CHECK_OK(xc_flame_folded(report->sections->items->tree, out));
		fclose(out);
	}
	xc_error_free(err);
	xc_host_free(host);
	xc_report_free(report);
	return text;
}

static void flame_graphs_fold_what_repeats(void **state)
{
	(void)state;
	const char *list = SMALL "g:edges({0x1000, 0x2000, 0x3000}, {0x2000, 0x3000, 0x4000}) g:root(0x1000, 'r') ";
	const struct {
		const char *fill, *want;
	} cases[] = {
		{"g:fill(tree)", "r;a 40\nr;a;b 20\nr;a;c 40\n"},
		{"g:fill(tree, {by = 'dominator', depth = 2})", "r;a 100\n"},
		{"tree:add({'r', 'a'}, 5) g:fill(tree) tree:add({'x'}, 7)", "r;a 45\nr;a;b 20\nr;a;c 40\nx 7\n"},
		{"g:fill(tree, {name = function(addr, kind) return kind ~= 'c' and xcore.hex(addr) or nil end})",
		 "r;0x1000 10\nr;0x1000;0x2000 20\nr;0x1000;0x2000;0x3000 30\nr;0x1000;0x2000;0x3000;c 40\n"},
		{"g:fill(tree, {name = function(addr, kind, above) return above and xcore.hex(above) end})",
		 "r;a 10\nr;a;0x1000 20\nr;a;0x1000;0x2000 30\nr;a;0x1000;0x2000;0x3000 40\n"},
		{"pcall(g.fill, g, tree, {name = function() return {} end}) g:fill(tree)",
		 "r;a 40\nr;a;b 20\nr;a;c 40\n"},
		{"g:fill(tree, {name = function() g:fill(tree, {name = function() return 'x' end}) end})",
		 "a graph cannot be filled while its names are computed"},
		{"g:fill(tree, {name = function() return 1 end})",
		 "name: expected a string or nil, not a number value"},
		{"g:fill(tree, {by = 'size'})", "by: expected \"path\" or \"dominator\""},
		{"g:fill({})", "bad argument #1 to 'fill' (xcore.Tree expected, got table)"},
	};
	for (size_t i = 0; i < XC_COUNT(cases); i++) {
		xc_auto(xc_freep) char *code = xc_asprintf("%s %s", list, cases[i].fill);
		const char *got = filled(code);
		if (!strstr(got, cases[i].want))
			fail_msg("%s\n   says %s\n   want %s", cases[i].fill, got, cases[i].want);
	}
}

/* Twenty roots with 60,000 kinds each: kinds beyond the limit still count, otherwise the number of trees would be
 * unbounded. */
static void frames_of_a_tree_that_is_too_large_count(void **state)
{
	(void)state;
	const char *got =
		filled("local g, kinds = xcore.graph(), {} for i = 1, 60000 do kinds[i] = 'k' .. i end "
		       "for r = 1, 20 do local at, size = {}, {} for i = 1, 60000 do at[i] = (r * 60000 + i) * 16 "
		       "size[i] = 1 end g:nodes(at, size, kinds) g:root(at, 'r' .. r) end "
		       "local whys = {} for i = 1, 2 do local _, why = pcall(g.fill, g, "
		       "xcore.report:section('s' .. i):tree('t', {unit = 'bytes'})) "
		       "whys[i] = tostring(why):match 'more than.*' end error(table.concat(whys, ', '), 0)");
	assert_string_equal(got, "more than 1000000 different paths, more than 256 MiB");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(frames_of_a_tree_that_is_too_large_count),
		cmocka_unit_test(gathered_members_are_those_of_each_struct),
		cmocka_unit_test(a_tally_counts_what_gathered_rows_count),
		cmocka_unit_test(groups_keep_the_order_of_their_rows),
		cmocka_unit_test(what_the_program_counted_is_retained),
		cmocka_unit_test(graphs_by_hand),
		cmocka_unit_test(other_tags_and_widths),
		cmocka_unit_test(hostile_arrays_end),
		cmocka_unit_test(memory_is_limited),
		cmocka_unit_test(what_is_wrong_is_said),
		cmocka_unit_test(flame_graphs_fold_what_repeats),
	};
	return cmocka_run_group_tests(tests, open_group, close_group);
}
