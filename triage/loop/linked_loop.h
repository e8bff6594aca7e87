/* linked_loop: a thread that runs in a loop which will never end, since the list that it goes along leads back to
 * itself. */
#ifndef XC_LINKED_LOOP_H
#define XC_LINKED_LOOP_H

#include "triage/crash/crash_context.h"

/* For a process that another one killed, or that has no signal at all: does a thread that runs, in no system call, go
 * round a list that leads back to itself? The loop must expect the list's end: it compares a node with NULL, or with an
 * address that the walk does not reach; and no comparison that could end it may be unknown, be with a node, or be of a
 * counter. Sets the class hang (kind "cyclic list", likely). Else, does it run in a loop that nothing is left to end
 * (busy_loop.h)? The kind is then "busy wait". Else, of a killed one, report as evidence the loop in which it ran.
 *
 * False, with nothing changed or only evidence added, when there is none. Looks at 64 threads, and 8 frames of each. */
bool xc_linked_loop_classify(struct xc_crash_context *crash);

#endif
