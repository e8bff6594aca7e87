/* memory_tree: the memory of a heap as a tree of paths by type, from the roots down, for flame graphs.
 *
 * A frame is a type (or a root: "server.clients", "stack of thread 12"). Its width is the bytes of the blocks
 * reached by this path. A type that is already on the path is not entered again: the elements of a list are one
 * frame, regardless of its length. */
#ifndef XC_MEMORY_TREE_H
#define XC_MEMORY_TREE_H

#include "core/report/stacktree.h"
#include "heap/blocks/heap.h"

enum xc_memory_tree_kind {
	XC_MEMORY_TREE_HEAP, /* each live block on its shortest path from a root, of the first kind that reaches it */
	XC_MEMORY_TREE_MODULES,  /* the same, with roots grouped: by module, all stacks, all registers, … */
	XC_MEMORY_TREE_RETAINED, /* each below the block that dominates it */
	XC_MEMORY_TREE_LEAKS,    /* leaked blocks, below the heads of their groups */
};

/* Adds all blocks to an initialised tree with unit "bytes"; the caller finishes it. Makes graph and types, for
 * RETAINED also retention. About 50 ns a block. Errors: those of the graph. */
XC_MUST_CHECK struct xc_error *xc_memory_tree_fill(struct xc_stacktree *tree, struct xc_heap *heap,
						   enum xc_memory_tree_kind kind);

#endif
