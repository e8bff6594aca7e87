/* nodetype: the types of containers' nodes.
 *
 * Debug information has a node's links, but seldom the node: only inlined functions use the type with links and
 * element. In that case a type is made, with the library's name, links without a type, and a member `value`. */
#ifndef XC_NODETYPE_H
#define XC_NODETYPE_H

#include "heap/types/typing_evidence.h"

/* A description of a container's node. */
struct xc_nodetype {
	const char *head;              /* "std::_Rb_tree_node" */
	const char *tail;              /* the template's arguments after the element: ", true"; or "" */
	const struct xc_type *element; /* the argument */
	const struct xc_type *value;   /* the content: the element, or what it wraps */
	uint64_t offset;               /* of the value */
	uint64_t behind;               /* bytes after it (a hash) */
};

/* The type, from debug information if that has one of this name and size. NULL if the element has no size. */
const struct xc_type *xc_nodetype(struct xc_typing *typing, const struct xc_nodetype *node);

/* For a type that was made here: the type and offset of its content. NULL for others. */
const struct xc_type *xc_nodetype_value(const struct xc_type *type, uint64_t *offset_out);

#endif
