/* typing_arm: which of a union's pointers is meant: typing_arm.c, for typing_rule.c. */
#ifndef XC_TYPING_ARM_H
#define XC_TYPING_ARM_H

#include "heap/types/typing_engine.h"

enum { XC_ARMS = 12 };

/* A pointer among the members of a union, and the number of blocks that speak for and against it. */
struct xc_arm {
	struct xc_typemap_slot *slot;
	uint32_t yes, no;
	uint32_t sure; /* of those for it: hardly by chance */
};

/* All pointers at one place; those with the same value of the tag, if there is one. */
struct xc_arms {
	struct xc_arm items[XC_ARMS];
	unsigned count;
	uint32_t blocks; /* counted */
	bool tagged;
	bool open; /* more is possible: a `void *`, or too many pointers */
	bool kept; /* the counts are in use: more is added to them */
};

/* Is a pointer excluded by the contents of blocks? Leftover allocator data counts against every
 * pointer type. */
static inline bool xc_arm_is_out(const struct xc_arms *arms, const struct xc_arm *arm)
{
	return arm->no * 5 > arms->blocks;
}

/* Finds the pointers at an ambiguous slot's place that may be there with that value of its tag, and makes the slots of
 * their targets. Not while other threads read. */
void xc_typing_arms_find(struct xc_engine *engine, const struct xc_typemap_slot *slot, uint64_t tag,
			 struct xc_arms *arms);

/* Counts what the contents of a block say; forgets all that was counted. */
void xc_typing_arms_count(const struct xc_engine *engine, struct xc_window *window, struct xc_arms *arms,
			  uint32_t block);
void xc_typing_arms_forget(struct xc_arms *arms);

/* The pointer that is meant; NULL: not known. */
const struct xc_arm *xc_typing_arms_choose(const struct xc_arms *arms, enum xc_confidence *confidence_out);

/* The item that it proposes for a block of `size` bytes; 0: none. */
uint32_t xc_typing_arm_item(const struct xc_engine *engine, const struct xc_arm *arm, uint64_t size, bool weak);

/* May a block of the group have the group's item? Not as a text, if it contains none. */
bool xc_typing_arm_holds(const struct xc_engine *engine, struct xc_window *window, uint32_t item, uint32_t block);

/* The weak item for a block by its own contents, if the group is undecided; 0: none. */
uint32_t xc_typing_arms_of_block(const struct xc_engine *engine, struct xc_window *window, const struct xc_arms *group,
				 uint32_t block);

#endif
