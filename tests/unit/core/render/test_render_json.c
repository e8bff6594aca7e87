/* layer: core */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include <jansson.h>

#include "tests/support/report_fixture.h"

static json_t *render(struct xc_render_options options)
{
	struct fixture f = fixture_new("core.1");
	char *text = render_to_string(xc_render_json, f.report, options);
	assert_non_null(text);
	json_error_t error;
	json_t *root = json_loads(text, JSON_REJECT_DUPLICATES, &error);
	if (!root)
		fail_msg("line %d: %s", error.line, error.text);
	free(text);
	fixture_free(&f);
	return root;
}

static json_t *member(json_t *object, const char *path)
{
	char copy[128], *rest = copy;
	snprintf(copy, sizeof copy, "%s", path);
	for (char *key; object && (key = strsep(&rest, "."));)
		object = *key >= '0' && *key <= '9' ? json_array_get(object, (size_t)atoi(key))
						    : json_object_get(object, key);
	return object;
}

static const char *text_at(json_t *root, const char *path)
{
	return json_string_value(member(root, path));
}

static void a_report_has_target_verdict_and_sections(void **state)
{
	(void)state;
	json_t *root = render((struct xc_render_options){0});
	assert_string_equal(text_at(root, "schema"), "xcore.report/1");
	assert_string_equal(text_at(root, "target.core_id"), "00ff");
	assert_string_equal(text_at(root, "verdict.class"), "null-write");
	assert_int_equal(json_integer_value(member(root, "verdict.line")), 42);
	assert_true(json_is_null(member(root, "verdict.module")));
	assert_int_equal(json_array_size(member(root, "verdict.evidence")), 2);
	assert_string_equal(text_at(root, "sections.0.key"), "stacks");
	assert_int_equal(json_array_size(member(root, "sections.0.stacks.threads")), 3);
	assert_string_equal(text_at(root, "sections.1.key"), "modules");
	assert_null(member(root, "run"));
	json_decref(root);
}

static void fields_have_the_json_type_of_their_kind(void **state)
{
	(void)state;
	json_t *root = render((struct xc_render_options){0}), *fields = member(root, "sections.1.fields");
	assert_int_equal(json_integer_value(member(fields, "count")), 1204331);
	assert_string_equal(text_at(fields, "huge"), "18446744073709551615");
	assert_int_equal(json_integer_value(member(fields, "delta")), -5);
	assert_true(json_is_true(member(fields, "ok")));
	assert_true(json_real_value(member(fields, "took")) == 0.25);
	assert_string_equal(text_at(fields, "base"), "0x7f0000000000");
	assert_true(json_is_null(member(fields, "why")));
	assert_string_equal(text_at(root, "sections.1.unknown.why"), "its page was not dumped");
	assert_string_equal(text_at(root, "sections.1.tables.modules.0.unknown.note"), "not looked for");
	assert_int_equal(json_integer_value(member(root, "sections.1.tables.modules.0.bytes")), 1 << 20);
	assert_int_equal(json_integer_value(member(root, "sections.1.trees.tree.nodes.2.depth")), 3);
	assert_string_equal(text_at(root, "sections.1.trees.tree.nodes.3.name"), "write");
	json_decref(root);
}

static void single_is_the_section_with_a_schema_alone(void **state)
{
	(void)state;
	json_t *root = render((struct xc_render_options){.single = true});
	assert_string_equal(text_at(root, "schema"), "xcore.bt/1");
	assert_null(member(root, "sections"));
	json_t *frame = member(root, "threads.0.frames.0");
	assert_int_equal(json_integer_value(member(root, "threads.0.tid")), 100);
	assert_true(json_is_true(member(root, "threads.0.crashed")));
	assert_true(json_is_null(member(root, "threads.0.state")));
	assert_string_equal(text_at(frame, "pc"), "0x401136");
	assert_true(json_is_true(member(frame, "inline")));
	assert_string_equal(text_at(frame, "trust"), "context");
	assert_string_equal(text_at(frame, "offset"), "0x1136");
	assert_string_equal(text_at(frame, "args.0.value"), "0x55d0c1a2b3c0");
	assert_true(json_is_null(member(frame, "args.1.value")));
	assert_string_equal(text_at(frame, "args.1.why"), "optimized out");
	assert_true(json_is_true(member(frame, "args.2.guessed")));
	assert_true(json_is_null(member(root, "threads.0.frames.2.function")));
	assert_true(json_is_null(member(root, "threads.0.frames.2.args")));
	assert_int_equal(json_array_size(member(root, "threads.0.frames.1.args")), 0);
	assert_int_equal(json_integer_value(member(root, "threads.0.elided")), 897);
	assert_string_equal(text_at(root, "threads.1.stop"), "0x7fff0000: not dumped into the core");
	json_decref(root);
}

