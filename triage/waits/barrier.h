/* barrier: how many threads have come to a barrier, and how many it waits for. */
#ifndef XC_BARRIER_H
#define XC_BARRIER_H

#include "core/base/text.h"
#include "triage/waits/wait.h"

/* Append ", to which 3 of 4 threads have come", of glibc's pthread_barrier_t; a thread waits there. Nothing when its
 * words do not fit. */
void xc_barrier_describe(const struct xc_process *process, const struct xc_wait *wait, struct xc_text *text);

#endif
