/* hang_suspect: of threads that all wait, the one to look at first. */
#ifndef XC_HANG_SUSPECT_H
#define XC_HANG_SUSPECT_H

#include "triage/crash/crash_context.h"
#include "triage/waits/waits.h"
#include "triage/loop/predicate.h"

enum { XC_HANG_SUSPECTS = 8 };

/* Groups of threads that wait alike, by their first ones, and what they wait for. */
struct xc_hang_suspects {
	struct xc_hang_suspect {
		const struct xc_wait *wait;
		size_t threads;
		struct xc_predicate predicate;
	} items[XC_HANG_SUSPECTS];
	size_t count;
	bool lost; /* what the one to blame waits for is there */
};

/* Do two threads wait for the same, in the same function? */
bool xc_hang_suspect_same(const struct xc_wait *a, const struct xc_wait *b);

/* Is it the first thread, but `except`, that waits so? */
bool xc_hang_suspect_is_first(const struct xc_waits *waits, size_t index, const struct xc_thread *except);

/* The wait to blame: for a lock, that of its last holder; else one whose condition holds already; else one that others
 * do not share, since workers without work wait alike; one for the end of a thread only if there is nothing else. NULL
 * when no place is known. `except`: a thread that does not count; NULL: none. */
const struct xc_wait *xc_hang_suspect_find(const struct xc_crash_context *crash, const struct xc_thread *except,
					   struct xc_hang_suspects *out);

/* Report as evidence what they wait for, and whether that is there. */
void xc_hang_suspect_report(const struct xc_crash_context *crash, const struct xc_hang_suspects *suspects);

#endif
