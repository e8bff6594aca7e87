/* owner: what holds a block: the last pointer on the shortest way from a root to it. */
#ifndef XC_OWNER_H
#define XC_OWNER_H

#include "../core/text.h"
#include "heap.h"

/* Append it: "struct client (heap, live, 352 bytes) .querybuf", "server+0x18 .clients (redis-server, data)", "stack of thread 812, #3
 * serve, conn", "nothing: it is leaked". Makes the graph; nothing is appended where that cannot be made, or the block is free. */
void xc_owner_text(struct xc_heap *heap, uint32_t block, struct xc_text *text);

#endif
