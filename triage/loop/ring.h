/* ring: a list whose links lead back to one of its own nodes. */
#ifndef XC_RING_H
#define XC_RING_H

#include "dwarf/value/value.h"

/* The member by which the nodes of a list are linked. */
struct xc_ring_link {
	const struct xc_type *record; /* the type that the link points to */
	const char *outer, *name; /* "list", "next" of a member `list` with a link to its own type; outer may be NULL */
	uint64_t inside;          /* where in its object the linked record is: 0 without outer */
	uint64_t offset;          /* of the link in the linked record */
};

/* The links of a type: members that point to it, and those of members that point to their own type. At most `most`. */
size_t xc_ring_links(const struct xc_type *record, struct xc_ring_link *out, size_t most);

struct xc_ring {
	const struct xc_process *process;
	struct xc_ring_link link;
	xc_addr start; /* linked records: where the walk began */
	xc_addr node;  /* the first of the ring */
	uint64_t before, length;
};

/* Walk from a linked record. False when the walk ends, at 0 or at what cannot be read, or takes too many steps. */
bool xc_ring_find(const struct xc_process *process, const struct xc_ring_link *link, xc_addr start,
		  struct xc_ring *out);

/* Two nodes of a ring, one behind the other by the link, of which the second's link back says something else: it was
 * put in again while it still was in the list, or the first is not the end that it should be. */
struct xc_ring_seam {
	xc_addr before, node; /* linked records */
	const char *back;     /* the member that should lead from `node` to `before` */
	uint64_t leads_to;
};

/* False when the nodes have no member that is called as the link but for its direction, one is missing, the ring is
 * longer than `most`, all agree, or more than one does not: then the member means something else. */
bool xc_ring_find_seam(const struct xc_ring *ring, uint64_t most, struct xc_ring_seam *out);

/* The place of an address, of a node or of the object that contains one, in the walk. */
enum xc_ring_place {
	XC_RING_NOT_IN,
	XC_RING_BEFORE, /* on the way from the start, not in the ring */
	XC_RING_IN,
};
enum xc_ring_place xc_ring_place(const struct xc_ring *ring, uint64_t addr);

#endif
