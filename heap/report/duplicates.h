/* duplicates: blocks with equal content, such as a string that is stored a thousand times. */
#ifndef XC_DUPLICATES_H
#define XC_DUPLICATES_H

#include "core/report/report.h"
#include "heap/blocks/heap.h"

/* A table of the contents that waste most memory: the number of copies, the bytes that sharing one copy would save,
 * the content. Of text (by its type, or printable up to a NUL) only the characters count; of other blocks all
 * bytes, so that two buffers are equal only if their unused ends are equal. Blocks of less than 16 bytes and of
 * more than 1 MiB are left out. Reads every live block once, in parallel; 32 bytes a block during the call. */
void xc_duplicates(struct xc_section *section, struct xc_heap *heap, size_t limit);

#endif
