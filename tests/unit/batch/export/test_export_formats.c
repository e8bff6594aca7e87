/* layer: batch tier: long */
/* export: each format's output for the hand-made problems. */
#include <jansson.h>

#include "core/render/render.h"
#include "tests/support/exported.h"

static void says(const char *text, const char *wanted)
{
	if (!strstr(text, wanted))
		fail_msg("no \"%s\" in:\n%.3000s", wanted, text);
}

static char *made(const char *kind, const struct xc_export_options *options)
{
	struct xc_problems *problems = problems_made();
	char *text = exported_text(kind, problems, options);
	problems_unmake(problems);
	return text;
}

static char *made_of(const char *kind, size_t count, const struct xc_export_options *options)
{
	struct xc_problems *problems = problems_many(count);
	char *text = exported_text(kind, problems, options);
	problems_unmake(problems);
	return text;
}

static size_t count_of(const char *text, const char *part)
{
	size_t count = 0;
	for (; (text = strstr(text, part)); text++)
		count++;
	return count;
}

/* Baseline entries that were not looked for, and clusters with little evidence, are marked. */
static void what_is_unseen_is_told(void **state)
{
	static const char *const kinds[] = {"json", "jsonl", "junit", "html"};
	(void)state;
	struct xc_problems *problems = problems_made();
	problems->partial = "part-00003-of-00008.jsonl is missing";
	problems->counts[XC_PROBLEM_GONE]--;
	problems->counts[XC_PROBLEM_UNSEEN]++;
	problems->problems[5].state = XC_PROBLEM_UNSEEN;
	problems->problems[5].why = "not everything was examined: part-00003-of-00008.jsonl is missing";
	problems->problems[2].why = "by a short stack only";
	for (size_t i = 0; i < XC_COUNT(kinds); i++) {
		xc_auto(xc_freep) char *text = exported_text(kinds[i], problems, &exported_options);
		says(text, "unseen");
		says(text, "by a short stack only");
		exported_is_valid(kinds[i], text);
	}
	xc_auto(xc_freep) char *junit = exported_text("junit", problems, &exported_options);
	says(junit, "<testcase classname=\"null-write\" name=\"dddddddddddd null-write | gone_by | main\" time=\"0\">"
		    "<skipped message=\"unseen: not everything was examined: part-00003");
	xc_auto(xc_freep) char *text = exported_text("text", problems, &exported_options);
	says(text, "1 flaky, 1 unseen)");
	says(text, "\nnot everything was examined, so nothing is gone: part-00003-of-00008.jsonl is missing\n");
	problems_unmake(problems);
}

/* ---- text ---- */

static void the_text_is_a_table_and_what_to_do_next(void **state)
{
	(void)state;
	xc_auto(xc_freep) char *text = made("text", &exported_options);
	says(text,
	     "51 cores → 6 clusters (2 new, 1 expired, 1 known, 1 gone, 1 flaky)      1 unreadable, 1 timed out, ");
	says(text, "\nmissing: part-00003-of-00008.jsonl\n");
	says(text, "\n new      high      41  3f9a2c17b0de  use-after-free ");
	says(text, "src/session.c:210\n");
	says(text, "\n expired  critical   2  beefbeefbeef  wild-write ");
	says(text, "\n gone                0  dddddddddddd ");
	says(text, "null-write | gone_by | main\n");
	says(text, "\n3f9a2c17b0de  use-after-free  new, high, 41 cores of server\n");
	says(text, "\n    #1   session_close  src/session.c:210\n");
	says(text, "\n  xcore analyze 3f9a2c17b0de/core.0    # all of it, run where the cores are\n");
	says(text, "\n  give the file of libplugin.so.2 77ab12 with --debug-dir or --sysroot: 1 cluster lacks it\n");
	assert_null(strstr(text, "\033"));
}

/* If the source is not below the root, its directories must not displace the functions; likewise those of a home
 * directory, as redaction shows it. */
static void a_row_has_the_name_of_the_source_alone(void **state)
{
	static const char *const files[] = {"/somewhere/else/src/session.c", "~/somewhere/else/src/session.c"};
	(void)state;
	for (size_t i = 0; i < XC_COUNT(files); i++) {
		struct xc_problems *problems = problems_made();
		const struct xc_record *record = xc_problem_shown(&problems->problems[0])->record;
		for (size_t k = 0; k < record->frame_count; k++)
			((struct xc_record_frame *)&record->frames[k])->file = files[i];
		xc_auto(xc_freep) char *text = exported_text("text", problems, &exported_options);
		says(text, "  session.c:210\n");
		problems_unmake(problems);
	}
}

