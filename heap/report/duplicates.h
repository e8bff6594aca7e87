/* duplicates: blocks with equal content: the same string kept a thousand times. */
#ifndef XC_DUPLICATES_H
#define XC_DUPLICATES_H

#include "core/report/report.h"
#include "heap/blocks/heap.h"

/* A table of the contents that most memory is wasted on: copies, bytes that one copy would save, the content. Of text (typed so, or
 * printable up to a NUL) the characters count, not what lies behind; of other blocks all bytes, so that two buffers are
 * equal only when their unused rest is. Blocks of less than 16 bytes and of more than 1 MiB are left out.
 * Reads every live block once, in parallel; 32 bytes a block for the time of the call. */
void xc_duplicates(struct xc_section *section, struct xc_heap *heap, size_t limit);

#endif
