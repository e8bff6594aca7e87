/* cause: the verdict that `analyze` begins with: the class of death, the place, and the evidence. */
#ifndef XC_CAUSE_H
#define XC_CAUSE_H

#include "core/process/finder.h"
#include "core/report/report.h"
#include "core/process/process.h"
#include "heap/blocks/heap.h"

/* Fill report->verdict from the crashed thread. A live process, or a core without a signal, gets a verdict only when
 * its threads deadlock. Reads the stack of the crashed thread, a few pages, and the parts of the heap that are
 * needed. heap (walked) may be NULL: its evidence is then left out. Never fails: anything unknown is left out. */
void xc_cause(struct xc_report *report, struct xc_process *process, struct xc_heap *heap);

#endif
