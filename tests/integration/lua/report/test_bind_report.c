/* layer: lua tier: long
 *
 * Scripts fill a report; the test reads it back from JSON and text, and checks the errors. */
#include <jansson.h>

#include "core/render/render.h"
#include "core/report/stacktree.h"
#include "lua/vm/host.h"
#include "tests/support/check.h"
#include "tests/support/scripted.h"

struct run {
	struct xc_report *report;
	struct xc_host *host;
	struct xc_error *err;
	json_t *json;
};

static char *rendered(const struct xc_report *report, bool json, bool redact)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);
	struct xc_render_options options = {.width = 80, .redact = redact};
	CHECK_OK(json ? xc_render_json(report, &options, out) : xc_render_text(report, &options, out));
	fclose(out);
	return text;
}

/* Without its JSON, which may have hundreds of megabytes. */
static struct run run_only(struct xc_process *process, const char *code)
{
	struct run r = {.report = xc_report_new("run")};
	struct xc_host_options options = {
		.process = process, .report = r.report, .name = "test", .limits = xc_limits_defaults()};
	xc_report_answer(r.report, NULL, "test");
	r.host = xc_host_new(&options);
	r.err = xc_host_run(r.host, "test.lua", code, strlen(code), NULL, 0);
	xc_report_finish_trees(r.report);
	return r;
}

static struct run run(struct xc_process *process, const char *code)
{
	struct run r = run_only(process, code);
	char *text = rendered(r.report, true, false);
	r.json = json_loads(text, JSON_REJECT_DUPLICATES, NULL);
	assert_non_null(r.json);
	free(text);
	return r;
}

static void end(struct run *r)
{
	xc_host_free(r->host);
	xc_report_free(r->report);
	xc_error_free(r->err);
	json_decref(r->json);
}

/* The value at "sections.0.fields.used", as JSON text. */
static char *at(const struct run *r, const char *path)
{
	char copy[160], *rest = copy;
	json_t *value = r->json;
	snprintf(copy, sizeof copy, "%s", path);
	for (char *key; value && (key = strsep(&rest, "."));)
		value = *key >= '0' && *key <= '9' ? json_array_get(value, (size_t)atoi(key))
						   : json_object_get(value, key);
	return value ? json_dumps(value, JSON_ENCODE_ANY | JSON_COMPACT | JSON_ENSURE_ASCII) : strdup("(absent)");
}

static void check_at(const struct run *r, const char *path, const char *expected)
{
	char *found = at(r, path);
	if (strcmp(found, expected) != 0)
		fail_msg("%s is %s, not %s", path, found, expected);
	free(found);
}

static void check_text(const struct run *r, bool redact, const char *part, bool is_there)
{
	char *text = rendered(r->report, false, redact);
	if (!strstr(text, part) == is_there)
		fail_msg("'%s' is%s in:\n%s", part, is_there ? " not" : "", text);
	free(text);
}

/* The code fails with this kind of error; its message contains this text. */
static void fails(enum xc_error_code code, const char *part, const char *script)
{
	struct run r = run_only(NULL, script);
	struct xc_error *err = xc_take(r.err);
	if (!err)
		fail_msg("no error: %s", script);
	if (err->code != code || !strstr(err->message, part))
		fail_msg("%s:\nerror %d \"%s\", not %d \"%s\"", script, (int)err->code, err->message, (int)code, part);
	xc_error_free(err);
	end(&r);
}

#define SECTION "local xcore = require 'xcore'; local s = xcore.report:section('one', 'One')\n"

