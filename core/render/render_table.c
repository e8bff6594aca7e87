/* render_table: a table in aligned columns.
 *
 * Every cell is written once, into one text with offsets, which gives the widths. A table that is wider than the page
 * loses its verbose columns, then its widest text columns are cut with "…". The last column, if it is text, is wrapped
 * instead, because reasons must be complete. A path there is not wrapped, even if it exceeds the page. */
#include "core/render/paint.h"

#include <stdlib.h>
#include <string.h>

enum { GAP = 2, LEAST_LAST = 24, LEAST_TEXT = 12, LONGEST_REASON = 12 };

struct grid {
	const struct xc_table *table;
	struct xc_text text; /* all cells, each with its NUL */
	size_t *starts;      /* offset of each cell */
	size_t *widths;      /* per column */
	bool *hidden;        /* per column */
	size_t last;         /* index of the last shown column */
};

static void add_cell(struct grid *g, const struct xc_column *column, const struct xc_cell *cell, bool redact)
{
	bool long_reason = cell->kind == XC_FIELD_NULL && cell->text && xc_render_right(column->kind) &&
			   strlen(cell->text) > LONGEST_REASON;
	if (long_reason)
		xc_text_add(&g->text, "–"); /* JSON and HTML show the reason */
	else
		xc_render_cell(&g->text, cell, redact);
	xc_text_char(&g->text, '\0');
}

static void fill(struct grid *g, bool redact)
{
	const struct xc_table *table = g->table;
	for (size_t i = 0; i < table->row_count * table->column_count; i++) {
		size_t column = i % table->column_count;
		g->starts[i] = g->text.len;
		add_cell(g, &table->columns[column], &table->cells[i], redact);
		size_t wide = xc_render_columns(g->text.bytes + g->starts[i], g->text.len - g->starts[i] - 1);
		if (wide > g->widths[column])
			g->widths[column] = wide;
	}
}

/* A path is for copying, so it is not wrapped here. */
static bool is_path(const char *text)
{
	return text[0] == '/' && !strchr(text, ' ');
}

static size_t total_width(struct grid *g)
{
	size_t total = 0;
	g->last = 0;
	for (size_t i = 0; i < g->table->column_count; i++) {
		if (g->hidden[i])
			continue;
		total += g->widths[i] + GAP;
		g->last = i;
	}
	return total ? total - GAP : 0;
}

static bool last_is_text(const struct grid *g)
{
	return g->table->column_count && !xc_render_right(g->table->columns[g->last].kind);
}

/* The smallest width of the last column. If paths exceed the page anyway, cutting other columns for it gains
 * nothing. */
static size_t least_last(const struct grid *g, size_t room)
{
	size_t before = 0, paths = 0;
	for (size_t i = 0; i < g->last; i++)
		before += g->hidden[i] ? 0 : g->widths[i] + GAP;
	for (size_t row = 0; row < g->table->row_count; row++) {
		const char *text = g->text.bytes + g->starts[row * g->table->column_count + g->last];
		size_t wide = is_path(text) ? xc_render_columns(text, strlen(text)) : 0;
		paths = wide > paths ? wide : paths;
	}
	return before + paths > room ? LEAST_TEXT : LEAST_LAST;
}

/* The smallest width of the table if its last text column is wrapped. */
static size_t needed_width(struct grid *g, size_t room)
{
	size_t total = total_width(g), least;
	if (last_is_text(g) && g->widths[g->last] > (least = least_last(g, room)))
		total -= g->widths[g->last] - least;
	return total;
}

/* The widest text column that can be cut, or column_count. */
static size_t widest_text(const struct grid *g)
{
	size_t found = g->table->column_count, wide = LEAST_TEXT;
	for (size_t i = 0; i < g->table->column_count; i++) {
		if (g->hidden[i] || i == g->last || xc_render_right(g->table->columns[i].kind) || g->widths[i] <= wide)
			continue;
		found = i;
		wide = g->widths[i];
	}
	return found;
}

