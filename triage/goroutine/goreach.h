/* goreach: which goroutines wait for what nobody can give them: no goroutine that goes on leads to it, nor one that
 * waits for something that these lead to, and so on. As a garbage collector finds what is not used any more,
 * but that a pointer into an object leads to what lies behind it only (goreach.c). */
#ifndef XC_GOREACH_H
#define XC_GOREACH_H

#include "triage/goroutine/gowait.h"

/* Set stuck[i] of each goroutine of the program that waits so. The items are all goroutines of the program, but for
 * those that have ended. What looks like a pointer is taken for one, so that one may be missed, but seldom the other
 * way round: of an unknown object it is assumed that others lead to it.
 *
 * False, with nothing set, when that is not known: memory is missing, the layout of the runtime is not known, or there
 * are more than 32 MiB to look at (some 50 ms). */
bool xc_goreach_stuck(const struct xc_crash_context *crash, const struct xc_goruntime *go,
		      const struct xc_gosemas *semas, const struct xc_gowait *items, size_t count, bool *stuck);

#endif
