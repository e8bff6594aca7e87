/* paint: the output of the text renderer: colours, padding, wrapping at a width.
 *
 * Widths and columns are terminal columns. Strings are already escaped (see text.h). CI systems execute lines with
 * "##[" or with "::" in front, so those are written with \xNN. */
#ifndef XC_PAINT_H
#define XC_PAINT_H

#include "core/render/render.h"

enum xc_style { XC_PLAIN, XC_BOLD, XC_DIM, XC_RED, XC_YELLOW, XC_FUNCTION, XC_PLACE };

struct xc_paint {
	FILE *out;
	const struct xc_render_options *options;
	size_t width;
	struct xc_text page;    /* not written yet */
	size_t line_start;      /* of the current line, in page */
	size_t counted, column; /* the column of byte `counted` of page */
	struct xc_text scratch; /* for the caller, between two calls */
};

struct xc_paint xc_paint_start(FILE *out, const struct xc_render_options *options);

/* Write the rest. Errors: XC_ERR_IO. */
XC_MUST_CHECK struct xc_error *xc_paint_finish(struct xc_paint *p);

/* Column of the next character, from 0. */
size_t xc_paint_column(struct xc_paint *p);

void xc_paint_put(struct xc_paint *p, enum xc_style style, const char *text);
void xc_paint_putn(struct xc_paint *p, enum xc_style style, const char *text, size_t len);
void xc_paint_pad(struct xc_paint *p, size_t column); /* spaces up to column; none when it is already passed */
void xc_paint_line(struct xc_paint *p);               /* end of line; trailing spaces are not written */
void xc_paint_blank(struct xc_paint *p);              /* an empty line, unless there is one or no output yet */

/* Put text from the current column on. Lines break at a space (or anywhere when there is none) before the width and
 * continue at column `indent`. After `max_lines` lines (0: no limit) the rest is cut with "…". Does not end the
 * line. */
void xc_paint_wrapped(struct xc_paint *p, enum xc_style style, const char *text, size_t indent, size_t max_lines);

/* Put at most `columns` columns of text, the last one "…" if it is cut. A path is cut at its front instead. */
void xc_paint_cut(struct xc_paint *p, enum xc_style style, const char *text, size_t columns);

/* render_table.c, render_stacks.c, render_histogram.c */
void xc_paint_table(struct xc_paint *p, const struct xc_table *table, size_t indent);
void xc_paint_histogram(struct xc_paint *p, const struct xc_histogram *histogram, size_t indent);
void xc_paint_stacks(struct xc_paint *p, const struct xc_stacks *stacks);

#endif
