/* owner: the most informative holder of a block. */
#ifndef XC_OWNER_H
#define XC_OWNER_H

#include "core/base/text.h"
#include "heap/blocks/heap.h"

/* Appends the holder; a named one is preferred: "0x5…, server+0x18 .clients (redis-server, data)", "0x7…, stack of
 * thread 812, #3 serve, conn", "nothing: it is leaked". For a word of a stack that belongs to no known variable it
 * adds that the word may be stale. Makes the graph. Appends nothing if the graph cannot be made or the block is
 * free. */
void xc_owner_text(struct xc_heap *heap, uint32_t block, struct xc_text *text);

#endif
