/* truncated_stack: assigns stacks that were truncated after a frame or two (signature.h: weak, not complete) to the one
 * problem that fits.
 *
 * A truncated core loses its stack first; only the frames near the registers remain. If exactly one problem of the same
 * program and class group begins with these frames, the stack is assigned to it. Problems seen in the same build are
 * tried first, then all. If several fit, or none, the stack stays alone. The result is a guess and is reported as one;
 * it affects neither the id nor the representative of the problem. If the stack is lost, only the text of a failed
 * assertion can match, since an assertion has one place. */
#ifndef XC_TRUNCATED_STACK_H
#define XC_TRUNCATED_STACK_H

#include "batch/problems/signature_merge.h"

/* For groups as in signature_merge.h, whose clusters `firsts` gives: where a truncated stack belongs to a cluster,
 * replaces its first by that cluster's and sets guessed_out[i]. Cost: a sort of the groups' beginnings, per build (one
 * or two of a group; one per frame of an overflow's cycle), and two searches per truncated stack and build. */
void xc_truncated_stack_assign(const struct xc_signature_group *groups, size_t count, size_t *firsts,
			       bool *guessed_out);

#endif
