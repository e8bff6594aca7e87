#include "profile/view/profile_tree.h"

#include <stdlib.h>

static const char *mark_of(uint32_t kind)
{
	return kind == XC_PROFILE_KERNEL ? "_[k]" : kind == XC_PROFILE_JIT ? "_[j]" : NULL;
}

/* A name with its mark, made once. */
static const char *marked(struct xc_arena *arena, struct xc_hashtable *made, const struct xc_profile_data *d,
			  uint32_t name, uint32_t kind)
{
	const char *text = name ? xc_profile_data_text(d, name) : "??", *mark = mark_of(kind);
	if (!mark)
		return text;
	union xc_hashtable_value *found = xc_hashtable_at(made, NULL, name, UINT64_C(1) + kind);
	if (!found->pointer)
		found->pointer = xc_arena_printf(arena, "%s%s", text, mark);
	return found->pointer;
}

/* The names of all frames, as the tree shows them. */
static const char **name_frames(struct xc_arena *arena, const struct xc_profile_data *d)
{
	const char **names = xc_arena_alloc(arena, (d->frame_count + 1) * sizeof *names);
	struct xc_hashtable made = {0};
	for (size_t i = 0; i < d->frame_count; i++)
		names[i] = marked(arena, &made, d, d->functions[d->frames[i].function].name, d->frames[i].kind);
	xc_hashtable_fini(&made);
	return names;
}

static const char *title_of(struct xc_arena *arena, const struct xc_profile_data *d)
{
	const char *title = xc_profile_data_text(d, d->head->title),
		   *account = xc_profile_data_text(d, d->head->account);
	return xc_arena_printf(arena, "%s: %s", title ? title : "profile", account ? account : "");
}

/* The node in which the stack of a sum ends, with its wait. */
static struct xc_stacktree_node *end_of(struct xc_stacktree *tree, const struct xc_profile_data *d,
					struct xc_stacktree_node *const *nodes, const struct xc_profile_sum *sum)
{
	const char *wait = xc_profile_data_text(d, d->waits[sum->wait].text);
	xc_auto(xc_freep) char *leaf = sum->wait ? xc_asprintf("[waits: %s]", wait ? wait : "?") : NULL;
	struct xc_stacktree_node *node =
		sum->stack ? nodes[sum->stack] : xc_stacktree_grow(tree, &tree->root, "[no stack]", 0);
	return leaf ? xc_stacktree_grow(tree, node, leaf, 0) : node;
}

void xc_profile_tree_of(struct xc_stacktree *tree, const struct xc_profile_data *d, struct xc_profile_sums sums,
			struct xc_profile_sums others)
{
	struct xc_arena arena = {0};
	const char *const *names = name_frames(&arena, d);
	xc_stacktree_init(tree, title_of(&arena, d), "samples");
	tree->unit_ns = d->head->unit == XC_PROFILE_NS ? d->head->period : 0;
	xc_auto(xc_freep) struct xc_stacktree_node **nodes = xc_alloc(d->node_count * sizeof *nodes);
	nodes[0] = &tree->root;
	for (size_t i = 1; i < d->node_count; i++) /* callers precede callees */
		nodes[i] = xc_stacktree_grow(tree, nodes[d->nodes[i].parent], names[d->nodes[i].frame], 0);
	for (size_t i = sums.from; i < sums.to; i++)
		(void)xc_stacktree_grow(tree, end_of(tree, d, nodes, &d->sums[i]), NULL, d->sums[i].samples);
	for (size_t i = others.from; i < others.to; i++)
		xc_stacktree_add_other(tree, end_of(tree, d, nodes, &d->sums[i]), d->sums[i].samples);
	xc_stacktree_finish(tree);
	xc_arena_fini(&arena);
}

void xc_profile_tree(struct xc_stacktree *tree, const struct xc_profile_data *d)
{
	xc_profile_tree_of(tree, d, (struct xc_profile_sums){0, d->sum_count}, (struct xc_profile_sums){0, 0});
}
