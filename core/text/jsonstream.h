/* jsonstream: writes one large JSON text from small jansson values. Each is freed once it is written, so memory does
 * not grow with the report. jansson writes values and keys; this file writes only the brackets of objects and arrays
 * that grow with the target, and the separators of their parts.
 *
 * CI systems execute "##[error]" when they print it, so the second of two '#' is written as \u0023.
 *
 * The report is not one json_t: a report of 2,000 threads has a million values, and a tree of them would take more
 * memory than everything else that xcore holds of such a core. */
#ifndef XC_JSONSTREAM_H
#define XC_JSONSTREAM_H

#include <jansson.h>
#include <stdio.h>

#include "core/base/error.h"

/* A value as JSON on one line, malloc'ed; frees the value. */
char *xc_jsonstream_text(json_t *value);

struct xc_jsonstream {
	FILE *out;
	unsigned depth; /* open objects and arrays */
	bool comma;     /* the innermost one has a part already */
	int failure;    /* errno of the first value that could not be written; then nothing more is */
};

/* Start writing to out, which is borrowed. From now on jansson ends the program when memory runs out, as xc_alloc does:
 * a lost value would be a wrong answer. */
struct xc_jsonstream xc_jsonstream_start(FILE *out);

/* End with a newline. All brackets must be closed. Errors: XC_ERR_IO, for any write since the start. */
XC_MUST_CHECK struct xc_error *xc_jsonstream_finish(struct xc_jsonstream *stream);

/* Open '{' or '[', as the member `key` of an object (cleaned as in jsonvalue) or, with NULL, as an element of an
 * array. */
void xc_jsonstream_open(struct xc_jsonstream *stream, const char *key, char bracket);
void xc_jsonstream_close(struct xc_jsonstream *stream, char bracket); /* '}' or ']' */

/* These write the value and free it. */
void xc_jsonstream_element(struct xc_jsonstream *stream, json_t *value);                 /* into the open array */
void xc_jsonstream_member(struct xc_jsonstream *stream, const char *key, json_t *value); /* into the open object */
void xc_jsonstream_members(struct xc_jsonstream *stream, json_t *object); /* all of object's, into the open object */

/* Start a line, so that diff compares by the next part of the open object or array. */
void xc_jsonstream_line(struct xc_jsonstream *stream);

#endif
