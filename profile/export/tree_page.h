/* tree_page: any stack tree as the page of profile_page.h, or for Firefox Profiler: memory by who holds it, threads by
 * stack. */
#ifndef XC_TREE_PAGE_H
#define XC_TREE_PAGE_H

#include <stdio.h>

#include "core/report/stacktree.h"
#include "profile/data/profile_data.h"

/* The formats of a stack tree by name: those of xc_flame_kinds, "html" and "firefox"; NULL-terminated. And that which a
 * file's name asks for; NULL: none. */
extern const char *const xc_tree_kinds[];
const char *xc_tree_kind_of(const char *file);
XC_MUST_CHECK struct xc_error *xc_tree_write(const struct xc_stacktree *tree, const char *kind, FILE *out);

/* A finished tree as a profile's data: its weights as events, of one thread. */
struct xc_profile_data *xc_tree_data(const struct xc_stacktree *tree);

#endif