static void fields_of_each_kind(void **state)
{
	(void)state;
	struct run r =
		run(NULL, SECTION "s:text('name', 'a\\0b\\27[31m'); s:count('used', -1, {label = 'in use'})\n"
				  "s:integer('delta', -5); s:bytes('size', 1536); s:address('at', 0x1000)\n"
				  "s:bool('ok', true); s:seconds('took', 0.25); s:ratio('share', 0.125)\n"
				  "s:number('factor', 1.5); s:unknown('lost', 'not dumped'); s:count('none', nil)\n"
				  "s:ratio('odd', 0/0); s:text('hidden', 'quiet one', {quiet = true})\n"
				  "s:headline 'the one'; s:warning('careful', 'look')");
	CHECK_OK(r.err);
	check_at(&r, "schema", "\"xcore.run/1\"");
	check_at(&r, "plugin", "null");
	check_at(&r, "target", "(absent)");
	check_at(&r, "sections.0.title", "\"One\"");
	check_at(&r, "sections.0.fields.name", "\"a\\\\x00b\\u001B[31m\"");
	check_at(&r, "sections.0.fields.used", "\"18446744073709551615\"");
	check_at(&r, "sections.0.fields.delta", "-5");
	check_at(&r, "sections.0.fields.size", "1536");
	check_at(&r, "sections.0.fields.at", "\"0x1000\"");
	check_at(&r, "sections.0.fields.ok", "true");
	check_at(&r, "sections.0.fields.took", "0.25");
	check_at(&r, "sections.0.fields.share", "0.125");
	check_at(&r, "sections.0.fields.factor", "1.5");
	check_at(&r, "sections.0.fields.none", "null");
	check_at(&r, "sections.0.fields.hidden", "\"quiet one\"");
	check_at(&r, "sections.0.unknown", "{\"lost\":\"not dumped\",\"odd\":\"not a number\"}");
	check_at(&r, "sections.0.messages.0", "{\"severity\":\"warning\",\"text\":\"careful\",\"hint\":\"look\"}");
	check_text(&r, false, "in use  18,446,744,073,709,551,615", true);
	check_text(&r, false, "share   12.5%", true);
	check_text(&r, false, "a\\x00b\\x1b[31m", true);
	check_text(&r, false, "quiet one", false);
	end(&r);
}

static void a_section_is_found_again_by_its_key(void **state)
{
	(void)state;
	struct run r = run(NULL, SECTION "s:count('a', 1); xcore.report:section('two'); "
					 "xcore.report:section('one', 'Other'):count('b', 2)");
	CHECK_OK(r.err);
	check_at(&r, "sections.0.fields", "{\"a\":1,\"b\":2}");
	check_at(&r, "sections.1.title", "\"two\"");
	check_at(&r, "sections.2", "(absent)");
	end(&r);
}

/* With its C type, as written by `xcore print`; secret unless the script declares otherwise. */
static void values_keep_their_types(void **state)
{
	(void)state;
	struct scripted *program =
		script("gcc -g -x c", "struct client {int fd; const char *name; unsigned long id;} "
				      "one = {7, \"hunter2\", ~0ul}, *head = &one; short port = 6379;");
	struct run r = run(program->process, SECTION
			   "local t = xcore.target; s:value('head', t:var 'head'); s:value('one', t:var 'one')\n"
			   "s:value('open', t:var 'one', {secret = false}); s:value('port', t:var 'port')\n"
			   "s:value('port_ref', t:ref 'port'); s:value('none', nil); s:address('at', t:var 'one')");
	CHECK_OK(r.err);
	check_at(&r, "sections.0.values.one.type", "\"struct client\"");
	check_at(&r, "sections.0.values.one.value.fd", "7");
	check_at(&r, "sections.0.values.one.value.id", "\"18446744073709551615\"");
	check_at(&r, "sections.0.values.head.type", "\"struct client *\"");
	check_at(&r, "sections.0.values.port_ref.type", "\"short\"");
	check_at(&r, "sections.0.fields.port", "6379");
	check_at(&r, "sections.0.fields.none", "null");
	char *at_head = at(&r, "sections.0.values.head.value"), *at_one = at(&r, "sections.0.fields.at");
	assert_string_equal(at_head, at_one);
	free(at_head);
	free(at_one);
	check_text(&r, false, "id = 18446744073709551615", true);
	check_text(&r, false, "head      (struct client *) 0x", true);
	char *text = rendered(r.report, false, true), *json = rendered(r.report, true, true);
	assert_non_null(strstr(text, "one       (redacted)"));
	assert_non_null(strstr(text, "open      {fd = 7, name = 0x"));
	assert_non_null(strstr(json, "\"one\":{\"type\":\"struct client\",\"addr\":\"0x"));
	assert_non_null(strstr(json, "\"value\":\"(redacted)\"}"));
	free(text);
	free(json);
	end(&r);
	end_script(program);
}

