/* layer: batch */
/* export_html: the page before its script runs, and the stacks of its flame graph. test_export validates the markup
 * with tests/batch/check_html.py; tests/browser/triage tests its behaviour. */
#include "batch/export/export_html.h"
#include "tests/support/exported.h"

static char *page_of(struct xc_problems *problems)
{
	char *text = exported_text("html", problems, &exported_options);
	problems_unmake(problems);
	return text;
}

static void the_head_tells_what_is_new_and_what_is_missing(void **state)
{
	(void)state;
	xc_auto(xc_freep) char *text = page_of(problems_made());
	assert_non_null(strstr(text, "<h1>51 cores → 6 clusters (2 new, 1 expired, 1 known, 1 gone, 1 flaky)</h1>"));
	assert_non_null(strstr(text, "<strong>2 new clusters</strong> with 42 cores, severity <span class=\"tag high\">"
				     "high</span> at worst</p>"));
	assert_non_null(strstr(text, "parts are missing: part-00003-of-00008.jsonl</div>"));
	assert_non_null(strstr(text, "<strong>3 cores gave no verdict:</strong> 1 unreadable, 1 timed out, "));
}

static void clusters_can_be_read_without_the_script(void **state)
{
	(void)state;
	xc_auto(xc_freep) char *text = page_of(problems_made());
	assert_non_null(strstr(
		text,
		"<tr><td><span class=\"tag state-new\">new</span></td><td><span class=\"tag high\">high</span></td>"
		"<td class=\"right\">41</td><td class=\"id\">3f9a2c17b0de</td><td>use-after-free</td>"
		"<td><span class=\"fn\">session_close | conn_drop | loop</span>"
		"<div class=\"quiet\">SIGSEGV: read 8 bytes of freed memory</div></td>"
		"<td class=\"place\">src/session.c<span class=\"line\">:210</span></td></tr>\n"));
	assert_non_null(strstr(text, "<span class=\"tag state-expired\">expired</span>"));
	assert_non_null(strstr(text, "<span class=\"fn\">null-write | gone_by | main</span>"));
}

static void a_severity_that_is_none_of_ours_is_no_markup(void **state)
{
	(void)state;
	struct xc_problems *problems = problems_many(1);
	problems->problems[0].severity = "high\" onclick=\"x";
	xc_auto(xc_freep) char *text = page_of(problems);
	assert_non_null(strstr(text, "<span class=\"tag info\">info</span>"));
	assert_null(strstr(text, "onclick"));
}

static void a_limit_is_told(void **state)
{
	(void)state;
	struct xc_problems *problems = problems_many(5);
	const struct xc_export_options options = {.limit = 2};
	xc_auto(xc_freep) char *text = exported_text("html", problems, &options);
	assert_non_null(strstr(text, "<h1>5 cores → 5 clusters</h1>"));
	assert_non_null(strstr(text, "<td class=\"id\">000000000001</td>"));
	assert_null(strstr(text, "<td class=\"id\">000000000002<"));
	assert_non_null(strstr(text, "<p class=\"quiet\">3 more clusters are left out: --limit</p>"));
	exported_is_valid("html", text);
	problems_unmake(problems);
}

static void nothing_found_has_no_flame_graph(void **state)
{
	(void)state;
	xc_auto(xc_freep) char *text = page_of(problems_many(0));
	assert_null(strstr(text, "id=\"flame\""));
	assert_null(strstr(text, "id=\"failed\""));
	assert_null(strstr(text, "class=\"news\""));
}

/* The folded stacks of several cores of one record. */
static char *folded(struct xc_record *record, struct xc_signature *signature, size_t cores)
{
	struct xc_problem_member members[3];
	struct xc_problem problem = {.members = members, .member_count = cores};
	const struct xc_problems problems = {.problems = &problem, .count = 1};
	struct xc_stacktree tree;
	char *text;
	size_t len;
	for (size_t i = 0; i < cores; i++)
		members[i] = (struct xc_problem_member){.record = record, .signature = signature};
	xc_stacktree_init(&tree, "crash stacks", "cores");
	xc_html_crashes(&problems, &tree);
	xc_stacktree_finish(&tree);
	FILE *out = open_memstream(&text, &len);
	CHECK_OK(xc_flame_folded(&tree, out));
	fclose(out);
	xc_stacktree_fini(&tree);
	return text;
}

static void crashes_are_stacks_below_their_program(void **state)
{
	(void)state;
	struct xc_record_frame rows[5] = {{0}};
	struct xc_signature_frame judged[5] = {{.shown = "abort", .fate = XC_FRAME_ABOVE},
					       {.shown = "walk"},
					       {.shown = "walk", .fate = XC_FRAME_REPEATED},
					       {.shown = "walk", .fate = XC_FRAME_REPEATED},
					       {.shown = "main", .fate = XC_FRAME_BELOW}};
	struct xc_record record = {.program = "tree", .frames = rows, .frame_count = 5};
	struct xc_signature signature = {.frames = judged};
	xc_auto(xc_freep) char *text = folded(&record, &signature, 3);
	assert_string_equal(text, "tree;main;…;walk;abort 3\n");
	judged[2].fate = judged[3].fate = XC_FRAME_KEPT;
	record.elided = 900;
	record.elided_at = 2;
	record.program = NULL;
	xc_auto(xc_freep) char *cut = folded(&record, &signature, 1);
	assert_string_equal(cut, "?;main;walk;walk;…;walk;abort 1\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_head_tells_what_is_new_and_what_is_missing),
		cmocka_unit_test(clusters_can_be_read_without_the_script),
		cmocka_unit_test(a_severity_that_is_none_of_ours_is_no_markup),
		cmocka_unit_test(a_limit_is_told),
		cmocka_unit_test(nothing_found_has_no_flame_graph),
		cmocka_unit_test(crashes_are_stacks_below_their_program),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
