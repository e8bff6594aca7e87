/* view_nodes: rings, chains and trees of nodes.
 *
 * A node is a base with links, followed by the element at its alignment. Rings and trees have back links, which are
 * checked at each step: a node that is reached in two ways has only one back link, so nearly every cycle ends there.
 * Chains, and also trees, are checked with Brent's algorithm. */
#include <inttypes.h>

#include "dwarf/view/view_impl.h"

struct xc_value xc_view_node(const struct xc_view *view, xc_addr addr)
{
	return xc_value_memory(view->value.process, view->shape->node, addr);
}

static struct xc_value node_element(const struct xc_view *view, xc_addr node)
{
	return xc_value_memory(view->value.process, view->shape->element, node + view->shape->offset);
}

bool xc_view_place_element(const struct xc_type *type, const char *path, const struct xc_type *element,
			   struct xc_view_shape *shape)
{
	uint64_t size;
	if (!element || !xc_view_has(type, path, &shape->node))
		return false;
	shape->node = xc_view_plain(shape->node);
	shape->element = element;
	if (shape->node->kind == XC_TYPE_POINTER)
		shape->node = xc_view_plain(shape->node->target);
	if (!xc_type_size(shape->node, &size))
		return false;
	shape->offset = xc_view_align(size, element);
	return true;
}

/* ---- rings ---- */

static bool ring_links(const struct xc_view *view, xc_addr node, const char *const names[2], uint64_t links[2])
{
	struct xc_value at = xc_view_node(view, node);
	return xc_view_number(&at, names[0], &links[0]) && xc_view_number(&at, names[1], &links[1]);
}

bool xc_view_ring_open(struct xc_view *view, const struct xc_value *header, const char *next, const char *prev)
{
	const char *const names[2] = {next, prev};
	uint64_t head[2], node[2];
	if (header->kind != XC_VALUE_MEMORY)
		return xc_view_invalid(view, "it is not in memory");
	if (!ring_links(view, header->addr, names, head))
		return false;
	view->kind = XC_VIEW_LIST;
	view->numbered = true;
	view->state[0] = head[0];
	view->state[1] = view->state[2] = header->addr;
	if (!ring_links(view, head[0], names, node) || node[1] != header->addr)
		return xc_view_invalid(view, "its first node does not link back");
	if (!ring_links(view, head[1], names, node) || node[0] != header->addr)
		return xc_view_invalid(view, "its last node does not link back");
	return true;
}

bool xc_view_ring_next(struct xc_view *view, struct xc_view_child *child, const char *next, const char *prev)
{
	const char *const names[2] = {next, prev};
	uint64_t at = view->state[0], links[2];
	if (at == view->state[2])
		return false;
	if (!ring_links(view, at, names, links))
		return xc_view_invalid(view, "node 0x%" PRIx64 " cannot be read", at);
	if (links[1] != view->state[1])
		return xc_view_invalid(view, "node 0x%" PRIx64 " does not link back", at);
	child->value = node_element(view, at);
	view->state[1] = at;
	view->state[0] = links[0];
	return true;
}

/* ---- chains ---- */

/* Brent: remember the current node at each power of two. A walk that returns to it is in a cycle. */
static bool comes_round(struct xc_view *view, xc_addr at, uint64_t *kept)
{
	bool round = view->index > 0 && at == *kept;
	if ((view->index & (view->index + 1)) == 0)
		*kept = at;
	return round && !xc_view_invalid(view, "its nodes form a cycle");
}

bool xc_view_chain_next(struct xc_view *view, struct xc_view_child *child, const char *link)
{
	uint64_t at = view->state[0];
	struct xc_value node = xc_view_node(view, at);
	if (comes_round(view, at, &view->state[1]))
		return false;
	if (!xc_view_number(&node, link, &view->state[0]))
		return xc_view_missing(view, "a node", &node);
	child->value = node_element(view, at);
	return true;
}