static void tables_have_rows_by_columns(void **state)
{
	(void)state;
	struct run r = run(NULL, SECTION "local t = s:table('keys', {{'name', 'text', secret = true}, "
					 "{'mem_size', 'bytes', label = 'MEM'}, {'share_of', 'ratio'}})\n"
					 "t:row('k1', 2048, 0.5); t:row(nil, nil); t:row('k3', 0, 0.25)");
	CHECK_OK(r.err);
	check_at(&r, "sections.0.tables.keys.0", "{\"name\":\"k1\",\"mem_size\":2048,\"share_of\":0.5}");
	check_at(&r, "sections.0.tables.keys.1", "{\"name\":null,\"mem_size\":null,\"share_of\":null}");
	check_at(&r, "sections.0.tables.keys.3", "(absent)");
	check_text(&r, false, "NAME       MEM  SHARE OF", true);
	check_text(&r, false, "k1    2.00 KiB     50.0%", true);
	check_text(&r, true, "k1", false);
	end(&r);
}

static void trees_merge_paths(void **state)
{
	(void)state;
	struct run r =
		run(NULL, SECTION "local t = s:tree('mem', {unit = 'bytes', title = 'memory'})\n"
				  "t:add({'db0', 'strings'}, 3000); t:add({'db0', 'lists'}, 1000); t:add({'db0'}, 96)");
	CHECK_OK(r.err);
	check_at(&r, "sections.0.trees.mem.unit", "\"bytes\"");
	check_at(&r, "sections.0.trees.mem.total", "4096");
	check_at(&r, "sections.0.trees.mem.nodes.0", "{\"depth\":1,\"name\":\"db0\",\"self\":96,\"total\":4096}");
	check_at(&r, "sections.0.trees.mem.nodes.1", "{\"depth\":2,\"name\":\"lists\",\"self\":1000,\"total\":1000}");
	check_text(&r, false, "memory\n", true);
	check_text(&r, false, "4.00 KiB", true);
	end(&r);
}

static void lines_have_a_label_and_may_be_secret(void **state)
{
	(void)state;
	struct run r = run(NULL, SECTION "s:lines('dump', 'one\\ntwo', {label = 'the dump', secret = true})");
	CHECK_OK(r.err);
	check_at(&r, "sections.0.texts.dump", "\"one\\ntwo\"");
	check_text(&r, false, "the dump\none\ntwo\n", true);
	check_text(&r, true, "two", false);
	end(&r);
}

