/* sighting: damage in a running process, seen again or not. What a walk finds out of order while the process works may be a change
 * that was under way; what every one of several looks finds in the same way at the same place stays, and is damage. */
#ifndef XC_DAMAGE_CONFIRM_H
#define XC_DAMAGE_CONFIRM_H

#include "heap/blocks/heap.h"

struct xc_damage_key {
	xc_addr addr;
	enum xc_damage_kind kind;
	uint64_t what; /* hash of what is wrong: it names values, and those of damage stay as they are */
};

struct xc_damage_confirm {
	struct xc_damage_key *items; /* what all looks so far have found */
	size_t count;
	size_t passing; /* places that some look has found, and another has not */
	unsigned looks;
};

/* Note what a look has found; behind xc_audit_lists. From the second look on, what was not seen before is dropped from the heap's
 * damages, and what is not seen again from the sightings. heap->audit_coverage tells of the looks. */
void xc_damage_confirm_add(struct xc_damage_confirm *sightings, struct xc_heap *heap);
void xc_damage_confirm_fini(struct xc_damage_confirm *sightings);

#endif
