/* value_json: a typed value as JSON, for programs (design.md section 3).
 *
 *	integers      numbers up to 32 bits, decimal strings above; char too: 65
 *	bool, floats  true, 1.5; NaN and infinities, and long double beyond double, as strings
 *	enums         {"name": "RED", "value": 0}; name null when the value has none; flags "A | B"
 *	pointers      "0x55d0c0ffee"; to characters {"addr", "text"}, to functions {"addr", "symbol"};
 *	              text and symbol may be null
 *	arrays        arrays; of characters a string: up to its NUL when only NULs follow or it is a text in UTF-8
 *	structs       objects by member; base classes under their type name; members of anonymous members as own ones
 *	references    their target
 *	functions     {"addr", "symbol"}
 *	containers    (view.h) texts as strings, sequences as arrays, maps as arrays of {"key", "value"}
 *	Rust          enums as {"Variant": fields}, tuples as arrays
 *
 * A value that cannot be read is null, and `unknown` has the reason under its path. A value beyond the limits is null,
 * or missing at the end of an array, and `truncated` is set. */
#ifndef XC_VALUE_JSON_H
#define XC_VALUE_JSON_H

#include <jansson.h>

#include "dwarf/value/value.h"

struct xc_json_options {
	unsigned depth;    /* of nested structs */
	unsigned elements; /* elements of an array, characters of a string */
	bool raw;          /* show members of containers, not their content */
	bool redact;       /* every value is XC_REDACTED; the shape is kept */
	/* The object that a pointer points to, from a higher layer (format.h); NULL: left out. */
	json_t *(*describe)(const void *context, xc_addr addr);
	const void *describe_context;
};

struct xc_json_result {
	json_t *value;   /* the caller's; never NULL */
	json_t *unknown; /* object: path → reason; the caller's; NULL when everything is known */
	json_t *hits;    /* object: path of a pointer → result of `describe`; the caller's; may be NULL */
	bool truncated;
};

enum {
	XC_JSON_VALUES = 1 << 20,
	XC_JSON_UNKNOWN = 100,
	XC_JSON_HITS = 1 << 16
}; /* limits of one result: values, reasons, described pointers */

void xc_value_json(const struct xc_value *value, const struct xc_json_options *options, struct xc_json_result *out);

#endif