/* A worse crash than the displayed one must not hide behind the same stack, nor must the reason why a known problem is
 * new. Copies do not count. */
static void the_other_classes_of_a_cluster_and_its_standing_are_told(void **state)
{
	static const char *const kinds[] = {"text", "markdown", "junit", "html", "github"};
	(void)state;
	struct xc_problems *problems = problems_made();
	struct xc_problem *worst = &problems->problems[0];
	assert_true(worst->member_count > 3 && !worst->representative && !worst->members[2].copy_of);
	struct xc_signature *milder = (struct xc_signature *)worst->members[2].signature;
	milder->class_name = "bus-error";
	milder->severity = "info";
	((struct xc_signature *)worst->members[3].signature)->class_name = "wild-write";
	assert_non_null(worst->members[1].copy_of);
	((struct xc_signature *)worst->members[1].signature)->class_name = "killed";
	problems_class(problems);
	worst->why = "worse than accepted: low";
	worst->note = "ticket 812";
	for (size_t i = 0; i < XC_COUNT(kinds); i++) {
		xc_auto(xc_freep) char *text = exported_text(kinds[i], problems, &exported_options);
		const bool labelled = strcmp(kinds[i], "html") != 0; /* its script writes the labels */
		says(text, labelled ? "also: wild-write in 1 core, bus-error in 1 core"
				    : "wild-write in 1 core, bus-error in 1 core");
		says(text, labelled ? "new: worse than accepted: low" : "worse than accepted: low");
		says(text, "ticket 812");
		assert_null(strstr(text, "killed in "));
	}
	problems_unmake(problems);
}

static void what_the_cause_says_is_not_said_again(void **state)
{
	(void)state;
	struct xc_problems *problems = problems_made();
	struct xc_record *record = (struct xc_record *)xc_problem_shown(&problems->problems[0])->record;
	record->origin = "passed by drop() at a.c:9";
	record->cause = "`s` is NULL";
	xc_auto(xc_freep) char *apart = exported_text("text", problems, &exported_options);
	says(apart, "\n  value: passed by drop() at a.c:9\n");
	record->cause = "`s` is NULL; passed by drop() at a.c:9";
	xc_auto(xc_freep) char *once = exported_text("text", problems, &exported_options);
	assert_int_equal(count_of(once, "passed by drop()"), 1);
	problems_unmake(problems);
}

static void rows_tell_the_kind_and_the_whole_program_where_there_is_room(void **state)
{
	(void)state;
	const struct xc_export_options wide = {.width = 160}, narrow = {.width = 80};
	struct xc_problems *problems = problems_many(2);
	struct xc_problem_member *member = &problems->problems[0].members[0];
	struct xc_record *record = (struct xc_record *)member->record;
	record->kind = "double free";
	record->program = "a-program-with-a-long-name";
	xc_auto(xc_freep) char *whole = exported_text("text", problems, &wide);
	says(whole, "null-read (double free)  a-program-with-a-long-name: ");
	assert_null(strstr(whole, "N counts files"));
	record->class_name = "renamed";
	member->copy_of = "core.0";
	xc_auto(xc_freep) char *other = exported_text("text", problems, &narrow);
	assert_null(strstr(other, "double free"));
	says(other, "a-program-with-…: ");
	says(other, "\n N counts files: 1 is a copy of another core\n");
	problems_unmake(problems);
}

static void without_a_baseline_no_state_is_told(void **state)
{
	(void)state;
	const struct xc_export_options two = {.limit = 2};
	xc_auto(xc_freep) char *text = made_of("text", 5, &two);
	says(text, "5 cores → 5 clusters\n SEV       N  CLUSTER       CLASS      WHERE\n low       1  000000000000");
	says(text, "\n … and 3 more\n");
	assert_int_equal(count_of(text, "\n low "), 2);
}

static void check_width(unsigned width)
{
	const struct xc_export_options options = {.width = width, .source_root = "/build/app"};
	char *text = made("text", &options);
	const char *at = strstr(text, " STATE");
	for (size_t row = 0; row < 7; row++) {
		size_t len = strcspn(at, "\n"), columns = xc_render_columns(at, len);
		if (columns > width)
			fail_msg("%zu columns of %u: %.*s", columns, width, (int)len, at);
		at += len + 1;
	}
	free(text);
}

static void lines_of_the_table_fit_the_terminal(void **state)
{
	(void)state;
	for (unsigned width = 80; width < 200; width += 17)
		check_width(width);
}

