/* origin: the source of a value, in words: "returned by find_request() at main.c:88", "passed by main() at main.c:40
 * as `req`". */
#ifndef XC_ORIGIN_H
#define XC_ORIGIN_H

#include "triage/dataflow/symbolic_value.h"

/* Append the origin of a symbolic value. `value`, its known content (may be NULL), excludes some. False, with
 * nothing appended, when the origin is not known. *sure_out: it is the only possible one. Follows the value into
 * callers while it is only passed on. */
bool xc_origin_describe(const struct xc_frame_code *frame_code, const struct xc_symbolic_value *term,
			const uint64_t *value, struct xc_text *text, bool *sure_out);

/* The register in which the value entered the function, unchanged since, or (moved) advanced by a loop. -1: it did
 * not, or not for certain. */
int xc_origin_argument(const struct xc_frame_code *frame_code, const struct xc_symbolic_value *term, bool moved);

/* The call of the function that returned the value, unchanged since. XC_BODY_NONE: none, or not for certain. */
long xc_origin_result(const struct xc_frame_code *frame_code, const struct xc_symbolic_value *term);

/* The value of an expression, from memory as it is now, or as callers passed it. False when it is not known. */
bool xc_origin_value(const struct xc_frame_code *frame_code, const struct xc_linear_expr *form, uint64_t *value);

/* Was the value not set by this definition, whose value is `form` in the code `whose`? The variable of the program, or
 * what the caller passed, has another value, and nothing has changed it since: there is one thread, and on the way to
 * what runs now it called nothing and wrote nothing but its own frame. Only for the innermost frame. */
bool xc_origin_disproved(const struct xc_frame_code *frame_code, const struct xc_slice_definition *definition,
			 const struct xc_frame_code *whose, const struct xc_linear_expr *form, uint64_t value);

/* The name of the function; NULL when it has none. */
const char *xc_origin_function(const struct xc_frame_code *frame_code);

/* Append `before` and the source line of an instruction, "main.c:88". False, with nothing appended, when it is not
 * known. */
bool xc_origin_line(const struct xc_frame_code *frame_code, size_t at, const char *before, struct xc_text *text);

#endif
