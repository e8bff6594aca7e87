/* owner: what holds a block: the word that tells best who it belongs to. */
#ifndef XC_OWNER_H
#define XC_OWNER_H

#include "core/base/text.h"
#include "heap/blocks/heap.h"

/* Append it, what has a name before what has none: "0x5…, server+0x18 .clients (redis-server, data)", "0x7…, stack of
 * thread 812, #3 serve, conn", "nothing: it is leaked"; of a word of a stack that no variable is known to have, that it may be left over. Makes the graph; nothing is appended where that cannot be made, or the block is free. */
void xc_owner_text(struct xc_heap *heap, uint32_t block, struct xc_text *text);

#endif
