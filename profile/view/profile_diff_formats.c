#include <string.h>

#include "profile/view/profile_diff.h"
#include "profile/view/profile_page.h"
#include "profile/view/profile_tree.h"

const char *const xc_profile_diff_kinds[] = {"folded", "svg", "html", NULL};

const char *xc_profile_diff_kind_of(const char *file)
{
	return xc_ends_with(file, ".folded") ? "folded"
	       : xc_ends_with(file, ".svg")  ? "svg"
	       : xc_ends_with(file, ".html") ? "html"
					     : NULL;
}

void xc_profile_diff_tree(struct xc_stacktree *tree, const struct xc_profile_pair *pair, bool by_earlier)
{
	const size_t count = pair->data->sum_count;
	if (by_earlier)
		xc_profile_tree_of(tree, pair->data, (struct xc_profile_sums){0, pair->sums},
				   (struct xc_profile_sums){pair->sums, count});
	else
		xc_profile_tree_of(tree, pair->data, (struct xc_profile_sums){pair->sums, count},
				   (struct xc_profile_sums){0, pair->sums});
	tree->compares = true;
	tree->by_earlier = by_earlier;
}

struct xc_error *xc_profile_diff_write(const struct xc_profile_pair *pair, const char *kind, bool by_earlier, FILE *out)
{
	if (strcmp(kind, "html") == 0)
		return xc_profile_page_of_two(pair->data, pair->threads, out);
	struct xc_stacktree tree;
	xc_profile_diff_tree(&tree, pair, by_earlier);
	struct xc_error *err = xc_flame_write(&tree, kind, out);
	xc_stacktree_fini(&tree);
	return err;
}
