/* print: expressions and what they are, as items of a report. */
#ifndef XC_PRINT_H
#define XC_PRINT_H

#include "core/report/report.h"
#include "dwarf/format/format.h"
#include "dwarf/stack/frame_scope.h"

struct xc_value;

struct xc_print_options {
	struct xc_format_options format;
	const char *letters; /* of each expression: format.letter, or s for text; NULL: none has one */
	unsigned width;      /* text: longer values are written in several lines (wrap.h); 0: never */
	bool with_type;      /* text: the type and the address before the value */
	bool redact;
};

/* Add the values of expressions at a scope: one `value` document each ({"expr", "type", "addr", "value"}), in text the value
 * alone, or `expr = value` when there are several. A single expression that fails is an error (see cexpr.h); of several those
 * that fail say why, and only when all fail the first error is returned. */
XC_MUST_CHECK struct xc_error *xc_print(struct xc_section *section, const struct xc_frame_scope *scope,
					const char *const *expressions, size_t count,
					const struct xc_print_options *options);

/* One value: its text is appended in one line, and *json_out, the caller's, is its document without "expr". */
void xc_print_value(struct xc_text *text, const struct xc_value *value, const struct xc_print_options *options,
		    struct json_t **json_out);

/* Its text alone: as xc_format_value, with the type before pointers and references. */
void xc_print_line(struct xc_text *text, const struct xc_value *value, const struct xc_format_options *options);

/* The letter and what stands behind it when text begins as `/x`; 0 and text itself otherwise. Errors: XC_ERR_USAGE for a letter
 * that is none. */
XC_MUST_CHECK struct xc_error *xc_print_letter(const char *text, char *letter_out, const char **rest_out);

#endif
