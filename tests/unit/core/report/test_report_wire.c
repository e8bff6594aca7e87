/* layer: core
 *
 * A transmitted report looks the same in every format. Damaged bytes give an error or a different report, and nothing
 * worse. */
#include "core/report/report_wire.h"
#include "core/report/report_wire_layout.h"
#include "core/base/text.h"
#include "tests/support/check.h"
#include "tests/support/report_fixture.h"

struct sent {
	char *bytes;
	size_t len;
};

static struct sent send(const struct xc_report *report)
{
	struct sent sent = {0};
	FILE *out = open_memstream(&sent.bytes, &sent.len);
	CHECK_OK(xc_report_write(report, out));
	fclose(out);
	return sent;
}

/* The fixture without the parts that are not transmitted: target, verdict, stacks, run. */
static struct fixture sendable(void)
{
	struct fixture f = fixture_new("core.1");
	f.report->sections = f.report->sections->next;
	f.report->target = NULL;
	f.report->verdict = NULL;
	f.report->run = NULL;
	return f;
}

static void check_same(render_function *render, const struct xc_report *a, const struct xc_report *b, bool redact)
{
	char *left = render_to_string(render, a, (struct xc_render_options){.redact = redact});
	char *right = render_to_string(render, b, (struct xc_render_options){.redact = redact});
	assert_string_equal(left, right);
	free(left);
	free(right);
}

static void what_was_read_looks_like_what_was_sent(void **state)
{
	(void)state;
	struct fixture f = sendable();
	for (int incomplete = 0; incomplete < 2; incomplete++) {
		struct xc_report *copy = xc_report_new("analyze");
		f.report->incomplete = incomplete;
		struct sent sent = send(f.report);
		CHECK_OK(xc_report_read(sent.bytes, sent.len, copy));
		free(sent.bytes); /* the copy does not need it */
		for (int redact = 0; redact < 2; redact++) {
			check_same(xc_render_text, f.report, copy, redact);
			check_same(xc_render_json, f.report, copy, redact);
			check_same(xc_render_html, f.report, copy, redact);
		}
		xc_report_free(copy);
	}
	fixture_free(&f);
}

static void it_is_added_behind_what_is_there(void **state)
{
	(void)state;
	struct xc_report *part = xc_report_new("a"), *all = xc_report_new("b");
	xc_section_count(xc_report_section(part, "second", "Second"), "n", "n", 2);
	xc_section_count(xc_report_section(all, "first", "First"), "n", "n", 1);
	struct sent sent = send(part);
	CHECK_OK(xc_report_read(sent.bytes, sent.len, all));
	CHECK_OK(xc_report_read(sent.bytes, sent.len, all));
	assert_string_equal(all->sections->key, "first");
	assert_string_equal(all->sections->next->next->key, "second");
	assert_null(all->sections->next->next->next);
	assert_string_equal(all->command, "b");
	free(sent.bytes);
	xc_report_free(part);
	xc_report_free(all);
}

/* A deep tree, a broad one, and one with overflowing weights: totals are the sum over all paths. */
static void trees_of_any_shape_arrive(void **state)
{
	(void)state;
	struct xc_report *report = xc_report_new("a"), *copy = xc_report_new("a");
	struct xc_section *s = xc_report_section(report, "s", "S");
	struct xc_stacktree *tree = xc_report_new_tree(report, NULL, "bytes");
	const char *names[3000];
	for (size_t i = 0; i < XC_COUNT(names); i++)
		names[i] = i % 3 ? "a" : "b";
	for (size_t depth = 1; depth <= XC_COUNT(names); depth += 7)
		xc_stacktree_add(tree, names, depth, depth);
	for (size_t i = 0; i < 500; i++) {
		char name[16];
		const char *path[] = {"b", name, i % 2 ? "odd" : "even"};
		snprintf(name, sizeof name, "n%zu", i * 7919 % 500);
		xc_stacktree_add(tree, path, 3, UINT64_C(1) << (i % 64));
	}
	xc_report_finish_trees(report);
	xc_section_tree(s, "t", tree);
	struct sent sent = send(report);
	CHECK_OK(xc_report_read(sent.bytes, sent.len, copy));
	check_same(xc_render_json, report, copy, false);
	free(sent.bytes);
	xc_report_free(report);
	xc_report_free(copy);
}

static void large_tables_arrive(void **state)
{
	(void)state;
	static const struct xc_column columns[] = {{"n", "N", XC_FIELD_COUNT, false}, {"t", "T", XC_FIELD_TEXT, true}};
	struct xc_report *report = xc_report_new("a"), *copy = xc_report_new("a");
	struct xc_section *s = xc_report_section(report, "s", "S");
	struct xc_table *table = xc_section_table(s, "t", columns, XC_COUNT(columns));
	for (uint64_t i = 0; i < 50000; i++) {
		const struct xc_cell cells[] = {xc_cell_count(i * i * i * 104729),
						i % 5 ? xc_cell_text("x") : xc_cell_null(NULL)};
		xc_table_row(s, table, cells);
	}
	struct sent sent = send(report);
	CHECK_OK(xc_report_read(sent.bytes, sent.len, copy));
	check_same(xc_render_json, report, copy, false);
	free(sent.bytes);
	xc_report_free(report);
	xc_report_free(copy);
}

