/* sighting: damage in a running process, seen again or not. What a walk finds out of order while the process works may be a change
 * that was under way; what every one of several looks finds in the same way at the same place stays, and is damage. */
#ifndef XC_SIGHTING_H
#define XC_SIGHTING_H

#include "heap/blocks/heap.h"

struct xc_sighting {
	xc_addr addr;
	enum xc_damage_kind kind;
	uint64_t what; /* hash of what is wrong: it names values, and those of damage stay as they are */
};

struct xc_sightings {
	struct xc_sighting *items; /* what all looks so far have found */
	size_t count;
	size_t passing; /* places that some look has found, and another has not */
	unsigned looks;
};

/* Note what a look has found; behind xc_audit_lists. From the second look on, what was not seen before is dropped from the heap's
 * damages, and what is not seen again from the sightings. heap->audited tells of the looks. */
void xc_sightings_add(struct xc_sightings *sightings, struct xc_heap *heap);
void xc_sightings_fini(struct xc_sightings *sightings);

#endif
