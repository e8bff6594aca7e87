/* summary: the ledger: every mapped byte of the process and who has it. */
#ifndef XC_SUMMARY_H
#define XC_SUMMARY_H

#include "core/report/report.h"
#include "heap/blocks/heap.h"

/* Fill a section: the heap's totals (live, free by where it is kept, overhead), a row for each arena with how it was found,
 * and the ledger of the whole process: heap, stacks, modules' code and data, mapped files, shared memory, other anonymous memory, and
 * what is mapped but was not dumped; its rows add up to the mapped bytes. Cost: one look at every block. */
void xc_heap_summary(struct xc_section *section, struct xc_heap *heap);

/* The same in brief, for `analyze`: a few fields and messages. Leaks are counted when there are at most XC_SUMMARY_LEAKS blocks. */
enum { XC_SUMMARY_LEAKS = 2000000 };
void xc_heap_summary_brief(struct xc_section *section, struct xc_heap *heap);

#endif