static void stacks_are_not_sent(void **state)
{
	(void)state;
	struct fixture f = fixture_new("core.1");
	FILE *out = fopen("/dev/null", "w");
	CHECK_ERROR(xc_report_write(f.report, out), XC_ERR_UNSUPPORTED, "stacks");
	fclose(out);
	fixture_free(&f);
}

static void a_full_disk_is_told(void **state)
{
	(void)state;
	struct fixture f = sendable();
	FILE *out = fopen("/dev/full", "w");
	CHECK_ERROR(xc_report_write(f.report, out), XC_ERR_IO, "No space left");
	fclose(out);
	fixture_free(&f);
}

/* Every truncation is an error, and the part before it is shown. */
static void a_report_cut_anywhere_is_damaged(void **state)
{
	(void)state;
	struct fixture f = sendable();
	struct sent sent = send(f.report);
	for (size_t len = 0; len < sent.len; len++) {
		struct xc_report *copy = xc_report_new("a");
		char *cut = malloc(len ? len : 1); /* so that ASan detects reads past the end */
		memcpy(cut, sent.bytes, len);
		struct xc_error *err = xc_report_read(cut, len, copy);
		if (!err || err->code != XC_ERR_FORMAT)
			fail_msg("%zu of %zu bytes are a report", len, sent.len);
		xc_error_free(err);
		free(render_to_string(xc_render_json, copy, (struct xc_render_options){0}));
		free(cut);
		xc_report_free(copy);
	}
	free(sent.bytes);
	fixture_free(&f);
}

static void what_follows_the_end_is_damage(void **state)
{
	(void)state;
	struct fixture f = sendable();
	struct sent sent = send(f.report);
	struct xc_report *copy = xc_report_new("a");
	sent.bytes = realloc(sent.bytes, sent.len + 1);
	sent.bytes[sent.len] = 1;
	CHECK_ERROR(xc_report_read(sent.bytes, sent.len + 1, copy), XC_ERR_FORMAT, "after its end");
	free(sent.bytes);
	xc_report_free(copy);
	fixture_free(&f);
}

static void add_uleb(struct xc_text *text, uint64_t number)
{
	for (; number >= 0x80; number >>= 7)
		xc_text_char(text, (char)(number | 0x80));
	xc_text_char(text, (char)number);
}

/* Three bytes become a node of a hundred bytes and more. */
static void memory_is_in_proportion(void **state)
{
	(void)state;
	const size_t count = XC_WIRE_SMALL + 1;
	struct xc_text text = {0};
	struct xc_report *copy = xc_report_new("a");
	xc_text_add(&text, XC_WIRE_MAGIC);
	add_uleb(&text, XC_WIRE_VERSION);
	xc_text_addn(&text, "\3\2s\2t\0\0\0", 8); /* a section "s", "t" */
	xc_text_addn(&text, "\10\2k\0\0\0\0", 7); /* a tree "k" */
	add_uleb(&text, count);
	for (size_t i = 0; i < count; i++)
		xc_text_addn(&text, "\1\1\0", 3);
	xc_text_char(&text, XC_WIRE_END);
	CHECK_ERROR(xc_report_read(text.bytes, text.len, copy), XC_ERR_LIMIT, "nodes of trees");
	xc_text_fini(&text);
	xc_report_free(copy);
}

/* Wrong bytes in the middle: whatever is read can be shown in every format. */
static void damaged_bytes_do_no_harm(void **state)
{
	(void)state;
	static render_function *const renders[] = {xc_render_text, xc_render_json, xc_render_html};
	struct fixture f = sendable();
	struct sent sent = send(f.report);
	uint64_t seed = 20260101;
	for (int round = 0; round < 3000; round++) {
		char *bytes = malloc(sent.len);
		memcpy(bytes, sent.bytes, sent.len);
		for (int i = 0; i < 1 + round % 3; i++) {
			seed = seed * UINT64_C(6364136223846793005) + 1442695040888963407u;
			bytes[(seed >> 33) % sent.len] = (char)(seed >> 20);
		}
		struct xc_report *copy = xc_report_new("a");
		xc_error_free(xc_report_read(bytes, sent.len, copy));
		free(render_to_string(renders[round % 3], copy, (struct xc_render_options){0}));
		free(bytes);
		xc_report_free(copy);
	}
	free(sent.bytes);
	fixture_free(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_was_read_looks_like_what_was_sent),
		cmocka_unit_test(it_is_added_behind_what_is_there),
		cmocka_unit_test(trees_of_any_shape_arrive),
		cmocka_unit_test(large_tables_arrive),
		cmocka_unit_test(stacks_are_not_sent),
		cmocka_unit_test(a_full_disk_is_told),
		cmocka_unit_test(a_report_cut_anywhere_is_damaged),
		cmocka_unit_test(what_follows_the_end_is_damage),
		cmocka_unit_test(memory_is_in_proportion),
		cmocka_unit_test(damaged_bytes_do_no_harm),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
