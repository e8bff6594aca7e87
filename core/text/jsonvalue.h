/* jsonvalue: the parts of a report as jansson values, by the rules of core/report/report.schema.json.
 *
 * Every value is new and owned by the caller. It is NULL only when memory runs out, and xc_jsonstream_start makes that
 * end the program. Strings and keys may be any bytes: well-formed UTF-8 and ASCII control characters are kept (jansson
 * escapes the latter). Bytes that jansson refuses or would pass raw to a terminal (malformed bytes, DEL, the C1
 * controls, characters that reorder text) become the text \xNN each. */
#ifndef XC_JSONVALUE_H
#define XC_JSONVALUE_H

#include <jansson.h>

#include "core/base/arena.h"

json_t *xc_jsonvalue_text(const char *string);             /* NULL gives null */
json_t *xc_jsonvalue_bytes(const char *bytes, size_t len); /* NULs are kept */
json_t *xc_jsonvalue_address(xc_addr addr);                /* "0x…" */
json_t *xc_jsonvalue_double(double value);                 /* NaN and infinities, which JSON lacks, as strings */
json_t *xc_jsonvalue_seconds(double value);                /* to the nanosecond */

/* The string as xc_jsonvalue_text writes it, in the arena. */
const char *xc_jsonvalue_clean(const char *string, struct xc_arena *arena);

/* A number up to 2^53, which every reader represents exactly. Larger ones are strings of decimal digits. */
json_t *xc_jsonvalue_count(uint64_t value);
json_t *xc_jsonvalue_integer(int64_t value);

/* Set object[key], after the existing members. Takes value, which replaces that of an existing key. */
void xc_jsonvalue_set(json_t *object, const char *key, json_t *value);

#endif
