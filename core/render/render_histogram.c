/* render_histogram: a row with a bar for each range that is not empty. Shared by text and HTML, and the drawing of
 * text.
 *
 * Bars are proportional to the count, to an eighth of a column, and at least an eighth long. */
#include "core/render/paint.h"

#include <string.h>

enum { ROWS = 40, LONGEST_BAR = 50, LEAST_BAR = 8 };

static bool has_integers(enum xc_field_kind kind)
{
	return kind == XC_FIELD_COUNT || kind == XC_FIELD_INTEGER || kind == XC_FIELD_BYTES;
}

/* Writes whole numbers of a unit without ".00". */
static void add_size(struct xc_text *text, uint64_t bytes)
{
	size_t start = text->len;
	xc_text_size(text, bytes);
	char *zeros = strstr(text->bytes + start, ".00 ");
	char *one = zeros ? zeros : strstr(text->bytes + start, ".0 ");
	if (!one)
		return;
	const char *unit = strchr(one, ' ');
	size_t len = strlen(unit);
	memmove(one, unit, len + 1);
	text->len = (size_t)(one - text->bytes) + len;
}

static void add_bound(struct xc_text *text, const struct xc_cell *cell)
{
	if (cell->kind == XC_FIELD_BYTES)
		add_size(text, cell->number);
	else
		xc_render_cell(text, cell, false);
}

static bool is_one_value(const struct xc_histogram *histogram, const struct xc_bucket *bucket)
{
	return has_integers(histogram->kind) && bucket->lo.number == bucket->hi.number;
}

void xc_render_range(struct xc_text *text, const struct xc_histogram *histogram, const struct xc_bucket *bucket)
{
	add_bound(text, &bucket->lo);
	if (is_one_value(histogram, bucket))
		return;
	xc_text_add(text, " – ");
	add_bound(text, &bucket->hi);
}

void xc_render_summary(struct xc_text *text, const struct xc_histogram *histogram)
{
	struct xc_cell mean = histogram->mean;
	if (histogram->kind == XC_FIELD_BYTES && mean.kind == XC_FIELD_NUMBER && mean.real >= 0 && mean.real < 1e19)
		mean = xc_cell_bytes((uint64_t)mean.real);
	xc_render_count(text, histogram->count);
	xc_text_add(text, " in all");
	if (histogram->least.kind == XC_FIELD_NULL)
		return;
	xc_text_add(text, ", ");
	add_bound(text, &histogram->least);
	xc_text_add(text, " to ");
	add_bound(text, &histogram->greatest);
	xc_text_add(text, ", mean ");
	add_bound(text, &mean);
}

uint64_t xc_render_highest(const struct xc_histogram *histogram, size_t rows)
{
	uint64_t highest = 1;
	for (size_t i = 0; i < rows; i++)
		if (histogram->buckets[i].count > highest)
			highest = histogram->buckets[i].count;
	return highest;
}

bool xc_render_follows_gap(const struct xc_histogram *histogram, size_t index)
{
	const struct xc_bucket *bucket = &histogram->buckets[index], *before = bucket - 1;
	if (index == 0 || (is_one_value(histogram, bucket) && is_one_value(histogram, before)))
		return false;
	if (has_integers(histogram->kind))
		return bucket->lo.number != before->hi.number + 1;
	return bucket->lo.real > before->hi.real;
}

/* ---- text ---- */

struct grid {
	size_t indent, range, count, bar; /* widths */
	uint64_t highest;
};

static struct xc_text *clean_scratch(struct xc_paint *p)
{
	p->scratch.len = 0;
	xc_text_addn(&p->scratch, "", 0);
	return &p->scratch;
}

static size_t scratch_columns(const struct xc_paint *p)
{
	return xc_render_columns(p->scratch.bytes, p->scratch.len);
}

static struct grid measure(struct xc_paint *p, const struct xc_histogram *histogram, size_t rows, size_t indent)
{
	struct grid g = {.indent = indent + 2, .bar = LEAST_BAR, .highest = xc_render_highest(histogram, rows)};
	for (size_t i = 0; i < rows; i++) {
		xc_render_range(clean_scratch(p), histogram, &histogram->buckets[i]);
		size_t wide = scratch_columns(p);
		g.range = wide > g.range ? wide : g.range;
	}
	xc_render_count(clean_scratch(p), g.highest);
	g.count = p->scratch.len;
	size_t before = g.indent + g.range + 2 + g.count + 2;
	if (p->width > before + LEAST_BAR)
		g.bar = p->width - before < LONGEST_BAR ? p->width - before : LONGEST_BAR;
	return g;
}

static void put_right(struct xc_paint *p, size_t at, size_t width)
{
	size_t wide = scratch_columns(p);
	xc_paint_pad(p, at + (wide < width ? width - wide : 0));
	xc_paint_put(p, XC_PLAIN, xc_text_string(&p->scratch));
}

static void put_bar(struct xc_paint *p, const struct grid *g, uint64_t count)
{
	static const char *const eighths[] = {"", "▏", "▎", "▍", "▌", "▋", "▊", "▉"};
	size_t length = (size_t)((double)count / (double)g->highest * (double)g->bar * 8 + 0.5);
	if (length == 0 && count)
		length = 1;
	struct xc_text *text = clean_scratch(p);
	for (size_t i = 0; i < length / 8; i++)
		xc_text_add(text, "█");
	xc_text_add(text, eighths[length % 8]);
	xc_paint_put(p, XC_PLACE, xc_text_string(text));
}

static void put_bucket(struct xc_paint *p, const struct grid *g, const struct xc_histogram *histogram, size_t index)
{
	const struct xc_bucket *bucket = &histogram->buckets[index];
	if (xc_render_follows_gap(histogram, index)) {
		xc_paint_pad(p, g->indent + (g->range ? g->range - 1 : 0));
		xc_paint_put(p, XC_DIM, "…");
		xc_paint_line(p);
	}
	xc_render_range(clean_scratch(p), histogram, bucket);
	put_right(p, g->indent, g->range);
	xc_render_count(clean_scratch(p), bucket->count);
	put_right(p, g->indent + g->range + 2, g->count);
	xc_paint_put(p, XC_PLAIN, "  ");
	put_bar(p, g, bucket->count);
	xc_paint_line(p);
}

void xc_paint_histogram(struct xc_paint *p, const struct xc_histogram *histogram, size_t indent)
{
	size_t rows = histogram->bucket_count < ROWS ? histogram->bucket_count : ROWS;
	xc_paint_pad(p, indent);
	xc_text_name(clean_scratch(p), histogram->label);
	xc_paint_wrapped(p, XC_PLAIN, xc_text_string(&p->scratch), indent, 0);
	xc_paint_put(p, XC_PLAIN, "  ");
	xc_render_summary(clean_scratch(p), histogram);
	xc_paint_wrapped(p, XC_DIM, xc_text_string(&p->scratch), indent, 0);
	xc_paint_line(p);
	const struct grid g = measure(p, histogram, rows, indent);
	for (size_t i = 0; i < rows; i++)
		put_bucket(p, &g, histogram, i);
	if (rows == histogram->bucket_count)
		return;
	xc_paint_pad(p, g.indent);
	xc_text_printf(clean_scratch(p), "… and %zu more", histogram->bucket_count - rows);
	xc_paint_put(p, XC_DIM, xc_text_string(&p->scratch));
	xc_paint_line(p);
}
