/* damage_confirm: confirms damage in a running process by repeated passes.
 *
 * An inconsistency that a walk finds while the process runs may be a change in progress. What each of several
 * passes finds in the same form at the same place is damage. */
#ifndef XC_DAMAGE_CONFIRM_H
#define XC_DAMAGE_CONFIRM_H

#include "heap/blocks/heap.h"

struct xc_damage_key {
	xc_addr addr;
	enum xc_damage_kind kind;
	uint64_t what; /* hash of the damage's text, which contains values; those of real damage do not change */
};

struct xc_damage_confirm {
	struct xc_damage_key *items; /* found by all passes so far */
	size_t count;
	size_t passing; /* places that some passes found and others did not */
	unsigned looks;
};

/* Adds the result of a pass; call it after xc_audit_lists. From the second pass on, damage that was not found
 * before is removed from the heap, and damage that is not found again from `items`. Sets the counts in
 * heap->audit_coverage. */
void xc_damage_confirm_add(struct xc_damage_confirm *sightings, struct xc_heap *heap);
void xc_damage_confirm_fini(struct xc_damage_confirm *sightings);

#endif
