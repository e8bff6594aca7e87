#include "profile/export/tree_page.h"

#include <stdlib.h>
#include <string.h>

#include "profile/export/profile_firefox.h"
#include "profile/view/profile_page.h"

const char *const xc_tree_kinds[] = {"folded", "svg", "html", "speedscope", "pprof", "firefox", NULL};

const char *xc_tree_kind_of(const char *file)
{
	return xc_ends_with(file, ".html")           ? "html"
	       : xc_ends_with(file, ".firefox.json") ? "firefox"
						     : xc_flame_kind_of(file);
}

static void add_node(struct xc_profile_data *d, const struct xc_stacktree_node *node, uint32_t number, uint32_t thread)
{
	/* Sums of all rows stay below 2^64: they are those of the tree. */
	const struct xc_profile_sum sum = {
		.stack = number, .thread = thread, .samples = node->self, .squares = node->self};
	if (node->self)
		(void)xc_profile_data_add_sum(d, &sum);
}

struct xc_profile_data *xc_tree_data(const struct xc_stacktree *tree)
{
	struct xc_profile_data *d = xc_profile_data_new();
	const uint32_t thread = xc_profile_data_add_thread(d, 0, 0, NULL);
	uint32_t *path = NULL; /* the number of the node at each depth */
	size_t depth = 0, room = 0;
	for (const struct xc_stacktree_node *node = &tree->root; (node = xc_stacktree_next(node, &depth));) {
		while (room <= depth)
			path = xc_grow(path, room, &room, sizeof *path);
		path[0] = 0;
		const uint32_t function = xc_profile_data_add_function(d, node->name, NULL, NULL);
		path[depth] = xc_profile_data_add_node(
			d, path[depth - 1], xc_profile_data_add_frame(d, function, NULL, 0, XC_PROFILE_NATIVE));
		add_node(d, node, path[depth], thread);
	}
	free(path);
	d->head->title = xc_profile_data_add_text(d, tree->title);
	d->head->unit = XC_PROFILE_EVENTS;
	d->head->events = xc_profile_data_add_text(d, tree->unit);
	d->head->period = 1;
	d->head->runs = 1;
	return d;
}

struct xc_error *xc_tree_write(const struct xc_stacktree *tree, const char *kind, FILE *out)
{
	const bool page = strcmp(kind, "html") == 0;
	if (!page && strcmp(kind, "firefox") != 0)
		return xc_flame_write(tree, kind, out);
	struct xc_profile_data *d = xc_tree_data(tree);
	struct xc_error *err = page ? xc_profile_page(d, out) : xc_profile_firefox(d, out);
	xc_profile_data_free(d);
	return err;
}
