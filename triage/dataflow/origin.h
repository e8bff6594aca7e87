/* origin: where a value came from, in words: "returned by find_request() at main.c:88", "passed by main() at main.c:40 as `req`". */
#ifndef XC_ORIGIN_H
#define XC_ORIGIN_H

#include "triage/dataflow/symbolic_value.h"

/* Append where the term's value came from, and what is known of it (NULL: nothing) rules out. False when nothing is known; then nothing
 * is appended. *sure_out: there is no other way. Follows the value into callers while it is only passed on. */
bool xc_origin_describe(const struct xc_frame_code *frame_code, const struct xc_symbolic_value *term,
			const uint64_t *value, struct xc_text *text, bool *sure_out);

/* The register that the term's value came in by when its function was called, unchanged since, or (moved) moved on by a loop; -1: it did not, or
 * not for sure. */
int xc_origin_argument(const struct xc_frame_code *frame_code, const struct xc_symbolic_value *term, bool moved);

/* The call of the scene's function that returned the term's value, unchanged since; XC_BODY_NONE: it did not come from one, or not for sure. */
long xc_origin_result(const struct xc_frame_code *frame_code, const struct xc_symbolic_value *term);

/* The scene of the caller at its call, and the form that it gave in register `reg`. False when the caller did not call this function
 * directly, as far as can be seen, or is not known for sure. */
bool xc_origin_caller(const struct xc_frame_code *frame_code, int reg, struct xc_frame_code *caller_out,
		      struct xc_linear_expr *form_out);

/* What a form of the scene is worth: from memory as it is now, or as callers passed it. False when that is not known. */
bool xc_origin_value(const struct xc_frame_code *frame_code, const struct xc_linear_expr *form, uint64_t *value);

/* The scene's function; NULL when it has no name. */
const char *xc_origin_function(const struct xc_frame_code *frame_code);

/* Append `before` and where an instruction of the scene is in the source, "main.c:88"; nothing, and false, when that is not known. */
bool xc_origin_line(const struct xc_frame_code *frame_code, size_t at, const char *before, struct xc_text *text);

#endif
