/* summary: the heap's totals, and the use of every mapped byte of the process. */
#ifndef XC_SUMMARY_H
#define XC_SUMMARY_H

#include "core/report/report.h"
#include "heap/blocks/heap.h"

/* Fills a section: the heap's totals (live, free by list, overhead), a row for each arena with the evidence for it,
 * and the memory of the whole process: heap, stacks, modules' code and data, mapped files, shared memory, other
 * anonymous memory, and mapped memory that was not dumped. Its rows add up to the mapped bytes. Cost: one read of
 * every block's table entry. */
void xc_heap_summary(struct xc_section *section, struct xc_heap *heap);

/* A short form for `analyze`: a few fields and messages. Leaks are counted if there are at most XC_SUMMARY_LEAKS
 * blocks. */
enum { XC_SUMMARY_LEAKS = 2000000 };
void xc_heap_summary_brief(struct xc_section *section, struct xc_heap *heap);

/* The number of arenas that hold memory, as every command counts them. */
size_t xc_heap_summary_arenas(const struct xc_heap *heap);

#endif