static void names_of_files_are_quoted_for_the_shell(void **state)
{
	(void)state;
	struct xc_problems *problems = problems_many(1);
	struct xc_record *record = (struct xc_record *)problems->problems[0].members[0].record;
	record->path = "-core.$(id);'x'\n`y`";
	xc_auto(xc_freep) char *text = exported_text("text", problems, &exported_options);
	says(text, "xcore analyze $'./-core.\\x24(id);\\x27x\\x27\\x0a\\x60y\\x60'    # all of it, run where the cores "
		   "are\n");
	record->path = "$(id);'x'";
	xc_auto(xc_freep) char *plain = exported_text("text", problems, &exported_options);
	says(plain, "xcore analyze '$(id);'\\''x'\\'''    # all of it, run where the cores are\n");
	problems_unmake(problems);
}

/* ---- machine formats ---- */

static json_t *parsed(char *text)
{
	json_t *root = json_loads(text, JSON_REJECT_DUPLICATES, NULL);
	assert_non_null(root);
	free(text);
	return root;
}

static const char *string_of(const json_t *object, const char *key)
{
	return json_string_value(json_object_get(object, key));
}

static void json_has_all(void **state)
{
	(void)state;
	json_t *root = parsed(made("json", &exported_options)), *clusters = json_object_get(root, "clusters");
	const json_t *worst = json_array_get(clusters, 0), *gone = json_array_get(clusters, 5);
	assert_string_equal(string_of(root, "schema"), "xcore.triage/1");
	assert_int_equal(json_array_size(json_object_get(worst, "members")), 41);
	assert_string_equal(string_of(json_object_get(worst, "place"), "file"), "src/session.c");
	assert_string_equal(string_of(json_array_get(json_object_get(worst, "members"), 1), "copy_of"),
			    "3f9a2c17b0de/core.0");
	assert_string_equal(string_of(json_array_get(json_object_get(worst, "frames"), 0), "fate"), "leaf");
	assert_string_equal(string_of(json_array_get(clusters, 1), "severity"), "info");
	assert_string_equal(string_of(json_array_get(clusters, 2), "note"), "ticket 812, fixed in 2.4");
	assert_string_equal(string_of(gone, "signature"), "null-write | gone_by | main");
	assert_string_equal(string_of(json_array_get(json_object_get(root, "failed"), 1), "status"), "timeout");
	json_decref(root);
}

static json_t *sarif_run(json_t *root)
{
	return json_array_get(json_object_get(root, "runs"), 0);
}

static const char *uri_of(const json_t *result)
{
	const json_t *location = json_array_get(json_object_get(result, "locations"), 0);
	const json_t *physical = json_object_get(location, "physicalLocation");
	return string_of(json_object_get(physical, "artifactLocation"), "uri");
}

static void sarif_results_have_places_and_states(void **state)
{
	(void)state;
	static const struct {
		const char *uri, *level, *baseline;
		size_t suppressions;
	} wanted[] = {
		{"src/session.c", "error", "new", 0},
		{NULL, "note", "new", 0},
		{"src/parse%20file.cc", "warning", "unchanged", 1},
		{"src/session.c", "error", "unchanged", 0},
		{"README.md", "error", "unchanged", 1},
	};
	json_t *root = parsed(made("sarif", &exported_options));
	const json_t *results = json_object_get(sarif_run(root), "results");
	assert_int_equal(json_array_size(results), XC_COUNT(wanted));
	for (size_t i = 0; i < XC_COUNT(wanted); i++) {
		const json_t *result = json_array_get(results, i);
		if (wanted[i].uri)
			assert_string_equal(uri_of(result), wanted[i].uri);
		assert_string_equal(string_of(result, "level"), wanted[i].level);
		assert_string_equal(string_of(result, "baselineState"), wanted[i].baseline);
		assert_int_equal(json_array_size(json_object_get(result, "suppressions")), wanted[i].suppressions);
	}
	json_decref(root);
}

static void sarif_says_what_has_no_place(void **state)
{
	(void)state;
	const struct xc_export_options nowhere = {0};
	xc_auto(xc_freep) char *text = made("sarif", &nowhere);
	says(text, "without a place in the repository: 5 clusters");
	exported_is_valid("sarif", text);
}

static void sarif_drops_what_is_too_much_and_says_so(void **state)
{
	(void)state;
	xc_auto(xc_freep) char *text = made_of("sarif", 5003, &exported_options);
	says(text, "left out: 3 clusters; the worst 5000 are here");
	exported_is_valid("sarif", text);
}

/* A cluster of a core with that many threads, each with that many frames: "f0" is called by "f1", and so on. Its keys
 * come from the first thread, because the others are equal. */
