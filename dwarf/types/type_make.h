/* type_make: types made by hand, which no DIE describes: declarations of a script, nodes of containers.
 *
 * Everything, also names and items, must be in the arena of the process (xc_types) or live as long. */
#ifndef XC_TYPE_MAKE_H
#define XC_TYPE_MAKE_H

#include "dwarf/types/type.h"

/* A new type; the caller fills in its fields. */
struct xc_type *xc_type_new(struct xc_types *types, enum xc_type_kind kind);

/* Set the items of a type: by its kind struct xc_member, struct xc_enumerator, or pointers to the types of
 * parameters. Borrowed. */
void xc_type_set_items(struct xc_type *type, void *items, size_t count);

/* Set is_flags of an enum from its items, and is_signed when it has no target. */
void xc_type_classify_enum(struct xc_type *type);

/* The alignment in bytes of a record, or of a typedef with an alignment attribute; 0: none of its own. `asked`: the
 * source asks for it, for the type or for a member. The getter returns 0 for types from DIEs; asked_out may be NULL. */
void xc_type_set_alignment(struct xc_type *type, uint32_t alignment, bool asked);
uint32_t xc_type_made_alignment(const struct xc_type *type, bool *asked_out);

/* Make the type a declaration without items: a record or enum whose tag alone is known. */
void xc_type_undefine(struct xc_type *type);

/* Complete a declaration: take over size, target, items and alignment of an unnamed definition of the same kind. */
void xc_type_define(struct xc_type *type, const struct xc_type *definition);

#endif
