/* layout_json: a type as a JSON object (xcore.ptype/1).
 *
 *	{"name", "kind", "size", …}     without typedefs and qualifiers; name null when anonymous, size when unknown
 *	"typedefs": [name, …]           when it was reached through typedefs: those, outermost first
 *	"target": {…}                   of pointers, references, arrays: their final target, if it has members or values
 *	"members": [{"name", "type", "offset", "size", "bit_offset", "bit_size", "hole_before", "hole_before_bits",
 *	             "base", "virtual", "artificial", "flexible", "alignment", "discriminant",
 *	             "variant": {"values", "default"}, "members": […]}, …]
 *	"static_members", "methods", "padding", "padding_bits", "holes", "hole_bytes", "bit_holes", "hole_bits",
 *	"member_bytes", "member_bits", "cut"
 *	"enumerators": [{"name", "value"}, …], "type", "flags"
 *
 * Offsets are bytes from the start of the outermost type; bit_offset counts from the low end of that byte. Both bit_…
 * are null unless the member is a bit-field. Keys whose value is false or empty, or does not apply, are left out,
 * except those of the first line and the first four of a member. */
#ifndef XC_LAYOUT_JSON_H
#define XC_LAYOUT_JSON_H

#include <jansson.h>

#include "dwarf/layout/layout_text.h"

/* A new object, owned by the caller. */
json_t *xc_layout_json(const struct xc_type *type, const struct xc_layout_shown *shown);

#endif
