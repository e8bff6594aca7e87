/* render: a report as text for people, JSON for machines, or one self-contained HTML page. */
#ifndef XC_RENDER_H
#define XC_RENDER_H

#include <stdio.h>

#include "core/report/report.h"
#include "core/base/text.h"

struct xc_render_options {
	bool color;     /* text: ANSI colours */
	unsigned width; /* text: columns to fit, 100 when 0 */
	bool stats;     /* include the report's run section */
	bool redact;    /* omit values of arguments and locals, secret fields and texts, and the verdict's message */
	bool single;    /* JSON: only the first section that has a schema (bt, …) */
};

/* Write the report to out. Errors: XC_ERR_IO. JSON of the same target is byte-identical, whatever the
 * file's name, compression or time. Strings of the target are escaped in every format. */
XC_MUST_CHECK struct xc_error *xc_render_text(const struct xc_report *report, const struct xc_render_options *options,
					      FILE *out);
XC_MUST_CHECK struct xc_error *xc_render_json(const struct xc_report *report, const struct xc_render_options *options,
					      FILE *out);
XC_MUST_CHECK struct xc_error *xc_render_html(const struct xc_report *report, const struct xc_render_options *options,
					      FILE *out);

/* render.c: shared by text and HTML. All functions append plain text in which the target's strings are escaped. */

/* False for an unknown value without a reason: only JSON shows it. */
bool xc_render_shown(const struct xc_field *field);

void xc_render_cell(struct xc_text *text, const struct xc_cell *cell, bool redact);
void xc_render_count(struct xc_text *text, uint64_t count); /* "1,204,331" */

struct xc_stacktree;
void xc_render_weight(struct xc_text *text, const struct xc_stacktree *tree, uint64_t weight); /* in the tree's unit */

/* Is a cell of this kind right-aligned? */
bool xc_render_right(enum xc_field_kind kind);

/* The value or, in angle brackets, the reason for its absence. */
void xc_render_variable(struct xc_text *text, const struct xc_variable_text *variable, bool redact);

/* The gap in a stack: rows [at, resume) are not shown, which are `frames` frames. No gap: frames is 0 and at is the row
 * count. Brief stacks of many rows show only their two ends. */
struct xc_gap {
	size_t at, resume;
	uint64_t frames;
};
struct xc_gap xc_render_gap(const struct xc_stack *stack, bool brief);

/* Is the variable optimized out? And: add "optimized out: a, b" for the first `count` locals, or nothing. */
bool xc_render_is_lost(const struct xc_variable_text *variable);
void xc_render_lost(struct xc_text *text, const struct xc_stack_row *row, size_t count);

/* "main", or "0x401136" when the function is unknown; "?" where there is no address either. */
void xc_render_function(struct xc_text *text, const struct xc_stack_row *row);

/* An escaped name without its inner template arguments, as many of them as needed to fit `columns`. It may still be
 * longer. */
void xc_render_long_name(struct xc_text *text, const char *name, size_t columns);

/* "nginx.c:386"; "libc.so.6" for code without line information; nothing when the module is unknown too. */
void xc_render_place(struct xc_text *text, const struct xc_stack_row *row);

/* Properties of a row: "lua builtin", "inlined", "signal handler called", "by frame pointer", "module unverified", …,
 * in order, separated by ", ". *doubt_out is true when one of them means that the row may be wrong. */
void xc_render_marks(struct xc_text *text, const struct xc_stack_row *row, bool *doubt_out);

/* `thread 12 "name", sleeping`, with "crashed" and the source of its registers. */
void xc_render_thread(struct xc_text *text, const struct xc_stack *stack);

/* `, worker, waiting for mutex `q->lock`` for a stack. group (or NULL): adds how the other members wait, if they
 * differ. */
void xc_render_waits(struct xc_text *text, const struct xc_stack *stack, const struct xc_stack_group *group,
		     bool redact);

/* `12`, or the name of a stack on no thread: for lists of equal stacks. */
void xc_render_member(struct xc_text *text, const struct xc_stack *stack);

/* The reason for the end of a stack, unless it is the natural one; else NULL. */
const char *xc_render_stop(const struct xc_stack *stack);

/* Preformatted lines: escapes everything but newlines and tabs (which become spaces to the next multiple of 8). */
void xc_render_lines(struct xc_text *text, const char *lines);

/* A line printed by a script: escapes everything except newlines and tabs, which a pipe may need. */
void xc_render_printed(struct xc_text *text, const char *line, size_t len);

/* render_histogram.c: "1 KiB – 2 KiB"; "1,204 in all, 3 B to 1.20 MiB, mean 2.10 KiB". */
void xc_render_range(struct xc_text *text, const struct xc_histogram *histogram, const struct xc_bucket *bucket);
void xc_render_summary(struct xc_text *text, const struct xc_histogram *histogram);

/* The largest count of the first `rows` buckets, at least 1. And: are there empty buckets before this one? */
uint64_t xc_render_highest(const struct xc_histogram *histogram, size_t rows);
bool xc_render_follows_gap(const struct xc_histogram *histogram, size_t index);

/* Terminal columns of well-formed UTF-8: a character is one column. */
size_t xc_render_columns(const char *string, size_t len);

/* Bytes of string that fill at most `columns` columns. */
size_t xc_render_fit(const char *string, size_t len, size_t columns);

/* "2026-11-20 03:12:44 UTC" */
void xc_render_time(struct xc_text *text, int64_t seconds);

#endif
