/* gotype: kinds of Go's types, by their debug information. */
#ifndef XC_GOTYPE_H
#define XC_GOTYPE_H

#include "dwarf/value/value.h"

/* The type without names for it; complete. */
const struct xc_type *xc_gotype_plain(const struct xc_type *type);

bool xc_gotype_is_map(const struct xc_type *type);
bool xc_gotype_is_channel(const struct xc_type *type);
bool xc_gotype_is_interface(const struct xc_type *type);

/* The struct that a value is, or leads to. False when it is none, or nil, a map, a channel or an interface. */
bool xc_gotype_object(const struct xc_value *value, struct xc_value *out);

#endif
