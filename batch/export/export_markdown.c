/* export_markdown: a table of all clusters, and details of those that are not known, in the Markdown of GitHub and
 * GitLab; and the same within the size limit of a step summary.
 *
 * Strings of the target appear only in code, where nothing is markup, a link or a mention: between more backquotes than
 * the string has in a row. In a table, '|' would end the cell even there, and an escape after a backslash is not safe,
 * so another bar character replaces it. */
#include <stdio.h>
#include <string.h>

#include "core/render/render.h"
#include "batch/export/export_cluster.h"

enum {
	/* bytes, including the step's own output; GitHub drops a summary of more than 1 MiB */
	SUMMARY_MAX = 1000 << 10,
	RESERVE = 4 << 10, /* bytes of the limit reserved for the note about omitted clusters */
	STACK_ROWS = 16,
	FAILED_ROWS = 100
};

struct page {
	FILE *out;
	struct xc_text text; /* not written yet */
	size_t written;      /* bytes before `text` */
	size_t limit;        /* bytes in total */
	const struct xc_problems *problems;
	const struct xc_export_options *options;
};

/* ---- code ---- */

static size_t longest_run(const char *string)
{
	size_t longest = 0;
	for (; *string; string += *string != '\0') {
		size_t run = strspn(string, "`");
		longest = run > longest ? run : longest;
		string += run;
	}
	return longest;
}

static void add_fence(struct xc_text *text, size_t count)
{
	while (count--)
		xc_text_char(text, '`');
}

/* Adds a string of the target as inline code, for a table cell. */
static void add_code(struct xc_text *text, const char *string)
{
	struct xc_text name = {0};
	xc_export_name(&name, string ? string : "");
	const char *at = xc_text_string(&name);
	size_t fence = longest_run(at) + 1;
	if (!at[strspn(at, " ")]) {
		xc_text_add(text, "–"); /* code cannot be empty */
		xc_text_fini(&name);
		return;
	}
	add_fence(text, fence);
	xc_text_add(text, fence > 1 ? " " : ""); /* one space at either end is not rendered */
	for (; *at; at++)
		xc_text_addn(text, *at == '|' ? "¦" : at, *at == '|' ? strlen("¦") : 1);
	xc_text_add(text, fence > 1 ? " " : "");
	add_fence(text, fence);
	xc_text_fini(&name);
}

/* Adds lines, escaped as names, as a code block. */
static void add_block(struct xc_text *text, const char *lines)
{
	size_t fence = longest_run(lines) + 1;
	fence = fence < 3 ? 3 : fence;
	add_fence(text, fence);
	xc_text_printf(text, "\n%s", lines);
	if (!xc_ends_with(lines, "\n"))
		xc_text_char(text, '\n');
	add_fence(text, fence);
	xc_text_add(text, "\n");
}

/* ---- the page ---- */

/* Writes the pending text if it fits; drops it otherwise. */
static bool commit(struct page *page, size_t reserve)
{
	size_t room = page->limit - page->written;
	bool fits = page->text.len + reserve <= room;
	if (fits) {
		/* the stream remembers a failure */
		fwrite(xc_text_string(&page->text), 1, page->text.len, page->out);
		page->written += page->text.len;
	}
	page->text.len = 0;
	return fits;
}

static void put_more(struct page *page, size_t count, const char *things)
{
	if (count)
		xc_text_printf(&page->text, "\n… and %zu more %s\n", count, things);
	commit(page, 0);
}

static void put_head(struct page *page)
{
	struct xc_text *text = &page->text;
	xc_text_add(text, "## xcore triage\n\n");
	xc_export_totals(text, page->problems);
	if (page->problems->failed_count) {
		xc_text_add(text, "; ");
		xc_export_failures(text, page->problems);
	}
	xc_text_add(text, "\n\n");
	for (size_t i = 0; i < page->problems->missing_part_count && i < FAILED_ROWS; i++) {
		xc_text_add(text, "missing: ");
		add_code(text, page->problems->missing_parts[i]);
		xc_text_add(text, "\n\n");
	}
	commit(page, RESERVE);
}

