/* folding: paths of labels as a tree of frames, where a label that is on the path already is that frame again: the nodes of a list are
 * one frame, however long it is.
 *
 * There are few frames (paths without repetition) and many things, so which frame a frame has for a label's number is remembered: a
 * thing costs one probe of a hash table. */
#ifndef XC_FOLDING_H
#define XC_FOLDING_H

#include "core/report/stacktree.h"

struct xc_folding_slot {
	const struct xc_stacktree_node *parent; /* NULL: empty */
	struct xc_stacktree_node *node;
	uint32_t label;
};

struct xc_folding {
	struct xc_stacktree *tree;
	unsigned deepest;              /* frames of a path */
	struct xc_folding_slot *slots; /* a power of two of them, at most half full */
	size_t slot_count, used;
};

void xc_folding_init(struct xc_folding *folding, struct xc_stacktree *tree, unsigned deepest);
void xc_folding_fini(struct xc_folding *folding);

/* The frame of a label below `parent`: its own, one further up, or, where the path is as deep as it may be, `parent`. `name` is asked for the
 * label's text when it is new there. */
struct xc_stacktree_node *xc_folding_frame(struct xc_folding *folding, struct xc_stacktree_node *parent, uint32_t label,
					   const char *(*name)(void *user, uint32_t thing), void *user, uint32_t thing);

#endif
