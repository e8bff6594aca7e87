/* profile_tree: a profile as a tree of functions, for flame graphs. */
#ifndef XC_PROFILE_TREE_H
#define XC_PROFILE_TREE_H

#include "core/report/stacktree.h"
#include "profile/frame_names.h"
#include "profile/profile.h"

/* The functions of a stack, innermost first: `room` of them at most, and the number of all. */
size_t xc_profile_functions(const struct xc_profile *profile, const struct xc_frame_names *names, uint32_t stack,
			    const struct xc_frame_name **functions_out, size_t room);

/* Add all stacks to the tree, one unit of weight for each sample. */
void xc_profile_tree(struct xc_stacktree *tree, const struct xc_profile *profile, const struct xc_frame_names *names);

#endif
