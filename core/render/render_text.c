/* render_text: a report for people. The most important facts come first, each line fits the width, and colour only
 * repeats information of the text. Tables and stacks: render_table.c and render_stacks.c. */
#include "core/render/paint.h"
#include "core/report/scrub.h"
#include "core/report/stacktree.h"

#include <string.h>

enum { TREE_DEPTH = 16, TREE_ROWS = 60, LABEL_CAP = 24 };

static struct xc_text *clean_scratch(struct xc_paint *p)
{
	p->scratch.len = 0;
	xc_text_addn(&p->scratch, "", 0);
	return &p->scratch;
}

static const char *scratch(struct xc_paint *p)
{
	return xc_text_string(&p->scratch);
}

/* Put a string of the target, escaped and wrapped, and end the line. */
static void put_name(struct xc_paint *p, enum xc_style style, const char *string, size_t indent)
{
	xc_text_name(clean_scratch(p), string);
	xc_paint_wrapped(p, style, scratch(p), indent, 0);
	xc_paint_line(p);
}

static void put_message(struct xc_paint *p, const struct xc_message *message, size_t indent)
{
	static const char *const words[] = {"note: ", "warning: ", "problem: "};
	static const enum xc_style styles[] = {XC_DIM, XC_YELLOW, XC_RED};
	xc_paint_pad(p, indent);
	xc_paint_put(p, styles[message->severity], words[message->severity]);
	put_name(p, XC_PLAIN, message->text, indent + 2);
	if (!message->hint)
		return;
	xc_paint_pad(p, indent + 2);
	xc_paint_put(p, XC_DIM, "hint: ");
	put_name(p, XC_PLAIN, message->hint, indent + 4);
}

/* Styles of the current line, the holes of a type, and separators. */
static enum xc_style line_style(const char *line)
{
	static const struct {
		const char *mark;
		enum xc_style style;
	} styles[] = {{"=> ", XC_BOLD}, {"→ ", XC_BOLD}, {"/* XXX ", XC_YELLOW}, {"/* --- ", XC_DIM}};
	line += strspn(line, " ");
	for (size_t i = 0; i < XC_COUNT(styles); i++)
		if (strncmp(line, styles[i].mark, strlen(styles[i].mark)) == 0)
			return styles[i].style;
	return XC_PLAIN;
}

/* Preformatted lines. `cut`: long lines are cut, because source code is for recognition, not for copying. */
static void put_lines(struct xc_paint *p, const char *lines, size_t indent, bool cut)
{
	struct xc_text *text = clean_scratch(p);
	xc_render_lines(text, lines);
	for (const char *at = scratch(p); *at;) {
		size_t n = strcspn(at, "\n");
		xc_paint_pad(p, indent);
		size_t shown = cut && xc_render_columns(at, n) > p->width - indent
				       ? xc_render_fit(at, n, p->width - indent - 1)
				       : n;
		xc_paint_putn(p, line_style(at), at, shown);
		xc_paint_put(p, XC_PLAIN, shown < n ? "…" : "");
		xc_paint_line(p);
		at += at[n] ? n + 1 : n;
	}
}

/* The largest paths of a tree, outermost first, indented by depth. */
static void put_tree(struct xc_paint *p, const struct xc_stacktree *tree, size_t indent)
{
	size_t depth = 0, rows = 0, left_out = 0;
	uint64_t least = tree->root.total / 100;
	for (const struct xc_stacktree_node *node = &tree->root; (node = xc_stacktree_next(node, &depth));) {
		if (node->total < least || depth > TREE_DEPTH || rows >= TREE_ROWS) {
			left_out++;
			continue;
		}
		rows++;
		double percent = tree->root.total ? 100.0 * (double)node->total / (double)tree->root.total : 0;
		struct xc_text *text = clean_scratch(p);
		xc_text_printf(text, "%5.1f%%  ", percent);
		xc_render_weight(text, tree, node->total);
		xc_paint_pad(p, indent);
		xc_paint_put(p, XC_PLAIN, scratch(p));
		xc_paint_pad(p, indent + 18 + 2 * (depth - 1));
		xc_text_name(clean_scratch(p), node->name);
		xc_paint_cut(p, XC_PLAIN, scratch(p),
			     p->width > xc_paint_column(p) + 8 ? p->width - xc_paint_column(p) : 8);
		xc_paint_line(p);
	}
	if (left_out) {
		xc_paint_pad(p, indent);
		xc_text_printf(clean_scratch(p), "… and %zu smaller or deeper ones", left_out);
		xc_paint_put(p, XC_DIM, scratch(p));
		xc_paint_line(p);
	}
}

/* Sections */

