/* sort_order: std::sort() ran out of its range, because the comparison that it was given orders nothing. */
#ifndef XC_SORT_ORDER_H
#define XC_SORT_ORDER_H

#include "triage/crash/crash_context.h"

/* A bad access in the comparison of std::sort() or a related function, or in its own code, while it looks for an end
 * that only the comparison shows: adds to the cause, as likely where an iterator is outside of the range, else as
 * perhaps, that the comparison is no strict weak ordering. libstdc++ and libc++. */
void xc_sort_order_report(struct xc_crash_context *crash);

#endif
