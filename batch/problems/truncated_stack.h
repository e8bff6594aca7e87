/* truncated_stack: stacks that were cut short after a frame or two (signature.h: weak, not whole), and the one problem that each can be of.
 *
 * A core that was cut loses its stack first; what is left is where the registers were. When of all problems of the program, of the same class group,
 * exactly one begins with the frames that are left, it is taken for that one: of those seen in the same build when there are any, else
 * of all. Where there are two, or none, the truncated stack stays alone. It is a guess, and told as one; it gives a problem neither its id nor its face. Of a
 * lost stack the text of a failed assertion serves, which stands in one place; nothing else does. */
#ifndef XC_TRUNCATED_STACK_H
#define XC_TRUNCATED_STACK_H

#include "batch/problems/signature_merge.h"

/* For some groups as in signature_merge.h, whose clusters firsts has: where a truncated stack belongs to one, put its first there; guessed_out[i] says so.
 * Cost: a sort of the ways in which the groups begin, for each build (one or two of a group, of an overflow one for each frame of its round), and two
 * searches in these for each truncated stack and build. */
void xc_truncated_stack_assign(const struct xc_signature_group *groups, size_t count, size_t *firsts,
			       bool *guessed_out);

#endif
