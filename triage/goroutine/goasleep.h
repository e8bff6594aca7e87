/* goasleep: all waiting goroutines of a program, when none is left that runs. */
#ifndef XC_GOASLEEP_H
#define XC_GOASLEEP_H

#include "dwarf/unwind/goruntime.h"
#include "triage/crash/crash_context.h"

/* Report waiting goroutines, without those of the runtime: wait reason and function of the first five groups, the
 * number of the others, and any missing data. Goroutines that wait alike are one group. First come those that could
 * have woken others: that wait for a mutex, a sync.WaitGroup, a sync.Cond, or to send; those that only receive come
 * last. The first one becomes that of the crash: its frames, and its function is blamed. Nobody is blamed when there is
 * none, or its stack is not known. Reads the stacks of 2,000 goroutines, and the state of a million: 100,000 take 20
 * ms. */
void xc_goasleep_report(struct xc_crash_context *crash, const struct xc_goruntime *go);

#endif
