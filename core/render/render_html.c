/* render_html: a self-contained page: no script (its policy forbids any), no font, no link. Markup is constant and
 * written verbatim; every other byte passes xc_html_name or xc_html_text. */
#include "core/render/render_html.h"

#include <errno.h>
#include <string.h>

#include "core/base/embed.h"
#include "core/report/scrub.h"
#include "core/report/stacktree.h"
#include "core/text/xmltext.h"

XC_EMBED(xc_html_style, "core/render/render_html.css"); /* light and dark; no external font, picture or script */

enum { FLUSH_AT = 64 << 10, TREE_ROWS = 400, TREE_DEPTH = 60, BUCKET_ROWS = 200, SHORT_TEXT = 24 };

void xc_html_flush(struct xc_html *html, bool force)
{
	if (!html->page.len || (!force && html->page.len < FLUSH_AT))
		return;
	fwrite(html->page.bytes, 1, html->page.len, html->out); /* the stream keeps an error */
	html->page.len = 0;
}

void xc_html_put(struct xc_html *html, const char *markup)
{
	xc_text_add(&html->page, markup);
}

static const char *entity(char c)
{
	switch (c) {
	case '<':
		return "&lt;";
	case '>':
		return "&gt;";
	case '&':
		return "&amp;";
	case '"':
		return "&quot;";
	default:
		return "&#39;";
	}
}

void xc_html_text(struct xc_html *html, const char *escaped_text)
{
	for (const char *at = escaped_text; *at;) {
		size_t n = strcspn(at, "<>&\"'#:");
		bool quiet = (at[n] == '#' || at[n] == ':') && !xc_xmltext_is_command(at + n, escaped_text);
		xc_text_addn(&html->page, at, n + quiet);
		at += n + quiet;
		if (!quiet && (*at == '#' || *at == ':'))
			xc_text_printf(&html->page, "&#%d;", *at++);
		else if (!quiet && *at)
			xc_text_add(&html->page, entity(*at++));
	}
}

void xc_html_name(struct xc_html *html, const char *string)
{
	html->scratch.len = 0;
	xc_text_name(&html->scratch, string);
	xc_html_text(html, html->scratch.len ? html->scratch.bytes : "");
}

void xc_html_element(struct xc_html *html, const char *tag, const char *class_name, const char *string)
{
	xc_text_printf(&html->page, class_name ? "<%s class=\"%s\">" : "<%s>", tag, class_name);
	xc_html_name(html, string);
	xc_text_printf(&html->page, "</%s>", tag);
}

/* Items */

static void put_cell(struct xc_html *html, const struct xc_cell *cell)
{
	html->scratch.len = 0;
	xc_text_addn(&html->scratch, "", 0);
	xc_render_cell(&html->scratch, cell, html->options->redact);
	if (cell->kind == XC_FIELD_NULL)
		xc_html_put(html, "<span class=\"quiet\">");
	xc_html_text(html, html->scratch.bytes);
	if (cell->kind == XC_FIELD_NULL)
		xc_html_put(html, "</span>");
}

/* Short texts do not wrap, so that longer columns get the space. */
static const char *cell_tag(const struct xc_table *table, const struct xc_cell *cell, size_t column)
{
	if (xc_render_right(table->columns[column].kind))
		return "<td class=\"right\">";
	bool is_short = cell->kind != XC_FIELD_TEXT || !cell->text || strlen(cell->text) <= SHORT_TEXT;
	return is_short ? "<td class=\"short\">" : "<td>";
}

static void put_table(struct xc_html *html, const struct xc_table *table)
{
	if (!table->row_count)
		return;
	xc_html_put(html, "<div class=\"scroll\"><table><tr>");
	for (size_t i = 0; i < table->column_count; i++)
		xc_html_element(html, "th", xc_render_right(table->columns[i].kind) ? "right" : NULL,
				table->columns[i].label);
	xc_html_put(html, "</tr>\n");
	for (size_t i = 0; i < table->row_count * table->column_count; i++) {
		size_t column = i % table->column_count;
		xc_html_put(html, column ? "" : "<tr>");
		xc_html_put(html, cell_tag(table, &table->cells[i], column));
		put_cell(html, &table->cells[i]);
		xc_html_put(html, column + 1 == table->column_count ? "</td></tr>\n" : "</td>");
		xc_html_flush(html, false);
	}
	xc_html_put(html, "</table></div>\n");
}

