/* linked_loop: a thread that runs in a loop which will never end, since the list that it goes along leads back to
 * itself. */
#ifndef XC_LINKED_LOOP_H
#define XC_LINKED_LOOP_H

#include "triage/crash/crash_context.h"

/* Does a thread that runs go round a list that leads back to itself? The loop must expect the list's end: it compares a
 * node with NULL, or with an address that the walk does not reach; and no comparison that could end it may be unknown,
 * be with a node, or be of a counter. Sets the class hang (kind "cyclic list", likely). `view` is the crash as it would
 * be if this thread had taken the signal.
 *
 * False, with nothing changed, when there is none. Looks at all frames of the view. */
bool xc_linked_loop_classify(struct xc_crash_context *crash, const struct xc_crash_context *view);

#endif
