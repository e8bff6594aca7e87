/* json: writes JSON (RFC 8259) as a stream, value after value, without building it in memory first.
 *
 * Why not jansson for writing: a report of 2,000 threads has half a million values; a tree of them costs 0.3 s and
 * 200 MiB, a stream 30 ms and one buffer. And jansson refuses strings that are not UTF-8 and passes the C1 controls
 * through. jansson reads JSON (tests, triage).
 * Strings may be any bytes: ASCII controls become \u00NN; what is not UTF-8, the C1 controls and what reorders text become
 * the text \xNN per byte, so that the output is safe on a terminal too. */
#ifndef XC_JSON_H
#define XC_JSON_H

#include <stdio.h>

#include "error.h"
#include "text.h"

enum { XC_JSON_DEPTH = 64 };

struct xc_json {
	FILE *out;           /* NULL: everything stays in text */
	struct xc_text text; /* what was not written to out yet */
	unsigned depth;      /* open objects and arrays; at most XC_JSON_DEPTH */
	bool comma, named;   /* a value stands before in this container; a key was just written */
};

/* Start writing to out (NULL to collect in json.text). */
struct xc_json xc_json_start(FILE *out);

/* Write what is left and a final newline. Errors: XC_ERR_IO. The writer is finished in any case. */
XC_MUST_CHECK struct xc_error *xc_json_finish(struct xc_json *json);

void xc_json_open(struct xc_json *json, char bracket);       /* '{' or '[' */
void xc_json_close(struct xc_json *json, char bracket);      /* '}' or ']' */
void xc_json_key(struct xc_json *json, const char *key);     /* a literal of ours: written as it is */
void xc_json_any_key(struct xc_json *json, const char *key); /* escaped: keys that a plugin chose */
void xc_json_newline(struct xc_json *json); /* between values, so that long arrays have a line per element */

void xc_json_string(struct xc_json *json, const char *string); /* NULL writes null */
void xc_json_null(struct xc_json *json);
void xc_json_bool(struct xc_json *json, bool value);
void xc_json_integer(struct xc_json *json, int64_t value);
void xc_json_address(struct xc_json *json, xc_addr addr); /* "0x…" */
void xc_json_double(struct xc_json *json, double value);  /* NaN and infinities as strings */

/* A number up to 2^53, which every reader keeps exactly; above that its decimal digits as a string. */
void xc_json_count(struct xc_json *json, uint64_t value);

/* Key and value in one call, for objects. */
void xc_json_put_string(struct xc_json *json, const char *key, const char *string);
void xc_json_put_bool(struct xc_json *json, const char *key, bool value);
void xc_json_put_count(struct xc_json *json, const char *key, uint64_t value);
void xc_json_put_integer(struct xc_json *json, const char *key, int64_t value);
void xc_json_put_address(struct xc_json *json, const char *key, xc_addr addr);

#endif