static void put_message(struct xc_html *html, const struct xc_message *message)
{
	static const char *const words[] = {"note", "warning", "problem"};
	xc_text_printf(&html->page, "<div class=\"message\"><span class=\"tag %s\">%s</span>", words[message->severity],
		       words[message->severity]);
	xc_html_name(html, message->text);
	if (message->hint)
		xc_html_element(html, "div", "hint", message->hint);
	xc_html_put(html, "</div>\n");
}

static void put_lines(struct xc_html *html, const char *lines)
{
	html->scratch.len = 0;
	xc_text_addn(&html->scratch, "", 0);
	xc_render_lines(&html->scratch, lines);
	xc_html_put(html, "<pre>");
	for (char *line = html->scratch.bytes, *end; *line; line = end) { /* highlight the current line */
		bool mark = strncmp(line, "=> ", 3) == 0 || strncmp(line + strspn(line, " "), "→ ", strlen("→ ")) == 0;
		end = line + strcspn(line, "\n");
		end += *end == '\n';
		char kept = *end;
		*end = '\0';
		xc_html_put(html, mark ? "<strong>" : "");
		xc_html_text(html, line);
		xc_html_put(html, mark ? "</strong>" : "");
		*end = kept;
	}
	xc_html_put(html, "</pre>\n");
}

static void put_paths(struct xc_html *html, const struct xc_stacktree *tree)
{
	size_t depth = 0, rows = 0;
	uint64_t least = tree->root.total / 500;
	xc_html_put(html, "<div class=\"scroll\"><table><tr><th class=\"right\">SHARE</th><th class=\"right unit\">");
	xc_html_name(html, tree->unit ? tree->unit : "weight");
	xc_html_put(html, "</th><th>PATH</th></tr>\n");
	for (const struct xc_stacktree_node *node = &tree->root; (node = xc_stacktree_next(node, &depth));) {
		if (node->total < least || depth > TREE_DEPTH || rows++ >= TREE_ROWS)
			continue;
		double percent = tree->root.total ? 100.0 * (double)node->total / (double)tree->root.total : 0;
		xc_text_printf(&html->page, "<tr><td class=\"right\">%.1f%%</td><td class=\"right\">", percent);
		xc_render_weight(&html->page, tree, node->total);
		xc_text_add(&html->page, "</td>");
		xc_text_printf(&html->page, "<td style=\"padding-left:%zupx\">", 12 * (depth - 1));
		xc_html_name(html, node->name);
		xc_html_put(html, "</td></tr>\n");
	}
	xc_html_put(html, "</table></div>\n");
}

static void put_tree(struct xc_html *html, const struct xc_stacktree *tree)
{
	if (tree->root.total) {
		xc_html_flush(html, true);
		xc_flame_element(tree, html->out);
	}
	xc_html_put(html, "<details><summary class=\"quiet\">as a table</summary>");
	put_paths(html, tree);
	xc_html_put(html, "</details>\n");
}

static void put_bucket(struct xc_html *html, const struct xc_histogram *histogram, size_t index, uint64_t highest)
{
	const struct xc_bucket *bucket = &histogram->buckets[index];
	if (xc_render_follows_gap(histogram, index))
		xc_html_put(html, "<tr><td class=\"right quiet\">…</td><td></td><td></td></tr>\n");
	html->scratch.len = 0;
	xc_render_range(&html->scratch, histogram, bucket);
	xc_html_put(html, "<tr><td class=\"right\">");
	xc_html_text(html, xc_text_string(&html->scratch));
	xc_html_put(html, "</td><td class=\"right\">");
	xc_render_count(&html->page, bucket->count);
	xc_text_printf(&html->page, "</td><td><div class=\"bar\" style=\"width:%.1f%%\"></div></td></tr>\n",
		       100.0 * (double)bucket->count / (double)highest);
}

