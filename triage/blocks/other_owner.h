/* other_owner: another pointer to the block that a pointer leads to, to something that the object is not. */
#ifndef XC_OTHER_OWNER_H
#define XC_OTHER_OWNER_H

#include "core/base/text.h"
#include "triage/dataflow/deref.h"

/* A pointer, and what it points to. */
struct xc_pointed {
	const struct xc_crash_context *crash;
	const struct xc_deref *deref;
	const struct xc_type *type; /* of the object; NULL: not known */
	uint32_t block;
	xc_addr begin; /* of the block */
	uint64_t size;
	bool moved; /* a container with such elements has them in another block */
};

/* Append the place of such a pointer. `text`: the block contains text, so that pointers to characters are others, too.
 * *cast_out: a `void *` leads to the object as well: its pointer may have been made from that, by a wrong cast; not
 * where the block has the object's size and its text an owner elsewhere, nor where another pointer of the object's type
 * leads there that was not made from this one. False: there is none. The types of the heap
 * must have been inferred. Searches memory. */
bool xc_other_owner_find(const struct xc_pointed *pointed, bool text, struct xc_text *owner, bool *cast_out);

/* Does another pointer of the object's own type lead to it, that was not made from this one? Then such an object was
 * there, and nothing was cast. Searches memory, and the variables of the frames beyond those that had the pointer. */
bool xc_other_owner_has_fellow(const struct xc_pointed *pointed);

#endif