static struct xc_problems *threads_made(size_t threads, size_t rows)
{
	struct xc_problems *problems = problems_many(1);
	struct xc_record *r = (struct xc_record *)problems->problems[0].members[0].record;
	struct xc_signature *s = (struct xc_signature *)problems->problems[0].members[0].signature;
	r->frame_count = s->shown_count = threads * rows;
	s->kept_count = rows;
	r->frames = xc_arena_alloc(&problems->arena, r->frame_count * sizeof *r->frames);
	s->frames = xc_arena_alloc(&problems->arena, r->frame_count * sizeof *s->frames);
	s->shown = xc_arena_alloc(&problems->arena, r->frame_count * sizeof *s->shown);
	s->kept = s->shown;
	for (size_t i = 0; i < r->frame_count; i++) {
		const char *name = xc_arena_printf(&problems->arena, "f%zu", i % rows);
		r->frames[i] = (struct xc_record_frame){.function = name, .file = "/build/app/a.c", .line = 7};
		s->frames[i] = (struct xc_signature_frame){.name = name, .shown = name, .fate = XC_FRAME_KEPT};
		s->shown[i] = i;
		if (i % rows == 0)
			r->frames[i].thread = xc_arena_printf(&problems->arena, "thread %zu \"[w]\"", i / rows);
	}
	return problems;
}

static const json_t *sarif_result(json_t *root)
{
	return json_array_get(json_object_get(sarif_run(root), "results"), 0);
}

static const json_t *thread_flows_of(json_t *root)
{
	return json_object_get(json_array_get(json_object_get(sarif_result(root), "codeFlows"), 0), "threadFlows");
}

static const char *message_of(const json_t *object)
{
	return string_of(json_object_get(object, "message"), "text");
}

static json_t *sarif_of_threads(size_t threads, size_t rows)
{
	struct xc_problems *problems = threads_made(threads, rows);
	char *text = exported_text("sarif", problems, &exported_options);
	exported_is_valid("sarif", text);
	problems_unmake(problems);
	return parsed(text);
}

static void sarif_tells_each_thread_by_itself(void **state)
{
	(void)state;
	json_t *root = sarif_of_threads(2, 3);
	const json_t *flows = thread_flows_of(root), *stacks = json_object_get(sarif_result(root), "stacks");
	assert_int_equal(json_array_size(flows), 2);
	assert_int_equal(json_array_size(stacks), 2);
	const json_t *steps = json_object_get(json_array_get(flows, 1), "locations");
	assert_string_equal(message_of(json_array_get(flows, 1)), "thread 1 \"\\[w\\]\"");
	assert_int_equal(json_array_size(steps), 3);
	assert_string_equal(message_of(json_object_get(json_array_get(steps, 0), "location")), "f2");
	assert_string_equal(message_of(json_object_get(json_array_get(steps, 2), "location")), "f0");
	assert_string_equal(message_of(json_array_get(stacks, 0)), "000000000000/core.0, thread 0 \"\\[w\\]\"");
	assert_int_equal(json_array_size(json_object_get(json_array_get(stacks, 1), "frames")), 3);
	json_decref(root);
}

static void threads_share_the_frames_that_sarif_takes(void **state)
{
	(void)state;
	json_t *root = sarif_of_threads(2, 100), *many = sarif_of_threads(100, 2);
	const json_t *stacks = json_object_get(sarif_result(root), "stacks");
	assert_int_equal(json_array_size(json_object_get(json_array_get(stacks, 0), "frames")), 32);
	assert_int_equal(json_array_size(json_object_get(json_array_get(stacks, 1), "frames")), 32);
	const json_t *steps = json_object_get(json_array_get(thread_flows_of(root), 1), "locations");
	assert_int_equal(json_array_size(steps), 32);
	assert_string_equal(message_of(json_object_get(json_array_get(steps, 31), "location")), "f0");
	assert_int_equal(json_array_size(thread_flows_of(many)), 64);
	assert_int_equal(json_array_size(json_object_get(sarif_result(many), "stacks")), 64);
	json_decref(root);
	json_decref(many);
}

/* A core's threads may all have one id. Two equal stacks in a result would make the SARIF file invalid. */
static void sarif_has_equal_stacks_once(void **state)
{
	(void)state;
	struct xc_problems *problems = threads_made(2, 3);
	struct xc_record *r = (struct xc_record *)problems->problems[0].members[0].record;
	r->frames[3].thread = r->frames[0].thread;
	char *text = exported_text("sarif", problems, &exported_options);
	exported_is_valid("sarif", text);
	json_t *root = parsed(text);
	assert_int_equal(json_array_size(json_object_get(sarif_result(root), "stacks")), 1);
	json_decref(root);
	problems_unmake(problems);
}