bool xc_view_counted_chain_next(struct xc_view *view, struct xc_view_child *child, const char *link)
{
	if (view->index >= view->count)
		return false;
	if (view->state[0] == 0)
		return xc_view_invalid(view, "%" PRIu64 " nodes of %" PRIu64, view->index, view->count);
	return xc_view_chain_next(view, child, link);
}

/* ---- trees ---- */

enum { PARENT, LEFT, RIGHT };

static bool tree_links(const struct xc_view *view, xc_addr node, uint64_t links[3])
{
	static const char *const names[2][3] = {{"_M_parent", "_M_left", "_M_right"},
						{"__parent_", "__left_", "__right_"}};
	const char *const *name = names[view->shape->number & 1];
	struct xc_value at = xc_view_node(view, node);
	return xc_view_number(&at, name[PARENT], &links[PARENT]) && xc_view_number(&at, name[LEFT], &links[LEFT]) &&
	       xc_view_number(&at, name[RIGHT], &links[RIGHT]);
}

bool xc_view_tree_open(struct xc_view *view, const struct xc_value *header, xc_addr root, xc_addr first)
{
	uint64_t links[3];
	if (header->kind != XC_VALUE_MEMORY)
		return xc_view_invalid(view, "it is not in memory");
	view->count_known = true;
	view->state[0] = first;
	view->state[1] = header->addr;
	if ((root == 0) != (view->count == 0))
		return xc_view_invalid(view, "%" PRIu64 " elements, but %s root", view->count, root ? "a" : "no");
	if (root == 0)
		return first == header->addr || xc_view_invalid(view, "its ends are inconsistent");
	if (!tree_links(view, root, links) || links[PARENT] != header->addr)
		return xc_view_invalid(view, "its root does not link back");
	if (!tree_links(view, first, links) || links[LEFT] != 0)
		return xc_view_invalid(view, "its first node is not one of its nodes");
	return true;
}

/* The leftmost node below the right child of `from`. */
static bool descend(struct xc_view *view, xc_addr from, uint64_t links[3])
{
	unsigned depth = 0;
	for (xc_addr to = links[RIGHT]; to; to = links[LEFT]) {
		if (depth++ > XC_VIEW_DEPTH)
			return xc_view_invalid(view, "deeper than any balanced tree");
		if (!tree_links(view, to, links))
			return xc_view_invalid(view, "node 0x%" PRIx64 " cannot be read", to);
		if (links[PARENT] != from)
			return xc_view_invalid(view, "node 0x%" PRIx64 " does not link back", to);
		from = to;
	}
	view->state[0] = from;
	return true;
}

/* The first parent of which `at` is in the left subtree; the header at the end. */
static bool ascend(struct xc_view *view, xc_addr at, uint64_t links[3])
{
	unsigned depth = 0;
	while (links[PARENT] != view->state[1]) {
		xc_addr from = at;
		at = links[PARENT];
		if (depth++ > XC_VIEW_DEPTH)
			return xc_view_invalid(view, "deeper than any balanced tree");
		if (!tree_links(view, at, links))
			return xc_view_invalid(view, "node 0x%" PRIx64 " cannot be read", at);
		if (links[LEFT] == from) {
			view->state[0] = at;
			return true;
		}
		if (links[RIGHT] != from)
			return xc_view_invalid(view, "node 0x%" PRIx64 " does not link back", from);
	}
	view->state[0] = view->state[1];
	return true;
}

bool xc_view_tree_next(struct xc_view *view, struct xc_view_child *child)
{
	xc_addr at = view->state[0];
	uint64_t links[3];
	if (view->index >= view->count)
		return false;
	if (at == view->state[1])
		return xc_view_invalid(view, "%" PRIu64 " nodes of %" PRIu64, view->index, view->count);
	if (!tree_links(view, at, links))
		return xc_view_invalid(view, "node 0x%" PRIx64 " cannot be read", at);
	if (comes_round(view, at, &view->state[2])) /* a node may be its own child and parent */
		return false;
	child->value = node_element(view, at);
	if (links[RIGHT])
		descend(view, at, links); /* when it fails, the current element is still valid */
	else
		ascend(view, at, links);
	return true;
}
