/* print: expressions and their values, as items of a report. */
#ifndef XC_PRINT_H
#define XC_PRINT_H

#include "core/report/report.h"
#include "dwarf/format/format.h"
#include "dwarf/stack/frame_scope.h"

struct xc_value;

struct xc_print_options {
	struct xc_format_options format;
	const char *letters; /* of each expression: format.letter, or s for text; NULL: no letters */
	unsigned width;      /* text: longer values are wrapped (wrap.h); 0: never */
	bool with_type;      /* text: the type and the address before the value */
	bool redact;
};

/* Add the values of expressions in a scope: one `value` document each ({"expr", "type", "addr", "value"}). The text is
 * the value alone, or `expr = value` when there are several. A single expression that fails is an error (see cexpr.h).
 * Of several, those that fail show their reason; only when all fail is the first error returned. */
XC_MUST_CHECK struct xc_error *xc_print(struct xc_section *section, const struct xc_frame_scope *scope,
					const char *const *expressions, size_t count,
					const struct xc_print_options *options);

/* One value: its text is appended in one line; *json_out is its document without "expr", owned by the caller. */
void xc_print_value(struct xc_text *text, const struct xc_value *value, const struct xc_print_options *options,
		    struct json_t **json_out);

/* Only its text: as by xc_format_value, with the type before pointers and references. */
void xc_print_line(struct xc_text *text, const struct xc_value *value, const struct xc_format_options *options);

/* The letter and the text after it, for a text that begins with `/x`; otherwise 0 and the text itself. Errors:
 * XC_ERR_USAGE for an unknown letter. */
XC_MUST_CHECK struct xc_error *xc_print_letter(const char *text, char *letter_out, const char **rest_out);

#endif
