/* remnant: stacks that were cut short after a frame or two (signature.h: weak, not whole), and the one problem that each can be of.
 *
 * A core that was cut loses its stack first; what is left is where the registers were. When of all problems of the program, of the same class group,
 * exactly one begins with the frames that are left, it is taken for that one: of those seen in the same build when there are any, else
 * of all. Where there are two, or none, the remnant stays alone. It is a guess, and told as one; it gives a problem neither its id nor its face. Of a
 * lost stack the text of a failed assertion serves, which stands in one place; nothing else does. */
#ifndef XC_REMNANT_H
#define XC_REMNANT_H

#include "batch/problems/alike.h"

/* For some groups as in alike.h, whose clusters firsts has: where a remnant belongs to one, put its first there; guessed_out[i] says so.
 * Cost: a sort of the ways in which the groups begin, for each build (one or two of a group, of an overflow one for each frame of its round), and two
 * searches in these for each remnant and build. */
void xc_remnants(const struct xc_alike_group *groups, size_t count, size_t *firsts, bool *guessed_out);

#endif
