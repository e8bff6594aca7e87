/* stack_store: stacks of samples, each kept once: a tree of frames, in which a stack is its innermost node.
 *
 * A stack has a number, which stays. Memory, some 20 bytes a node, grows with the number of different stacks, not with
 * that of samples, and ends at `most` nodes. */
#ifndef XC_STACK_STORE_H
#define XC_STACK_STORE_H

#include "core/base/hashtable.h"
#include "dwarf/sample/sample_guest.h"
#include "dwarf/sample/sample_stack.h"

struct xc_stack_node {
	uint32_t parent; /* its caller; 0, the root, is not a frame */
	uint32_t place;  /* index into places */
};

struct xc_stack_store {
	struct xc_sample_frame *places;       /* different frames */
	const struct xc_guest_places *guests; /* those of interpreted languages; NULL: none; borrowed */
	size_t place_count, place_capacity;
	struct xc_stack_node *nodes; /* the first is the root; a caller precedes its callees */
	size_t node_count, node_capacity;
	struct xc_hashtable by_frame;
	uint32_t *by_path; /* indices of nodes, found by parent and place; 0: free; open addressing */
	size_t path_slots; /* a power of two, at least twice the nodes; 0: there is no table yet */
	size_t most;       /* nodes: XC_STACK_STORE_MOST */
};

enum { XC_STACK_STORE_MOST = 1 << 20 };

void xc_stack_store_init(struct xc_stack_store *store);
void xc_stack_store_fini(struct xc_stack_store *store);

/* The number of a stack: that of its innermost frame, or 0 when it has none. *whole_out: all frames are kept; else the
 * store is full, and the number is that of the outer part that it has. O(frames). */
uint32_t xc_stack_store_add(struct xc_stack_store *store, const struct xc_sample_stack *stack, bool *whole_out);

#endif
