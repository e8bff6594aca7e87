/* gochannel: names of a channel of Go's, and who else has it than those that wait at it. */
#ifndef XC_GOCHANNEL_H
#define XC_GOCHANNEL_H

#include "triage/goroutine/gowait.h"

/* The name by which a variable of the goroutine's blamed function, or of a caller, or a member of what it leads to, is
 * the channel: "s.results", in the report's arena. NULL: none is. */
const char *xc_gochannel_name(const struct xc_crash_context *crash, const struct xc_gowait *wait, xc_addr channel);

/* Append "; it is known to goroutine 1 (`out`), which waits for a sync.WaitGroup": the goroutines among the first 64
 * that do not wait at the channel, but whose stacks have it, or an object of at most 4 KiB that has it. Nothing when
 * there are none. Looks at 8 MiB at most. */
void xc_gochannel_describe(const struct xc_crash_context *crash, const struct xc_goruntime *go,
			   const struct xc_gowait *items, size_t count, xc_addr channel, struct xc_text *text);

/* Does one of the goroutines `among` the items, that does not wait for it, have the channel, lock or WaitGroup, by its
 * stack as above? */
bool xc_gochannel_is_known(const struct xc_crash_context *crash, const struct xc_goruntime *go,
			   const struct xc_gowait *items, size_t count, const bool *among, xc_addr object);

/* Does an item wait for a place of a semaphore, a channel without content that is full and that its own function
 * receives from, too, while no other goroutine is in the functions that lead there, or has the channel? Then the places
 * were perhaps not given back, as by an early return: report it as evidence. Returns such an item, and how many wait at
 * that channel; NULL: there is none. The items must be all goroutines of the program, 256 at most. Looks at four
 * channels. */
const struct xc_gowait *xc_gochannel_report_used_up(const struct xc_crash_context *crash, const struct xc_goruntime *go,
						    const struct xc_gowait *items, size_t count, size_t *waiting_out);

#endif
