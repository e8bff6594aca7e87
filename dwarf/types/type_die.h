/* type_die: the DIEs of types, for readers of debug information that xc_type does not hold. */
#ifndef XC_TYPE_DIE_H
#define XC_TYPE_DIE_H

#include "dwarf/types/type.h"

/* The DIE of a type; false when it has none (types made by hand, C's own types). */
bool xc_type_die_of(const struct xc_type *type, Dwarf_Die *die_out);

/* The member that a DW_TAG_member or DW_TAG_inheritance describes. `owner`: the struct, class or union that holds it.
 */
struct xc_member xc_type_read_member(const struct xc_type *owner, Dwarf_Die *die);

/* Where caches of the type are allocated: the arena of the process. */
struct xc_arena *xc_type_arena(const struct xc_type *type);

/* Cache slot for the variant part of a type with has_variants (dwarf/value/variant.c); NULL until it is read. */
const struct xc_variant_part **xc_type_variants(const struct xc_type *type);

#endif