static void what_is_wrong_names_the_key(void **state)
{
	(void)state;
	fails(XC_ERR_FORMAT, "used: expected an integer, not a string", SECTION "s:count('used', '7')");
	fails(XC_ERR_FORMAT, "used: 1.5", SECTION "s:count('used', 1.5)");
	fails(XC_ERR_FORMAT, "ok: expected true or false, not a number", SECTION "s:bool('ok', 1)");
	fails(XC_ERR_FORMAT, "name: expected a string, not a table", SECTION "s:text('name', {})");
	fails(XC_ERR_FORMAT, "'Used' is not a valid key", SECTION "s:count('Used', 1)");
	fails(XC_ERR_FORMAT, "'a.b' is not a valid key", SECTION "s:count('a.b', 1)");
	fails(XC_ERR_FORMAT, "'' is not a valid key", SECTION "s:count('', 1)");
	fails(XC_ERR_FORMAT, "'a\nb' is not a valid key", SECTION "s:count('a\\nb', 1)");
	fails(XC_ERR_FORMAT, "'lable' is not an option here", SECTION "s:count('a', 1, {lable = 'x'})");
	fails(XC_ERR_FORMAT, "secret: expected true or false", SECTION "s:count('a', 1, {secret = 1})");
	fails(XC_ERR_FORMAT, "a section has no 'conut'", SECTION "s:conut('a', 1)");
	fails(XC_ERR_FORMAT, "column 'a': 'int' is not a kind", SECTION "s:table('t', {{'a', 'int'}})");
	fails(XC_ERR_FORMAT, "two columns are named 'a'", SECTION "s:table('t', {{'a', 'text'}, {'a', 'text'}})");
	fails(XC_ERR_FORMAT, "a row has 2 values", SECTION "s:table('t', {{'a', 'count'}}):row(1, 2)");
	fails(XC_ERR_FORMAT, "a: expected an integer", SECTION "s:table('t', {{'a', 'count'}}):row {}");
	fails(XC_ERR_FORMAT, "'unknown'", SECTION "s:table('t', {{'unknown', 'count'}})");
	fails(XC_ERR_FORMAT, "a path must be a list of strings, but item 2 is a nil",
	      SECTION "s:tree('t'):add({'a', nil, 'c'}, 1)");
	fails(XC_ERR_FORMAT, "weight", SECTION "s:tree('t'):add({'a'})");
	fails(XC_ERR_FORMAT, "xcore.Table expected", SECTION "s:table('t', {{'a', 'count'}}).row(s, 1)");
}

static void there_is_an_end_to_everything(void **state)
{
	(void)state;
	fails(XC_ERR_LIMIT, "more than 1000 sections",
	      "for i = 1, 1001 do require 'xcore'.report:section('s' .. i) end");
	fails(XC_ERR_LIMIT, "section 'one' has more than 4096", SECTION "for i = 1, 4097 do s:note('n') end");
	fails(XC_ERR_LIMIT, "more than 256 MiB",
	      SECTION "local x = string.rep('x', 1 << 20); for i = 1, 257 do s:lines('l' .. i, x) end");
	fails(XC_ERR_LIMIT, "NUL bytes of more than 64 MiB", SECTION "s:text('a', ('\\0'):rep((64 << 20) + 1))");
}

/* Memory is charged only when an object is created: a script may continue after the error. */
static void the_end_cannot_be_passed_again_and_again(void **state)
{
	struct xc_report *report = xc_report_new("run");
	struct xc_host_options options = {.report = report, .name = "test", .limits = xc_limits_defaults()};
	struct xc_host *host = xc_host_new(&options);
	const char *code = SECTION "local x, tree = string.rep('x', 90 << 20), s:tree('t')\n"
				   "for i = 1, 6 do pcall(tree.add, tree, {x .. i}, 1) end\n"
				   "assert(not pcall(s.count, s, 'a', 1))";
	(void)state;
	CHECK_OK(xc_host_run(host, "test.lua", code, strlen(code), NULL, 0));
	assert_int_equal(report->sections->items->tree->node_count, 3);
	xc_host_free(host);
	xc_report_finish_trees(report);
	xc_report_free(report);
}

static void what_was_made_before_an_error_stays(void **state)
{
	(void)state;
	struct run r = run(NULL, SECTION "s:count('a', 1); error 'no more'");
	assert_non_null(r.err);
	check_at(&r, "sections.0.fields.a", "1");
	end(&r);
}

/* ---- accumulators, against a count by hand ---- */

static void returns(const char *code)
{
	struct run r = run(NULL, code);
	if (r.err)
		fail_msg("%s\n%s", r.err->message, code);
	end(&r);
}

