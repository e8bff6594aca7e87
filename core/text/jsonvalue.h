/* jsonvalue: what a report is made of as jansson values, by the rules of core/report/report.schema.json.
 *
 * Every value is new and the caller's; NULL only when memory is out, which xc_jsonstream_start turns into a stop.
 * Strings and keys may be any bytes: well-formed UTF-8 stays, ASCII controls stay (jansson writes them as escapes), and
 * what jansson refuses or would pass raw to a terminal (malformed bytes, DEL, the C1 controls, what reorders text)
 * becomes the text \xNN per byte. */
#ifndef XC_JSONVALUE_H
#define XC_JSONVALUE_H

#include <jansson.h>

#include "core/base/arena.h"

json_t *xc_jsonvalue_text(const char *string);             /* NULL gives null */
json_t *xc_jsonvalue_bytes(const char *bytes, size_t len); /* NULs stay */
json_t *xc_jsonvalue_address(xc_addr addr);                /* "0x…" */
json_t *xc_jsonvalue_double(double value);                 /* NaN and infinities, which JSON lacks, as strings */
json_t *xc_jsonvalue_seconds(double value);                /* to the nanosecond */

/* What xc_jsonvalue_text makes of a string, as text of the arena's. */
const char *xc_jsonvalue_clean(const char *string, struct xc_arena *arena);

/* A number up to 2^53, which every reader keeps exactly; beyond that its decimal digits as a string. */
json_t *xc_jsonvalue_count(uint64_t value);
json_t *xc_jsonvalue_integer(int64_t value);

/* Set object[key], behind the members already there. Takes value; a key that is there already gets the new value. */
void xc_jsonvalue_set(json_t *object, const char *key, json_t *value);

#endif