static void put_histogram(struct xc_html *html, const struct xc_histogram *histogram)
{
	size_t count = histogram->bucket_count, rows = count < BUCKET_ROWS ? count : BUCKET_ROWS;
	uint64_t highest = xc_render_highest(histogram, rows);
	html->scratch.len = 0;
	xc_render_summary(&html->scratch, histogram);
	xc_auto(xc_freep) char *summary = xc_text_take(&html->scratch);
	xc_html_put(html, "<div class=\"scroll\"><table class=\"bars\"><caption>");
	xc_html_element(html, "strong", NULL, histogram->label);
	xc_text_char(&html->page, ' ');
	xc_html_element(html, "span", "quiet", summary);
	xc_html_put(html, "</caption>\n");
	for (size_t i = 0; i < rows; i++)
		put_bucket(html, histogram, i, highest);
	if (rows < count)
		xc_text_printf(&html->page, "<tr><td class=\"quiet\" colspan=\"3\">… and %zu more</td></tr>\n",
			       count - rows);
	xc_html_put(html, "</table></div>\n");
}

/* Consecutive fields become one list. True while one is open. */
static bool put_field(struct xc_html *html, const struct xc_field *field, bool open)
{
	if (!xc_render_shown(field))
		return open;
	xc_html_put(html, open ? "" : "<dl>");
	xc_html_element(html, "dt", NULL, field->label);
	xc_html_put(html, "<dd>");
	put_cell(html, &field->cell);
	xc_html_put(html, "</dd>\n");
	return true;
}

static void put_label_above(struct xc_html *html, const struct xc_item *item)
{
	if (item->label)
		xc_html_element(html, "div", "quiet", item->label);
}

static void put_item(struct xc_html *html, const struct xc_item *item)
{
	switch (item->kind) {
	case XC_ITEM_FIELD: /* see put_items */
		break;
	case XC_ITEM_TABLE:
		put_table(html, item->table);
		break;
	case XC_ITEM_MESSAGE:
		put_message(html, &item->message);
		break;
	case XC_ITEM_STACKS:
		xc_html_stacks(html, item->stacks);
		break;
	case XC_ITEM_TEXT:
		if (item->quiet)
			break;
		put_label_above(html, item);
		put_lines(html, html->options->redact && item->secret ? XC_REDACTED : item->text);
		break;
	case XC_ITEM_TREE:
		put_label_above(html, item);
		put_tree(html, item->tree);
		break;
	case XC_ITEM_DOCUMENT:
		put_lines(html, item->document.text);
		break;
	case XC_ITEM_HISTOGRAM:
		put_histogram(html, item->histogram);
		break;
	}
}

static void put_items(struct xc_html *html, const struct xc_section *s)
{
	bool open = false;
	for (const struct xc_item *item = s->items; item; item = item->next) {
		if (item->kind == XC_ITEM_FIELD) {
			open = put_field(html, &item->field, open);
			continue;
		}
		xc_html_put(html, open ? "</dl>\n" : "");
		open = false;
		put_item(html, item);
		xc_html_flush(html, false);
	}
	xc_html_put(html, open ? "</dl>\n" : "");
}

static void put_section(struct xc_html *html, const struct xc_section *s)
{
	xc_html_put(html, "<section>");
	xc_html_element(html, "h2", NULL, s->title);
	if (s->headline)
		xc_html_element(html, "p", NULL, s->headline);
	if (!s->brief)
		put_items(html, s);
	xc_html_put(html, "</section>\n");
}

/* The verdict */

static void put_where(struct xc_html *html, const struct xc_verdict *verdict)
{
	xc_html_put(html, "<p class=\"where mono\">in ");
	xc_html_element(html, "span", "fn", verdict->function ? verdict->function : "an unknown function");
	if (verdict->file) {
		xc_html_put(html, " &nbsp; <span class=\"place\">");
		xc_html_name(html, verdict->file);
		if (verdict->line)
			xc_text_printf(&html->page, ":%u", verdict->line);
		xc_html_put(html, "</span>");
	} else if (verdict->module) {
		xc_html_put(html, " &nbsp; ");
		xc_html_element(html, "span", "place", verdict->module);
	}
	if (verdict->tid > 0)
		xc_text_printf(&html->page, " &nbsp; thread %d", verdict->tid);
	if (verdict->thread_name) {
		xc_html_put(html, " &quot;");
		xc_html_name(html, verdict->thread_name);
		xc_html_put(html, "&quot;");
	}
	xc_html_put(html, "</p>\n");
}

