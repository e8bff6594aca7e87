/* leaks_notes: what the report of leaks does not count, and why it may be wrong. Private to leaks.c. */
#ifndef XC_LEAKS_NOTES_H
#define XC_LEAKS_NOTES_H

#include "core/base/text.h"
#include "core/report/report.h"
#include "heap/blocks/heap.h"

/* "1,234,567" */
void xc_leaks_add_count(struct xc_text *text, uint64_t count);

/* The heap's graph exists. `possible`: possibly leaked blocks are listed. */
void xc_leaks_add_notes(struct xc_section *section, const struct xc_heap *heap, bool possible);

#endif
