/* loop: the loops of a function around one of its instructions. */
#ifndef XC_LOOP_H
#define XC_LOOP_H

#include "triage/code/body.h"

/* A loop as a range of instructions: from the target of a jump back to that jump. */
struct xc_loop {
	size_t first, last;
};

/* The smallest loop around an instruction that is larger than `inner`; NULL: the innermost. False when there is
 * none. */
bool xc_loop_around(const struct xc_body *body, size_t at, const struct xc_loop *inner, struct xc_loop *out);

bool xc_loop_has(const struct xc_loop *loop, size_t insn);

/* Does the comparison decide whether the loop ends? A loop that is left by a
 * jump or return in its middle may end by any comparison. */
bool xc_loop_ends_by(const struct xc_body *body, const struct xc_loop *loop, size_t comparison);

/* The condition of a branch, as in its code: 2 below, 4 equal, 6 below or equal, 12 less, 14 less or equal, each plus 1
 * for its opposite; 0: not known, as on other machines than x86, or one of overflow. */
unsigned xc_loop_condition(const struct xc_body *body, size_t branch);

/* Of a comparison for equality that does: when is the loop left, where its sides are equal, or where they are not? Not
 * known of other comparisons, of loops that are left in their middle, and of other machines than x86. */
enum xc_loop_end { XC_LOOP_END_UNKNOWN, XC_LOOP_END_EQUAL, XC_LOOP_END_UNEQUAL };
enum xc_loop_end xc_loop_ends_when(const struct xc_body *body, const struct xc_loop *loop, size_t comparison);

/* Is the register written in the loop? */
bool xc_loop_writes(const struct xc_body *body, const struct xc_loop *loop, int reg);

#endif
