/* running_threads: the registers and stacks of threads that run on a CPU, which /proc does not tell: from a sample of
 * each. */
#ifndef XC_RUNNING_THREADS_H
#define XC_RUNNING_THREADS_H

#include "core/process/process.h"

/* Give each thread of a live process that runs the registers of one sample, and freeze the part of its stack that the
 * kernel copied with them (xc_live_hold), so that stack and variables are of one instant. Waits until each has used the
 * CPU for half a millisecond, or 200 ms have passed; at once when none runs. A thread that was not sampled tells why
 * (why_no_regs). Call it before a sandbox forbids perf_event_open. No-op for cores. */
void xc_running_threads_sample(struct xc_process *process);

#endif
