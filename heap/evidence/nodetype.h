/* nodetype: the types of containers' nodes.
 *
 * Debug information has a node's links, but seldom the node: only inlined functions use the type with links and
 * element. In that case a type is made, with the library's name, links without a type, and a member `value`. */
#ifndef XC_NODETYPE_H
#define XC_NODETYPE_H

#include "dwarf/view/view.h"
#include "heap/types/typing_evidence.h"

/* The type of a container's node, from debug information if that has one of this name and size. NULL if the element has
 * no size. */
const struct xc_type *xc_nodetype(struct xc_typing *typing, const struct xc_view_shape *shape);

/* For a type that was made here: the type and offset of its content. NULL for others. */
const struct xc_type *xc_nodetype_value(const struct xc_type *type, uint64_t *offset_out);

#endif