/* A plugin may set the severity: only known words become a class. */
static const char *severity_class(const char *severity)
{
	static const char *const known[] = {"low", "medium", "high", "critical", "info"};
	for (size_t i = 0; i < XC_COUNT(known); i++)
		if (!strcmp(severity, known[i]))
			return known[i];
	return "info";
}

static void put_verdict(struct xc_html *html, const struct xc_verdict *verdict)
{
	xc_html_put(html, "<section class=\"verdict\">");
	xc_html_element(html, "h2", NULL, verdict->headline ? verdict->headline : "no verdict");
	xc_html_put(html, "<div class=\"tags\">");
	if (verdict->severity) {
		xc_text_printf(&html->page, "<span class=\"tag %s\">severity ", severity_class(verdict->severity));
		xc_html_name(html, verdict->severity);
		xc_html_put(html, "</span>");
	}
	if (verdict->confidence)
		xc_html_element(html, "span", "tag", verdict->confidence);
	if (verdict->class_name)
		xc_html_element(html, "span", "tag", verdict->class_name);
	if (verdict->kind)
		xc_html_element(html, "span", "tag", verdict->kind);
	xc_html_put(html, "</div>\n");
	if (verdict->function || verdict->file || verdict->module)
		put_where(html, verdict);
	if (verdict->message)
		xc_html_element(html, "pre", NULL, html->options->redact ? XC_REDACTED : verdict->message);
	if (verdict->source)
		put_lines(html, verdict->source);
	else if (verdict->source_hint)
		xc_html_element(html, "pre", NULL, verdict->source_hint);
	if (verdict->cause)
		xc_html_element(html, "p", NULL, verdict->cause);
	const char *const *evidence = html->options->redact ? verdict->redacted : verdict->evidence;
	xc_html_put(html, verdict->evidence_count ? "<ul>" : "");
	for (size_t i = 0; i < verdict->evidence_count; i++)
		xc_html_element(html, "li", NULL, evidence[i]);
	xc_html_put(html, verdict->evidence_count ? "</ul>" : "");
	xc_html_put(html, "</section>\n");
}

static void put_output(struct xc_html *html, const struct xc_report *report)
{
	xc_html_put(html, report->output ? "<section><pre>" : "");
	for (const struct xc_output_line *line = report->output; line; line = line->next) {
		html->scratch.len = 0;
		xc_render_printed(&html->scratch, line->text, line->len);
		xc_html_text(html, xc_text_string(&html->scratch));
		xc_html_put(html, "\n");
		xc_html_flush(html, false);
	}
	xc_html_put(html, report->output ? "</pre></section>\n" : "");
}

static void put_head(struct xc_html *html, const struct xc_report *report)
{
	const struct xc_section *target = report->target;
	const char *title = target && target->headline ? target->headline
			    : report->command          ? report->command
						       : "report";
	xc_html_put(
		html,
		"<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n"
		"<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'; "
		"base-uri 'none'; form-action 'none'\">\n"
		"<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<title>xcore: ");
	xc_html_name(html, title);
	xc_html_put(html, "</title>\n<style>\n");
	xc_html_put(html, xc_html_style);
	xc_html_put(html, "</style></head><body><main>\n<header>");
	xc_html_element(html, "h1", NULL, title);
	if (target)
		put_items(html, target);
	xc_html_put(html, "</header>\n");
}

struct xc_error *xc_render_html(const struct xc_report *report, const struct xc_render_options *options, FILE *out)
{
	struct xc_html html = {.out = out, .options = options};
	put_head(&html, report);
	if (report->verdict)
		put_verdict(&html, report->verdict);
	put_output(&html, report);
	for (const struct xc_section *s = report->sections; s; s = s->next)
		put_section(&html, s);
	if (options->stats && report->run)
		put_section(&html, report->run);
	xc_html_put(&html, "<footer>made by xcore " XC_VERSION
			   "; the whole data: --format json</footer>\n</main></body></html>\n");
	xc_html_flush(&html, true);
	xc_text_fini(&html.page);
	xc_text_fini(&html.scratch);
	if (fflush(out) || ferror(out))
		return xc_error_errno(errno ? errno : EIO, "writing the report");
	return NULL;
}
