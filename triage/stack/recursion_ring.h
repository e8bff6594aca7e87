/* recursion_ring: the values that a recursion goes round: the nodes of a graph that has a cycle. */
#ifndef XC_RECURSION_RING_H
#define XC_RECURSION_RING_H

#include "triage/stack/stack_usage.h"

/* Evidence: the arguments and variables of the function whose frames in the cycle have the numbers first, first +
 * period, … that take the same few values over and over, with these values in the order of the calls: numbers, or what
 * tells an object that is pointed to from others: its name, its id. Looks at rounds in the middle of those that are
 * kept: the innermost ones may have left the ring. */
void xc_recursion_ring_report(const struct xc_crash_context *crash, const struct xc_stack_usage *use, uint64_t first);

#endif