#define HISTOGRAM                                                                                                      \
	"local xcore = require 'xcore'\n"                                                                              \
	"local function text(h) local t = {} for i, b in ipairs(h:buckets()) do\n"                                     \
	"t[i] = xcore.u64(b.lo) .. '-' .. b.hi .. ':' .. b.count end return table.concat(t, ' ') end\n"                \
	"local function is(a, b) if a ~= b then error(tostring(a) .. ' is not ' .. tostring(b)) end end\n"

static void histograms_count_by_powers_of_two(void **state)
{
	(void)state;
	returns(HISTOGRAM "local h = xcore.histogram(); h:add(0); h:add(1); h:add{2, 3, 4, 7, 8}; h:add(1000, 5)\n"
			  "is(text(h), '0-0:1 1-1:1 2-3:2 4-7:2 8-15:1 512-1023:5')\n"
			  "local s = h:summary(); is(s.count, 12); is(s.sum, 5025); is(s.min, 0); is(s.max, 1000)\n"
			  "is(s.mean, 5025 / 12)");
	returns(HISTOGRAM "local h = xcore.histogram{unit = 'bytes'}; h:add(-1); h:add(math.mininteger)\n"
			  "is(text(h), '9223372036854775808--1:2'); is(h:summary().max, -1)\n"
			  "is(h:summary().min, math.mininteger)");
	returns(HISTOGRAM
		"local h = xcore.histogram(); is(#h:buckets(), 0); is(h:summary().mean, nil); is(h:summary().sum, 0)");
}

static void histograms_count_by_width_and_exactly(void **state)
{
	(void)state;
	returns(HISTOGRAM
		"local h = xcore.histogram{scale = 'linear', width = 10}\n"
		"h:add{-1, -10, -11, 0, 9, 10}\n"
		"local b = h:buckets(); is(#b, 4); is(b[1].lo, -20); is(b[1].hi, -11); is(b[1].count, 1)\n"
		"is(b[2].lo, -10); is(b[2].count, 2); is(b[3].count, 2); is(b[4].hi, 19); is(h:summary().sum, -3)");
	returns(HISTOGRAM "local h = xcore.histogram{scale = 'exact'}; h:add{5, 3, 5, -2}\n"
			  "local b = h:buckets(); is(#b, 3); is(b[1].lo, -2); is(b[3].hi, 5); is(b[3].count, 2)");
	returns(HISTOGRAM "local h = xcore.histogram{unit = 'seconds'}; h:add{0.3, 0.25, 2}\n"
			  "local b = h:buckets(); is(#b, 2); is(b[1].lo, 0.25); is(b[1].hi, 0.5); is(b[1].count, 2)\n"
			  "is(b[2].lo, 2.0); is(b[2].hi, 4.0)");
	returns(HISTOGRAM "local h = xcore.histogram{scale = 'linear', width = 1}\n"
			  "h:add(math.mininteger); h:add(math.maxinteger)\n"
			  "local b = h:buckets(); is(b[1].lo, math.mininteger); is(b[2].hi, math.maxinteger)");
	fails(XC_ERR_FORMAT, "negative", HISTOGRAM "xcore.histogram():add(-0.5)");
	fails(XC_ERR_FORMAT, "not an integer", HISTOGRAM "xcore.histogram{scale = 'exact'}:add(0.5)");
	fails(XC_ERR_FORMAT, "cannot be counted", HISTOGRAM "xcore.histogram():add(0/0)");
	fails(XC_ERR_FORMAT, "'log' is not a scale", HISTOGRAM "xcore.histogram{scale = 'log'}");
	fails(XC_ERR_FORMAT, "width", HISTOGRAM "xcore.histogram{scale = 'linear'}");
	fails(XC_ERR_FORMAT, "width", HISTOGRAM "xcore.histogram{scale = 'linear', width = 0}");
	fails(XC_ERR_FORMAT, "out of range", HISTOGRAM "xcore.histogram{scale = 'linear', width = 1e-300}:add(1e300)");
	fails(XC_ERR_FORMAT, "out of range", HISTOGRAM "xcore.histogram{scale = 'linear', width = 1e-12}:add(1 << 40)");
	fails(XC_ERR_FORMAT, "the weight is negative", HISTOGRAM "xcore.histogram():add(1, -1)");
	fails(XC_ERR_FORMAT, "'a' is not an option", HISTOGRAM "xcore.histogram{a = 1}");
	fails(XC_ERR_LIMIT, "buckets",
	      HISTOGRAM "local h = xcore.histogram{scale = 'exact'}\n"
			"for i = 1, 2000000 do h:add(i) end");
}

