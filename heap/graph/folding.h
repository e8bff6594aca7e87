/* folding: paths of labels as a tree of frames, in which a label that is already on the path is the same frame
 * again: the nodes of a list are one frame, regardless of its length.
 *
 * There are few frames (paths without repetition) and many things. So the frame for a parent and a label's number
 * is cached: a thing costs one probe of a hash table. */
#ifndef XC_FOLDING_H
#define XC_FOLDING_H

#include "core/report/stacktree.h"

struct xc_folding {
	struct xc_stacktree *tree;
	unsigned deepest;           /* maximum depth of a path */
	struct xc_hashtable frames; /* (parent, label) → node */
};

void xc_folding_init(struct xc_folding *folding, struct xc_stacktree *tree, unsigned deepest);
void xc_folding_fini(struct xc_folding *folding);

/* The frame of a label below `parent`: its own frame, or one further up; or `parent` if the path has its maximum
 * depth. `name` is called for the text of a new label. */
struct xc_stacktree_node *xc_folding_frame(struct xc_folding *folding, struct xc_stacktree_node *parent, uint32_t label,
					   const char *(*name)(void *user, uint32_t thing), void *user, uint32_t thing);

#endif