static size_t label_width(struct xc_paint *p, const struct xc_section *s)
{
	size_t width = 0;
	for (const struct xc_item *item = s->items; item; item = item->next) {
		if (item->kind != XC_ITEM_FIELD || !xc_render_shown(&item->field))
			continue;
		xc_text_name(clean_scratch(p), item->field.label);
		size_t wide = xc_render_columns(scratch(p), p->scratch.len);
		width = wide > width && wide <= LABEL_CAP ? wide : width;
	}
	return width;
}

static void put_field(struct xc_paint *p, const struct xc_field *field, size_t indent, size_t width)
{
	size_t at = indent + width + 2;
	xc_paint_pad(p, indent);
	xc_text_name(clean_scratch(p), field->label);
	xc_paint_put(p, XC_DIM, scratch(p));
	xc_paint_put(p, XC_PLAIN, "  ");
	xc_paint_pad(p, at);
	xc_render_cell(clean_scratch(p), &field->cell, p->options->redact);
	if (field->whole)
		xc_paint_put(p, XC_PLAIN, scratch(p));
	else
		xc_paint_wrapped(p, field->cell.kind == XC_FIELD_NULL ? XC_DIM : XC_PLAIN, scratch(p), at, 0);
	xc_paint_line(p);
}

static void put_label_above(struct xc_paint *p, const struct xc_item *item, size_t indent)
{
	if (!item->label)
		return;
	xc_paint_pad(p, indent);
	put_name(p, XC_DIM, item->label, indent);
}

static void put_item(struct xc_paint *p, const struct xc_item *item, size_t indent, size_t width, bool first)
{
	switch (item->kind) {
	case XC_ITEM_FIELD:
		if (xc_render_shown(&item->field))
			put_field(p, &item->field, indent, width);
		break;
	case XC_ITEM_TABLE:
		if (!first && item->table->row_count)
			xc_paint_blank(p);
		xc_paint_table(p, item->table, indent);
		break;
	case XC_ITEM_MESSAGE:
		put_message(p, &item->message, indent);
		break;
	case XC_ITEM_STACKS:
		xc_paint_stacks(p, item->stacks);
		break;
	case XC_ITEM_TEXT:
		if (item->quiet)
			break;
		put_label_above(p, item, indent);
		put_lines(p, p->options->redact && item->secret ? XC_REDACTED : item->text, indent, false);
		break;
	case XC_ITEM_TREE:
		if (!first && item->label)
			xc_paint_blank(p);
		put_label_above(p, item, indent);
		put_tree(p, item->tree, indent);
		break;
	case XC_ITEM_DOCUMENT:
		put_lines(p, item->document.text, indent, false);
		break;
	case XC_ITEM_HISTOGRAM:
		if (!first)
			xc_paint_blank(p);
		xc_paint_histogram(p, item->histogram, indent);
		break;
	}
}

static void put_section(struct xc_paint *p, const struct xc_section *s, bool with_title)
{
	size_t indent = with_title ? 2 : 0, width = label_width(p, s);
	xc_paint_blank(p);
	if (with_title)
		put_name(p, XC_BOLD, s->title, 2);
	if (s->headline) {
		xc_paint_pad(p, indent);
		put_name(p, XC_BOLD, s->headline, indent);
	}
	for (const struct xc_item *item = s->items; item; item = item->next)
		if (!s->brief || item->kind == XC_ITEM_MESSAGE)
			put_item(p, item, indent, width, item == s->items);
}

/* Printed lines verbatim: neither cut nor wrapped. */
static void put_output(struct xc_paint *p, const struct xc_report *report)
{
	for (const struct xc_output_line *line = report->output; line; line = line->next) {
		xc_render_printed(clean_scratch(p), line->text, line->len);
		xc_paint_put(p, XC_PLAIN, scratch(p));
		xc_paint_line(p);
	}
}

/* The verdict */

static void put_severity(struct xc_paint *p, const struct xc_verdict *verdict)
{
	struct xc_text *text = clean_scratch(p);
	if (verdict->severity) {
		xc_text_add(text, "severity ");
		xc_text_name(text, verdict->severity);
	}
	if (verdict->confidence) {
		xc_text_add(text, text->len ? ", " : "");
		xc_text_name(text, verdict->confidence);
	}
	size_t wide = xc_render_columns(scratch(p), text->len), at = xc_paint_column(p);
	if (!text->len)
		return;
	if (at + 3 + wide > p->width) {
		xc_paint_line(p);
		at = 0;
	}
	xc_paint_pad(p, at ? p->width - wide : 2);
	xc_paint_put(p, XC_DIM, scratch(p));
}

