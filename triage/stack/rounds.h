/* rounds: what goes from round to round of a recursion: the arguments of one of its functions, in the first rounds and in the last. */
#ifndef XC_ROUNDS_H
#define XC_ROUNDS_H

#include "triage/stack/stackuse.h"

/* Add to the evidence what the arguments of the function do whose frames in the cycle have the numbers first, first + period, …: stay as
 * they are, grow or shrink by the same each round, follow a pointer of what they point to, come back to the same objects. Says nothing
 * of those whose values are lost. */
void xc_rounds_tell(const struct xc_inquiry *q, const struct xc_stackuse *use, uint64_t first);

#endif