/* Hide columns without any known value, unless the whole table has none. */
static void hide_empty(struct grid *g)
{
	const struct xc_table *table = g->table;
	size_t shown = 0;
	for (size_t i = 0; i < table->column_count; i++) {
		g->hidden[i] = true;
		for (size_t row = 0; row < table->row_count && g->hidden[i]; row++) {
			const struct xc_cell *cell = &table->cells[row * table->column_count + i];
			g->hidden[i] = cell->kind == XC_FIELD_NULL && !cell->text;
		}
		shown += !g->hidden[i];
	}
	if (!shown)
		memset(g->hidden, 0, table->column_count * sizeof *g->hidden);
}

static void make_fit(struct grid *g, size_t room)
{
	const struct xc_table *table = g->table;
	for (size_t i = table->column_count; i-- && total_width(g) > room;)
		g->hidden[i] |= table->columns[i].verbose;
	size_t needed, widest;
	while ((needed = needed_width(g, room)) > room && (widest = widest_text(g)) < table->column_count) {
		size_t narrower = g->widths[widest] - LEAST_TEXT, excess = needed - room;
		g->widths[widest] -= excess < narrower ? excess : narrower;
	}
}

static void put_cell(struct xc_paint *p, const struct grid *g, size_t column, const char *text, enum xc_style style,
		     size_t at)
{
	size_t wide = xc_render_columns(text, strlen(text));
	if (xc_render_right(g->table->columns[column].kind)) {
		xc_paint_pad(p, at + (wide < g->widths[column] ? g->widths[column] - wide : 0));
		xc_paint_put(p, style, text);
		return;
	}
	xc_paint_pad(p, at);
	if (column == g->last && is_path(text))
		xc_paint_put(p, style, text);
	else if (column == g->last)
		xc_paint_wrapped(p, style, text, at, 0);
	else
		xc_paint_cut(p, style, text, g->widths[column]);
}

static void put_row(struct xc_paint *p, const struct grid *g, size_t row, size_t indent)
{
	size_t at = indent;
	for (size_t i = 0; i < g->table->column_count; i++) {
		if (g->hidden[i])
			continue;
		put_cell(p, g, i, g->text.bytes + g->starts[row * g->table->column_count + i], XC_PLAIN, at);
		at += g->widths[i] + GAP;
	}
	xc_paint_line(p);
}

static void put_head(struct xc_paint *p, const struct grid *g, size_t indent)
{
	size_t at = indent;
	for (size_t i = 0; i < g->table->column_count; i++) {
		if (g->hidden[i])
			continue;
		p->scratch.len = 0;
		xc_text_addn(&p->scratch, "", 0); /* without a label, clear the previous one */
		xc_text_name(&p->scratch, g->table->columns[i].label);
		put_cell(p, g, i, xc_text_string(&p->scratch), XC_DIM, at);
		at += g->widths[i] + GAP;
	}
	xc_paint_line(p);
}

void xc_paint_table(struct xc_paint *p, const struct xc_table *table, size_t indent)
{
	if (!table->row_count || !table->column_count)
		return;
	struct grid g = {.table = table};
	g.starts = xc_alloc(table->row_count * table->column_count * sizeof *g.starts);
	g.widths = xc_alloc(table->column_count * sizeof *g.widths);
	g.hidden = xc_alloc(table->column_count * sizeof *g.hidden);
	for (size_t i = 0; i < table->column_count; i++)
		g.widths[i] = xc_render_columns(table->columns[i].label, strlen(table->columns[i].label));
	fill(&g, p->options->redact);
	hide_empty(&g);
	make_fit(&g, p->width - indent);
	put_head(p, &g, indent);
	for (size_t row = 0; row < table->row_count; row++)
		put_row(p, &g, row, indent);
	xc_text_fini(&g.text);
	free(g.starts);
	free(g.widths);
	free(g.hidden);
}
