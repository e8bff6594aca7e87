/* rootword: a word that leads to a block, in words: what it is, or what it is in. */
#ifndef XC_ROOTWORD_H
#define XC_ROOTWORD_H

#include "core/base/text.h"
#include "heap/graph/graph.h"

/* Append where a word of memory lies: "struct client (heap, live, 352 bytes) .querybuf", "server+0x18 .clients (redis-server, data)",
 * "stack of thread 812, #3 serve, conn". The `frames` of a stack are looked up only where wanted: the thread is unwound. Of a word of
 * a frame that no variable is known to have that is said: it may be left over from a call that is long done. */
void xc_rootword_place(const struct xc_heap *heap, xc_addr at, bool frames, struct xc_text *text);

/* Append a root so: registers and thread-local data by their thread, all others by the place of their word. */
void xc_rootword_text(const struct xc_heap *heap, const struct xc_root *root, bool frames, struct xc_text *text);

/* Append what many roots have in common: "server" for server+0x18, "stack of thread 812", "data of libc.so.6". */
void xc_rootword_label(const struct xc_heap *heap, const struct xc_root *root, struct xc_text *text);

/* Append whose memory it is: "module redis-server", "stacks", "registers", "thread-local data", … */
void xc_rootword_module(const struct xc_heap *heap, const struct xc_root *root, struct xc_text *text);

/* The thread of a root, or NULL. */
const struct xc_thread *xc_rootword_thread(const struct xc_heap *heap, const struct xc_root *root);

#endif
