/* layer: core */
#include <jansson.h>

#include "tests/support/check.h"

#include "core/render/render.h"
#include "core/report/report_scrub.h"

#define SECRET "k3yhole"
#define TEXT   "token=" SECRET
static const uint64_t letters = 0x6c6f687933796b6b; /* "kky3yhol" */

static void add_stack(struct xc_section *s, struct xc_arena *arena)
{
	struct xc_stacks *stacks = xc_section_stacks(s, "stacks");
	stacks->stacks = xc_arena_alloc(arena, sizeof *stacks->stacks);
	stacks->stack_count = 1;
	struct xc_stack *stack = stacks->stacks;
	*stack = (struct xc_stack){
		.tid = 1, .name = TEXT, .stop = TEXT, .how = TEXT, .waits = TEXT, .waits_redacted = TEXT};
	stack->rows = xc_arena_alloc(arena, 2 * sizeof *stack->rows);
	stack->row_count = 2;
	stack->rows[0] = (struct xc_stack_row){.pc = letters, .trust = "context"};
	stack->rows[1] = (struct xc_stack_row){.index = 1,
					       .pc = 0x401000,
					       .function = "handle",
					       .trust = "cfi",
					       .module = "/home/joe/" TEXT,
					       .file = "/home/joe/" TEXT};
}

static void add_verdict(struct xc_report *report)
{
	struct xc_verdict *verdict = xc_report_verdict(report);
	verdict->class_name = "wild-read";
	verdict->kind = "tainted";
	verdict->headline = verdict->cause = verdict->origin = verdict->thread_name = TEXT;
	verdict->file = "/home/joe/a.c";
	verdict->module = "/home/joe/a";
	verdict->message = SECRET;
	verdict->source = verdict->expression = "x->token=next() + 0x6c6f687933796b6b";
	xc_verdict_evidence(report, "rax = 0x6c6f687933796b6b, " TEXT);
	xc_verdict_evidence(report, "quotes " SECRET);
	xc_verdict_redact(report, "quotes a text of " TEXT);
}

/* A report with the secret in every text field. */
static struct xc_report *planted(void)
{
	static const struct xc_column columns[] = {{"a", "A", XC_FIELD_TEXT, false},
						   {"b", "B", XC_FIELD_ADDRESS, false}};
	struct xc_report *report = xc_report_new("analyze");
	xc_section_text(xc_report_target(report), "name", "name", TEXT);
	struct xc_section *s = xc_report_section(report, "all", TEXT);
	s->headline = TEXT;
	xc_section_address(s, "at", "at", letters);
	xc_section_unknown(s, "why", "why", TEXT);
	xc_section_message(s, XC_INFO, TEXT, "%s", TEXT);
	struct xc_table *table = xc_section_table(s, "table", columns, XC_COUNT(columns));
	const struct xc_cell row[] = {xc_cell_text(TEXT), xc_cell_address(letters)};
	xc_table_row(s, table, row);
	xc_section_lines(s, "lines", "0x6c6f687933796b6b");
	xc_section_document(s, "document", "rax = 0x6c6f687933796b6b",
			    json_pack("{s:s,s:[s,{s:s}]}", "value", "0x6c6f687933796b6b", "more", "0x6c6f687933796b6b",
				      "x", "0x6c6f687933796b6b"));
	add_stack(s, &report->arena);
	add_verdict(report);
	return report;
}

static void render(const struct xc_report *report,
		   struct xc_error *(*renderer)(const struct xc_report *report, const struct xc_render_options *options,
						FILE *out),
		   char **text_out)
{
	const struct xc_render_options options = {.width = 100, .redact = true};
	size_t size;
	FILE *out = open_memstream(text_out, &size);
	CHECK_OK(renderer(report, &options, out));
	fclose(out);
}

static void no_text_of_a_report_keeps_a_secret(void **state)
{
	(void)state;
	static struct xc_error *(*const renderers[])(const struct xc_report *report,
						     const struct xc_render_options *options,
						     FILE *out) = {xc_render_text, xc_render_json, xc_render_html};
	for (size_t i = 0; i < XC_COUNT(renderers); i++) {
		struct xc_report *report = planted();
		struct xc_scrub scrub = {0};
		char *text = NULL;
		xc_report_scrub(report, &scrub);
		render(report, renderers[i], &text);
		assert_null(strstr(text, SECRET));
		assert_null(strstr(text, "6c6f6879"));
		assert_null(strstr(text, "/home/joe"));
		assert_non_null(strstr(text, "(redacted)"));
		assert_non_null(strstr(text, "wild-read"));
		free(text);
		xc_scrub_fini(&scrub);
		xc_report_free(report);
	}
}

static void names_of_the_program_and_its_code_stay(void **state)
{
	(void)state;
	struct xc_report *report = planted();
	struct xc_scrub scrub = {0};
	xc_scrub_secret(&scrub, "handle", 6);
	xc_scrub_secret(&scrub, "tainted", 7);
	xc_report_scrub(report, &scrub);
	char *json = NULL;
	render(report, xc_render_json, &json);
	assert_non_null(strstr(json, "\"function\":\"handle\""));
	assert_non_null(strstr(json, "\"kind\":\"tainted\""));
	assert_non_null(strstr(json, "\"pc\":null,\"function\":\"(redacted)\""));
	assert_non_null(strstr(json, "\"expression\":\"x->token=next() + (redacted)\""));
	assert_non_null(strstr(json, "\"file\":\"~/a.c\""));
	free(json);
	xc_scrub_fini(&scrub);
	xc_report_free(report);
}

/* Whatever stands for a secret may look like one itself. Keys that become equal are told apart. */
static void keys_of_a_document_are_renamed_once(void **state)
{
	(void)state;
	struct xc_report *report = xc_report_new("test");
	struct xc_section *s = xc_report_section(report, "s", "s");
	struct xc_scrub scrub = {0};
	char *json = NULL;
	xc_section_document(s, "document", "",
			    json_pack("{s:i,s:i,s:{s:i},s:i}", "ftp://joe@host", 1, "plain", 2, "ftp://eve@host",
				      "ftp://ann@host", 3, "last", 4));
	xc_report_scrub(report, &scrub);
	render(report, xc_render_json, &json);
	assert_non_null(strstr(json, "{\"plain\":2,\"last\":4,\"ftp://(redacted)@host\":1,"
				     "\"ftp://(redacted)@host 2\":{\"ftp://(redacted)@host\":3}}"));
	free(json);
	xc_scrub_fini(&scrub);
	xc_report_free(report);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(no_text_of_a_report_keeps_a_secret),
		cmocka_unit_test(names_of_the_program_and_its_code_stay),
		cmocka_unit_test(keys_of_a_document_are_renamed_once),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