static void a_histogram_in_a_section(void **state)
{
	(void)state;
	struct run r = run(NULL, SECTION "local h = xcore.histogram{unit = 'bytes'}; h:add{100, 1500, 1600, 1 << 20}\n"
					 "s:histogram('sizes', h, {label = 'sizes of keys'})\n"
					 "s:histogram('empty', xcore.histogram())");
	CHECK_OK(r.err);
	check_at(&r, "sections.0.histograms.sizes.unit", "\"bytes\"");
	check_at(&r, "sections.0.histograms.sizes.sum", "1051776");
	check_at(&r, "sections.0.histograms.sizes.max", "1048576");
	check_at(&r, "sections.0.histograms.sizes.buckets.1", "{\"lo\":1024,\"hi\":2047,\"count\":2}");
	check_at(&r, "sections.0.histograms.empty.min", "null");
	check_text(&r, false, "sizes of keys  4 in all, 100 B to 1 MiB, mean 257 KiB", true);
	check_text(&r, false, "1 KiB – 2 KiB  2  ██████████", true);
	check_text(&r, false, "64 B – 127 B  1  █████", true);
	end(&r);
}

/* Compared with a full sort. */
static void the_largest_are_kept_in_order(void **state)
{
	(void)state;
	returns("local xcore = require 'xcore'; math.randomseed(7)\n"
		"for round = 1, 50 do\n"
		"  local k, n, all, top = math.random(1, 40), math.random(0, 300), {}, nil\n"
		"  top = xcore.top(k)\n"
		"  for i = 1, n do local w = math.random(-20, 20); if i % 3 == 0 then w = w + 0.5 end\n"
		"    all[i] = {w = w, i = i}; top:add(w, i) end\n"
		"  table.sort(all, function(a, b) return a.w > b.w or (a.w == b.w and a.i < b.i) end)\n"
		"  local items = top:items()\n"
		"  assert(#items == math.min(k, n), round)\n"
		"  for j, it in ipairs(items) do assert(it.weight == all[j].w, round)\n"
		"    assert(it.item == all[j].i, round) end\n"
		"  assert(top:least() == (n >= k and all[k].w or nil), 'least ' .. round)\n"
		"end");
	fails(XC_ERR_FORMAT, "k: 1 to", "require 'xcore'.top(0)");
	fails(XC_ERR_FORMAT, "not a number", "require 'xcore'.top(1):add(0/0, 1)");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(fields_of_each_kind),
		cmocka_unit_test(a_section_is_found_again_by_its_key),
		cmocka_unit_test(values_keep_their_types),
		cmocka_unit_test(tables_have_rows_by_columns),
		cmocka_unit_test(trees_merge_paths),
		cmocka_unit_test(lines_have_a_label_and_may_be_secret),
		cmocka_unit_test(what_is_wrong_names_the_key),
		cmocka_unit_test(there_is_an_end_to_everything),
		cmocka_unit_test(the_end_cannot_be_passed_again_and_again),
		cmocka_unit_test(what_was_made_before_an_error_stays),
		cmocka_unit_test(histograms_count_by_powers_of_two),
		cmocka_unit_test(histograms_count_by_width_and_exactly),
		cmocka_unit_test(a_histogram_in_a_section),
		cmocka_unit_test(the_largest_are_kept_in_order),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