static void a_step_summary_is_no_longer_than_it_may_be(void **state)
{
	(void)state;
	xc_auto(xc_freep) char *text = made_of("summary", 12000, &exported_options);
	says(text, " more clusters\n");
	assert_in_range(strlen(text), 900 << 10, 1 << 20);
	exported_is_valid("summary", text);
}

static void a_step_summary_is_shorter_by_what_the_step_said(void **state)
{
	struct xc_export_options options = exported_options;
	(void)state;
	options.before = 900 << 10;
	xc_auto(xc_freep) char *rest = made_of("summary", 12000, &options);
	says(rest, " more clusters\n");
	assert_in_range(strlen(rest), 90 << 10, 100 << 10);
	exported_is_valid("summary", rest);
	options.before = 2 << 20;
	xc_auto(xc_freep) char *none = made_of("summary", 12000, &options);
	assert_string_equal(none, "");
}

static void annotations_end_with_how_many_more_there_are(void **state)
{
	(void)state;
	xc_auto(xc_freep) char *ten = made_of("github", 10, &exported_options);
	xc_auto(xc_freep) char *many = made_of("github", 400, &exported_options);
	assert_int_equal(count_of(ten, "::error "), 10);
	assert_null(strstr(ten, " more"));
	assert_int_equal(count_of(many, "::error "), 10);
	says(many, "::error title=and 391 more clusters::");
	says(many, "::error file=src/session.c,line=210,title=null-read in session_close (open%2C low)::SIGSEGV: read");
}

static void junit_tells_failures_from_what_is_known(void **state)
{
	(void)state;
	xc_auto(xc_freep) char *text = made("junit", &exported_options);
	says(text, "tests=\"10\" failures=\"3\" errors=\"4\" skipped=\"2\"");
	says(text, "<testcase classname=\"use-after-free\" name=\"3f9a2c17b0de use-after-free | session_close");
	says(text, "<skipped message=\"known in the baseline: ticket 812, fixed in 2.4\"/>");
	says(text, "<failure type=\"wild-write\" message=\"wild-write in session_close (expired, critical)\">");
	says(text, "<testcase classname=\"null-write\" name=\"dddddddddddd null-write | gone_by | main\" "
		   "time=\"0\"></testcase>");
	says(text, "name=\"slow/core.1\" time=\"0\"><error type=\"timeout\" message=\"after 60 s\"/>");
}

static void code_quality_names_a_file_even_where_none_is_known(void **state)
{
	(void)state;
	const struct xc_export_options nowhere = {0};
	json_t *root = parsed(made("gitlab", &nowhere));
	const json_t *worst = json_array_get(root, 0);
	assert_int_equal(json_array_size(root), 5);
	assert_string_equal(string_of(worst, "severity"), "critical");
	assert_string_equal(string_of(json_object_get(worst, "location"), "path"), "3f9a2c17b0de/core.0");
	json_decref(root);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_text_is_a_table_and_what_to_do_next),
		cmocka_unit_test(what_is_unseen_is_told),
		cmocka_unit_test(a_row_has_the_name_of_the_source_alone),
		cmocka_unit_test(the_other_classes_of_a_cluster_and_its_standing_are_told),
		cmocka_unit_test(what_the_cause_says_is_not_said_again),
		cmocka_unit_test(without_a_baseline_no_state_is_told),
		cmocka_unit_test(rows_tell_the_kind_and_the_whole_program_where_there_is_room),
		cmocka_unit_test(lines_of_the_table_fit_the_terminal),
		cmocka_unit_test(names_of_files_are_quoted_for_the_shell),
		cmocka_unit_test(json_has_all),
		cmocka_unit_test(sarif_results_have_places_and_states),
		cmocka_unit_test(sarif_says_what_has_no_place),
		cmocka_unit_test(sarif_drops_what_is_too_much_and_says_so),
		cmocka_unit_test(sarif_tells_each_thread_by_itself),
		cmocka_unit_test(threads_share_the_frames_that_sarif_takes),
		cmocka_unit_test(sarif_has_equal_stacks_once),
		cmocka_unit_test(a_step_summary_is_no_longer_than_it_may_be),
		cmocka_unit_test(a_step_summary_is_shorter_by_what_the_step_said),
		cmocka_unit_test(annotations_end_with_how_many_more_there_are),
		cmocka_unit_test(junit_tells_failures_from_what_is_known),
		cmocka_unit_test(code_quality_names_a_file_even_where_none_is_known),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
