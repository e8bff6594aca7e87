/* profile_tree: a profile as a tree of functions, for flame graphs. */
#ifndef XC_PROFILE_TREE_H
#define XC_PROFILE_TREE_H

#include "core/report/stacktree.h"
#include "profile/data/profile_data.h"

/* The whole profile, one unit of weight for each sample; initialised and finished. Functions of the kernel end in
 * "_[k]", those that were compiled at run time in "_[j]", as other tools mark them. */
void xc_profile_tree(struct xc_stacktree *tree, const struct xc_profile_data *data);

/* Some of the sums: [from, to). */
struct xc_profile_sums {
	size_t from, to;
};

/* The same with weights of some sums, and the other weights (stacktree.h) of others. */
void xc_profile_tree_of(struct xc_stacktree *tree, const struct xc_profile_data *data, struct xc_profile_sums sums,
			struct xc_profile_sums others);

#endif
