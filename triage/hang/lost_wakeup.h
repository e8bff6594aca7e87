/* lost_wakeup: threads that wait for different things by one condition, where a signal that wakes one of them may reach
 * the wrong one. */
#ifndef XC_LOST_WAKEUP_H
#define XC_LOST_WAKEUP_H

#include "triage/crash/crash_context.h"
#include "triage/waits/wait.h"

/* The address by which waits for a condition are the same: glibc's threads sleep on either of two words of it, which
 * share their first bytes. Other waits: that of their word. */
xc_addr xc_lost_wakeup_key(const struct xc_wait *wait);

/* Evidence, as a guess: every thread of a hung process but `except`, which may be NULL, waits for the same condition,
 * or for the end of a thread; and they do so in several functions. */
void xc_lost_wakeup_report(struct xc_crash_context *crash, const struct xc_thread *except);

#endif
