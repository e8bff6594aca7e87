/* cause: the verdict that leads `analyze`: what class of death, where, and the facts behind it. */
#ifndef XC_CAUSE_H
#define XC_CAUSE_H

#include "core/process/finder.h"
#include "core/report/report.h"
#include "core/process/process.h"
#include "heap/blocks/heap.h"

/* Fill report->verdict from the crashed thread. A live process, or a core without a signal, gets one only when its threads
 * wait for each other. Reads the
 * crashed thread's stack and a few pages, and what of the heap is asked for; heap (walked) may be NULL: then what it would tell is
 * left out. Never fails: what cannot be told is left out. */
void xc_cause(struct xc_report *report, struct xc_process *process, struct xc_heap *heap);

#endif
