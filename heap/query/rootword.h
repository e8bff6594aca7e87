/* rootword: describes a word that points to a block, by its place or its owner. */
#ifndef XC_ROOTWORD_H
#define XC_ROOTWORD_H

#include "core/base/text.h"
#include "heap/graph/graph.h"

/* Appends the place of a word of memory: "struct client (heap, live, 352 bytes) .querybuf", "server+0x18 .clients
 * (redis-server, data)", "stack of thread 812, #3 serve, conn". `frames` also looks up the frame of a stack's word,
 * which unwinds the thread. For a word of a frame that belongs to no known variable it adds that the word may be
 * left over from an earlier call. */
void xc_rootword_place(const struct xc_heap *heap, xc_addr at, bool frames, struct xc_text *text);

/* Appends a root: registers and thread-local data with their thread, all others with the place of their word. */
void xc_rootword_text(const struct xc_heap *heap, const struct xc_root *root, bool frames, struct xc_text *text);

/* Appends what many roots have in common: "server" for server+0x18, "stack of thread 812", "data of libc.so.6". */
void xc_rootword_label(const struct xc_heap *heap, const struct xc_root *root, struct xc_text *text);

/* Appends the owner of the memory: "module redis-server", "stacks", "registers", "thread-local data", … */
void xc_rootword_module(const struct xc_heap *heap, const struct xc_root *root, struct xc_text *text);

/* The thread of a root, or NULL. */
const struct xc_thread *xc_rootword_thread(const struct xc_heap *heap, const struct xc_root *root);

#endif
