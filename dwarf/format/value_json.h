/* value_json: a typed value as JSON, for programs (design.md section 3).
 *
 *	integers      numbers up to 32 bits, decimal strings above; char too: 65
 *	bool, floats  true, 1.5; NaN and infinities, and long double beyond double, as strings
 *	enums         {"name": "RED", "value": 0}; name null when the value has none; flags "A | B"
 *	pointers      "0x55d0c0ffee"; to characters {"addr", "text"}, to functions {"addr", "symbol"}; text and symbol may be null
 *	arrays        arrays; of characters a string: up to its NUL when only NULs follow or it is a text in UTF-8
 *	structs       objects by member; base classes under their type name, anonymous members' members as the struct's own
 *	references    what they refer to
 *	functions     {"addr", "symbol"}
 *	containers    (view.h) texts as strings, sequences as arrays, maps as arrays of {"key", "value"}
 *	Rust          enums as {"Variant": fields}, tuples as arrays
 * What cannot be had is null, and `unknown` says why, by its path. What the limits cut off is null or missing at an array's
 * end, and `truncated` says so. */
#ifndef XC_VALUE_JSON_H
#define XC_VALUE_JSON_H

#include <jansson.h>

#include "dwarf/value/value.h"

struct xc_json_options {
	unsigned depth;    /* of nested structs */
	unsigned elements; /* of each array, characters of each string */
	bool raw;          /* containers as the structs they are */
	bool redact;       /* every value is "(redacted)"; the shape stays */
	/* What a pointer hits, from a layer above (format.h); NULL: not told. */
	json_t *(*describe)(const void *context, xc_addr addr);
	const void *describe_context;
};

struct xc_json_result {
	json_t *value;   /* the caller's; never NULL */
	json_t *unknown; /* object: path → why; the caller's; NULL when all is known */
	json_t *hits; /* object: path of a pointer → what `describe` says; the caller's; NULL when it says nothing */
	bool truncated;
};

enum {
	XC_JSON_VALUES = 1 << 20,
	XC_JSON_UNKNOWN = 100,
	XC_JSON_HITS = 1 << 16
}; /* at most, of one result: values, reasons, pointers described */

void xc_value_json(const struct xc_value *value, const struct xc_json_options *options, struct xc_json_result *out);

#endif
