/* nodetype: types of the nodes that containers are made of.
 *
 * Debug information knows a node's links, and seldom the node: the type that has links and element is used in functions only, which
 * are inlined. Then one is made, with the name that the library gives it, links that say nothing and a member `value`. */
#ifndef XC_NODETYPE_H
#define XC_NODETYPE_H

#include "heap/types/typing_evidence.h"

/* What a container's node is like. */
struct xc_nodetype {
	const char *head;              /* "std::_Rb_tree_node" */
	const char *tail;              /* what follows the element in the template's arguments: ", true"; or "" */
	const struct xc_type *element; /* the argument */
	const struct xc_type *value;   /* what is held: the element, or what it wraps */
	uint64_t offset;               /* of the value */
	uint64_t behind;               /* bytes of what follows it (a hash) */
};

/* The type, from debug information when that has one of this name and size. NULL when the element has no size. */
const struct xc_type *xc_nodetype(struct xc_typing *typing, const struct xc_nodetype *node);

/* Of a type that was made here: what is held, and where. NULL of others. */
const struct xc_type *xc_nodetype_value(const struct xc_type *type, uint64_t *offset_out);

#endif