static void add_row(struct page *page, const struct xc_export_cluster *c)
{
	struct xc_text *text = &page->text, place = {0}, class_name = {0};
	xc_export_place(&place, c);
	xc_text_printf(text, "| %s | %s | ", c->state, c->record ? c->severity : "–");
	xc_render_count(text, c->problem->member_count);
	xc_text_printf(text, " | `%s` | ", c->problem->id);
	if (c->record)
		xc_export_class(&class_name, c);
	add_code(text, xc_text_string(&class_name));
	xc_text_add(text, " | ");
	add_code(text, c->record && c->record->program ? c->record->program : "");
	xc_text_add(text, " | ");
	add_code(text, xc_export_names(c));
	xc_text_add(text, " | ");
	add_code(text, xc_text_string(&place));
	xc_text_add(text, " |\n");
	xc_text_fini(&class_name);
	xc_text_fini(&place);
}

static void put_table(struct page *page)
{
	size_t shown = xc_export_shown(page->problems, page->options), at = 0;
	if (!shown)
		return;
	xc_text_add(&page->text, "| state | severity | cores | cluster | class | program | where | place |\n"
				 "|---|---|--:|---|---|---|---|---|\n");
	commit(page, RESERVE);
	for (bool fits = true; at < shown && fits; at += fits) {
		struct xc_export_cluster c = xc_export_cluster(&page->problems->problems[at], page->options);
		add_row(page, &c);
		fits = commit(page, RESERVE);
		xc_export_cluster_fini(&c);
	}
	put_more(page, page->problems->count - at, "clusters");
}

static bool is_told(const struct xc_problem *problem)
{
	return xc_export_is_open(problem) || problem->state == XC_PROBLEM_FLAKY;
}

/* The title is inline code, so nothing in it can end the heading or be a link. */
static void add_details(struct page *page, const struct xc_export_cluster *c)
{
	struct xc_text lines = {0};
	xc_text_printf(&page->text, "\n### `%s` %s, %s\n\n", c->problem->id, c->state, c->severity);
	xc_export_title(&lines, c);
	xc_text_char(&lines, '\n');
	xc_export_words(&lines, c);
	xc_export_stack(&lines, c, page->options, STACK_ROWS);
	xc_text_add(&lines, "core: ");
	xc_export_name(&lines, xc_record_shown(c->record));
	add_block(&page->text, xc_text_string(&lines));
	xc_text_fini(&lines);
}

static void put_details(struct page *page)
{
	size_t shown = xc_export_shown(page->problems, page->options), left = 0;
	for (size_t i = 0; i < shown; i++) {
		if (!is_told(&page->problems->problems[i]))
			continue;
		struct xc_export_cluster c = xc_export_cluster(&page->problems->problems[i], page->options);
		add_details(page, &c);
		left += left || !commit(page, RESERVE);
		page->text.len = 0;
		xc_export_cluster_fini(&c);
	}
	put_more(page, left, "of them in full");
}

static void put_failed(struct page *page)
{
	const struct xc_problems *problems = page->problems;
	struct xc_text lines = {0};
	for (size_t i = 0; i < problems->failed_count && i < FAILED_ROWS; i++) {
		const struct xc_record *r = problems->failed[i];
		xc_export_name(&lines, xc_record_shown(r));
		xc_text_printf(&lines, ": %s: ", xc_record_status_name(r->status));
		xc_export_name(&lines, r->why ? r->why : "");
		xc_text_char(&lines, '\n');
	}
	if (problems->failed_count > FAILED_ROWS)
		xc_text_printf(&lines, "and %zu more\n", problems->failed_count - FAILED_ROWS);
	if (lines.len) {
		xc_text_add(&page->text, "\n### without a verdict\n\n");
		add_block(&page->text, lines.bytes);
	}
	commit(page, 0);
	xc_text_fini(&lines);
}

static struct xc_error *write_page(const struct xc_problems *problems, const struct xc_export_options *options,
				   size_t limit, FILE *out)
{
	struct page page = {.out = out, .limit = limit, .problems = problems, .options = options};
	put_head(&page);
	put_table(&page);
	put_details(&page);
	put_failed(&page);
	xc_text_fini(&page.text);
	return xc_export_end(out, "Markdown");
}

static struct xc_error *write_whole(const struct xc_problems *problems, const struct xc_export_options *options,
				    FILE *out)
{
	return write_page(problems, options, SIZE_MAX, out);
}

static struct xc_error *write_summary(const struct xc_problems *problems, const struct xc_export_options *options,
				      FILE *out)
{
	return write_page(problems, options, options->before < SUMMARY_MAX ? SUMMARY_MAX - options->before : 0, out);
}

const struct xc_export xc_export_summary = {"summary", ".md", "Markdown, as long as a step summary of GitHub may be",
					    write_summary};

const struct xc_export xc_export_markdown = {"markdown", ".md", "Markdown, for a comment or an issue", write_whole};