static void groups_list_thread_ids_beside_all_threads(void **state)
{
	(void)state;
	json_t *root = render((struct xc_render_options){.single = true});
	assert_int_equal(json_array_size(member(root, "threads")), 3);
	assert_int_equal(json_array_size(member(root, "groups")), 2);
	assert_int_equal(json_integer_value(member(root, "groups.1.0")), 101);
	assert_int_equal(json_integer_value(member(root, "groups.1.1")), 102);
	json_decref(root);
}

static void frames_and_rows_start_lines(void **state)
{
	(void)state;
	struct fixture f = fixture_new("core.1");
	char *text = render_to_string(xc_render_json, f.report, (struct xc_render_options){0});
	size_t frames = 0;
	for (const char *line = text; (line = strstr(line, "\n{\"index\":")); line++)
		frames++;
	assert_int_equal(frames, 3 * 4);
	assert_non_null(strstr(text, "\n{\"tid\":101,"));
	assert_non_null(strstr(text, "\n[101,102]]"));
	assert_non_null(strstr(text, "\n{\"name\":\"libc.so.6\","));
	assert_non_null(strstr(text, "\n{\"depth\":1,"));
	free(text);
	fixture_free(&f);
}

static void two_copies_of_a_core_give_the_same_bytes(void **state)
{
	(void)state;
	struct fixture a = fixture_new("core.1"), b = fixture_new("/elsewhere/core.zst");
	char *left = render_to_string(xc_render_json, a.report, (struct xc_render_options){0});
	char *right = render_to_string(xc_render_json, b.report, (struct xc_render_options){0});
	assert_string_equal(left, right);
	char *with_run = render_to_string(xc_render_json, b.report, (struct xc_render_options){.stats = true});
	assert_non_null(strstr(with_run, "\"run\":{\"target\":\"/elsewhere/core.zst\"}"));
	free(left);
	free(right);
	free(with_run);
	fixture_free(&a);
	fixture_free(&b);
}

static void redaction_leaves_no_secret(void **state)
{
	(void)state;
	struct fixture f = fixture_new("core.1");
	char *open = render_to_string(xc_render_json, f.report, (struct xc_render_options){0});
	char *closed = render_to_string(xc_render_json, f.report, (struct xc_render_options){.redact = true});
	assert_non_null(strstr(open, "hunter2"));
	assert_null(strstr(closed, "hunter2"));
	assert_non_null(strstr(closed, "\"value\":\"(redacted)\""));
	assert_non_null(strstr(closed, "\"args\":\"(redacted)\""));
	assert_non_null(strstr(closed, "optimized out"));
	free(open);
	free(closed);
	fixture_free(&f);
}

static void hostile_strings_leave_no_control_character(void **state)
{
	(void)state;
	struct fixture f = fixture_new(HOSTILE);
	char *text = render_to_string(xc_render_json, f.report, (struct xc_render_options){.stats = true});
	assert_false(has_control(text));
	assert_non_null(strstr(text, "a\\u001B[31m\\\\xc2\\\\x9b1m</script>"));
	json_t *root = json_loads(text, JSON_REJECT_DUPLICATES, NULL);
	assert_non_null(root);
	json_decref(root);
	free(text);
	fixture_free(&f);
}

static void documents_keep_their_own_shape(void **state)
{
	(void)state;
	struct xc_report *report = xc_report_new("ptype");
	struct xc_section *s = xc_report_section(report, "type", "Type");
	xc_section_document(s, "layout", "struct a {}",
			    json_pack("{s:s, s:[{s:i}, {s:i}]}", "name", "a", "m", "x", 1, "x", 2));
	char *text = render_to_string(xc_render_json, report, (struct xc_render_options){0});
	json_t *root = json_loads(text, JSON_REJECT_DUPLICATES, NULL);
	assert_string_equal(text_at(root, "sections.0.documents.layout.name"), "a");
	assert_int_equal(json_integer_value(member(root, "sections.0.documents.layout.m.1.x")), 2);
	json_decref(root);
	free(text);
	s->schema = "xcore.ptype/1";
	text = render_to_string(xc_render_json, report, (struct xc_render_options){.single = true});
	assert_string_equal(text, "{\"schema\":\"xcore.ptype/1\",\"name\":\"a\",\"m\":[\n{\"x\":1},\n{\"x\":2}]}\n");
	free(text);
	text = render_to_string(xc_render_text, report, (struct xc_render_options){0});
	assert_non_null(strstr(text, "struct a {}"));
	free(text);
	xc_report_free(report);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_report_has_target_verdict_and_sections),
		cmocka_unit_test(fields_have_the_json_type_of_their_kind),
		cmocka_unit_test(single_is_the_section_with_a_schema_alone),
		cmocka_unit_test(groups_list_thread_ids_beside_all_threads),
		cmocka_unit_test(frames_and_rows_start_lines),
		cmocka_unit_test(two_copies_of_a_core_give_the_same_bytes),
		cmocka_unit_test(redaction_leaves_no_secret),
		cmocka_unit_test(hostile_strings_leave_no_control_character),
		cmocka_unit_test(documents_keep_their_own_shape),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
