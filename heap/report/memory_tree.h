/* memory_tree: the memory of a heap as a tree of paths by type, for flame graphs: who holds it, from the roots down.
 *
 * A frame is a type (or a root: "server.clients", "stack of thread 12"), its width the bytes of the blocks that are reached by this
 * path. A type that is on the path already is not entered again: the elements of a list are one frame, however long it is. */
#ifndef XC_MEMORY_TREE_H
#define XC_MEMORY_TREE_H

#include "core/report/stacktree.h"
#include "heap/blocks/heap.h"

enum xc_memory_tree_kind {
	XC_MEMORY_TREE_HEAP, /* each live block on its shortest path from a root of the first kind (graph.h) that reaches it */
	XC_MEMORY_TREE_MODULES, /* the same, roots put together by the module that has them, all stacks, all registers, … */
	XC_MEMORY_TREE_RETAINED, /* each below the block that dominates it */
	XC_MEMORY_TREE_LEAKS,    /* leaked blocks, below the heads of their groups */
};

/* Add all to an initialised tree, whose unit is "bytes"; the caller finishes it. Makes graph and types, for RETAINED retention too. About
 * 50 ns a block. Errors: those of the graph. */
XC_MUST_CHECK struct xc_error *xc_memory_tree_fill(struct xc_stacktree *tree, struct xc_heap *heap,
						   enum xc_memory_tree_kind kind);

#endif