static void put_label(struct xc_paint *p, const char *label)
{
	xc_paint_pad(p, 2);
	xc_paint_put(p, XC_DIM, label);
	xc_paint_pad(p, 8);
}

/* After the place if it fits there, else on a separate line. */
static void put_thread(struct xc_paint *p, const struct xc_verdict *verdict)
{
	struct xc_text *text = clean_scratch(p);
	if (verdict->tid > 0)
		xc_text_printf(text, "thread %d", verdict->tid);
	if (verdict->thread_name) {
		xc_text_add(text, verdict->tid > 0 ? " \"" : "thread \"");
		xc_text_name(text, verdict->thread_name);
		xc_text_char(text, '"');
	}
	if (!text->len)
		return;
	if (xc_paint_column(p) + 3 + xc_render_columns(text->bytes, text->len) > p->width)
		xc_paint_line(p);
	xc_paint_pad(p, xc_paint_column(p) ? xc_paint_column(p) + 3 : 8);
	xc_paint_wrapped(p, XC_PLAIN, scratch(p), 8, 0);
}

static void put_where(struct xc_paint *p, const struct xc_verdict *verdict)
{
	put_label(p, "in");
	xc_text_name(clean_scratch(p), verdict->function ? verdict->function : "an unknown function");
	xc_paint_wrapped(p, XC_FUNCTION, scratch(p), 8, 0);
	struct xc_text *text = clean_scratch(p);
	if (verdict->file) {
		xc_text_add(text, "   ");
		xc_text_name(text, verdict->file);
		if (verdict->line)
			xc_text_printf(text, ":%u", verdict->line);
	} else if (verdict->module) {
		xc_text_add(text, "   ");
		xc_text_name(text, verdict->module);
	}
	xc_paint_wrapped(p, XC_PLACE, scratch(p), 8, 0);
	put_thread(p, verdict);
	xc_paint_line(p);
}

/* "null-write: a pointer that is NULL was dereferenced" */
static void put_cause(struct xc_paint *p, const struct xc_verdict *verdict)
{
	struct xc_text *text = clean_scratch(p);
	if (verdict->class_name)
		xc_text_name(text, verdict->class_name);
	if (verdict->kind) {
		xc_text_add(text, " (");
		xc_text_name(text, verdict->kind);
		xc_text_char(text, ')');
	}
	if (verdict->cause) {
		xc_text_add(text, text->len ? ": " : "");
		xc_text_name(text, verdict->cause);
	}
	if (!text->len)
		return;
	put_label(p, "why");
	xc_paint_wrapped(p, XC_PLAIN, scratch(p), 8, 0);
	xc_paint_line(p);
}

static void put_verdict(struct xc_paint *p, const struct xc_verdict *verdict)
{
	xc_paint_blank(p);
	xc_text_name(clean_scratch(p), verdict->headline ? verdict->headline : "no verdict");
	xc_paint_wrapped(p, XC_RED, scratch(p), 2, 0);
	put_severity(p, verdict);
	xc_paint_line(p);
	if (verdict->function || verdict->file || verdict->module)
		put_where(p, verdict);
	if (verdict->message) {
		put_label(p, "says");
		put_name(p, XC_BOLD, p->options->redact ? XC_REDACTED : verdict->message, 8);
	}
	if (verdict->source)
		put_lines(p, verdict->source, 8, true);
	else if (verdict->source_hint) {
		xc_paint_pad(p, 8);
		xc_text_printf(clean_scratch(p), "source lines: ");
		xc_text_name(&p->scratch, verdict->source_hint);
		xc_paint_put(p, XC_DIM, scratch(p)); /* not wrapped: to be copied into a command */
		xc_paint_line(p);
	}
	put_cause(p, verdict);
	const char *const *evidence = p->options->redact ? verdict->redacted : verdict->evidence;
	for (size_t i = 0; i < verdict->evidence_count; i++) {
		xc_paint_pad(p, 8);
		put_name(p, XC_PLAIN, evidence[i], 10);
	}
}

struct xc_error *xc_render_text(const struct xc_report *report, const struct xc_render_options *options, FILE *out)
{
	struct xc_paint p = xc_paint_start(out, options);
	const struct xc_section *first = report->sections;
	bool several = first && first->next;
	bool with_titles = report->verdict || (report->target && !report->target->brief) || several;
	if (report->target && !report->bare)
		put_section(&p, report->target, false);
	if (report->verdict)
		put_verdict(&p, report->verdict);
	put_output(&p, report);
	for (const struct xc_section *s = first; s; s = s->next)
		put_section(&p, s, with_titles);
	if (options->stats && report->run)
		put_section(&p, report->run, true);
	return xc_paint_finish(&p);
}
