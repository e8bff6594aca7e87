/* view_nodes: rings, chains and trees of nodes.
 *
 * A node is a base with links, followed by the element at its alignment. Rings and trees have back links, which are
 * checked at each step: a node that is reached in two ways has only one back link, so nearly every cycle ends there.
 * Chains, and also trees, are checked with Brent's algorithm. */
#include <inttypes.h>
#include <string.h>

#include "dwarf/view/view_impl.h"

const struct xc_view_nodes xc_view_nodes[XC_NODES_COUNT] = {
	[XC_NODES_LIST] = {"std::_List_node", "", {"_M_next", "_M_prev"}, {0, 8}, 16, 0},
	[XC_NODES_CHAIN] = {"std::_Fwd_list_node", "", {"_M_next"}, {0}, 8, 0},
	[XC_NODES_TREE] = {"std::_Rb_tree_node", "", {"_M_parent", "_M_left", "_M_right"}, {8, 16, 24}, 32, 0},
	[XC_NODES_HASH] = {"std::__detail::_Hash_node", ", false", {"_M_nxt"}, {0}, 8, 0},
	[XC_NODES_HASH_KEPT] = {"std::__detail::_Hash_node", ", true", {"_M_nxt"}, {0}, 8, 8},
	[XC_NODES_LLVM_LIST] = {"std::__1::__list_node", ", void *", {"__next_", "__prev_"}, {8, 0}, 16, 0},
	[XC_NODES_LLVM_CHAIN] = {"std::__1::__forward_list_node", ", void *", {"__next_"}, {0}, 8, 0},
	[XC_NODES_LLVM_TREE] =
		{"std::__1::__tree_node", ", void *", {"__parent_", "__left_", "__right_"}, {16, 0, 8}, 25, 0},
	[XC_NODES_LLVM_HASH] = {"std::__1::__hash_node", ", void *", {"__next_"}, {0}, 16, 0},
};

const struct xc_type *xc_view_pair_of(const struct xc_type *element)
{
	const struct xc_type *pair;
	return xc_view_has(element, "__cc", &pair) || xc_view_has(element, "__cc_", &pair) ? pair : element;
}

const struct xc_view_nodes *xc_view_nodes_of(const struct xc_type *type, const struct xc_type **content_out,
					     uint64_t *offset_out)
{
	for (size_t i = 0; i < XC_NODES_COUNT && type->name; i++) {
		size_t len = strlen(xc_view_nodes[i].name);
		if (!xc_begins_with(type->name, xc_view_nodes[i].name) || type->name[len] != '<')
			continue;
		const struct xc_type *content = xc_view_argument(type, 0);
		*content_out = content ? xc_view_pair_of(content) : NULL;
		*offset_out = content ? xc_view_align(xc_view_nodes[i].head, *content_out) : 0;
		return &xc_view_nodes[i];
	}
	return NULL;
}

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

static bool ring_links(const struct xc_view *view, xc_addr node, uint64_t links[2])
{
	const char *const *names = view->shape->nodes->links;
	struct xc_value at = xc_view_node(view, node);
	return xc_view_number(&at, names[0], &links[0]) && xc_view_number(&at, names[1], &links[1]);
}

bool xc_view_ring_open(struct xc_view *view, const struct xc_value *header)
{
	uint64_t head[2], node[2];
	if (header->kind != XC_VALUE_MEMORY)
		return xc_view_invalid(view, "it is not in memory");
	if (!ring_links(view, header->addr, head))
		return false;
	view->kind = XC_VIEW_LIST;
	view->numbered = true;
	view->state[0] = head[0];
	view->state[1] = view->state[2] = header->addr;
	if (!ring_links(view, head[0], node) || node[1] != header->addr)
		return xc_view_invalid(view, "its first node does not link back");
	if (!ring_links(view, head[1], node) || node[0] != header->addr)
		return xc_view_invalid(view, "its last node does not link back");
	return true;
}

bool xc_view_ring_next(struct xc_view *view, struct xc_view_child *child)
{
	uint64_t at = view->state[0], links[2];
	if (at == view->state[2])
		return false;
	if (!ring_links(view, at, links))
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

/* The first node of a chain, if it has one. */
static bool open_first(struct xc_view *view)
{
	struct xc_value first = xc_view_node(view, view->state[0]);
	uint64_t next;
	return view->state[0] == 0 || xc_view_number(&first, view->shape->nodes->links[0], &next) ||
	       xc_view_missing(view, "its first node", &first);
}

bool xc_view_chain_open(struct xc_view *view)
{
	view->kind = XC_VIEW_LIST;
	view->numbered = true;
	return open_first(view);
}

bool xc_view_chain_next(struct xc_view *view, struct xc_view_child *child)
{
	uint64_t at = view->state[0];
	struct xc_value node = xc_view_node(view, at);
	if (at == 0 || comes_round(view, at, &view->state[1]))
		return false;
	if (!xc_view_number(&node, view->shape->nodes->links[0], &view->state[0]))
		return xc_view_missing(view, "a node", &node);
	child->value = node_element(view, at);
	return true;
}

void xc_view_empty_or_title(const struct xc_view *view, struct xc_text *text)
{
	xc_text_printf(text, "%s%s", view->state[0] == view->state[2] ? "empty " : "", view->shape->title);
}

bool xc_view_counted_chain_open(struct xc_view *view)
{
	view->count_known = true;
	if ((view->state[0] == 0) != (view->count == 0))
		return xc_view_invalid(view, "%" PRIu64 " elements, but %s first", view->count,
				       view->state[0] ? "a" : "no");
	return open_first(view);
}

bool xc_view_counted_chain_next(struct xc_view *view, struct xc_view_child *child)
{
	if (view->index >= view->count)
		return false;
	if (view->state[0] == 0)
		return xc_view_invalid(view, "%" PRIu64 " nodes of %" PRIu64, view->index, view->count);
	return xc_view_chain_next(view, child);
}

bool xc_view_counted_chain_next_pair(struct xc_view *view, struct xc_view_child *child)
{
	return xc_view_counted_chain_next(view, child) && xc_view_split_pair(view, child);
}

/* ---- trees ---- */

enum { PARENT, LEFT, RIGHT };

static bool tree_links(const struct xc_view *view, xc_addr node, uint64_t links[3])
{
	const char *const *name = view->shape->nodes->links;
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

bool xc_view_tree_next_pair(struct xc_view *view, struct xc_view_child *child)
{
	return xc_view_tree_next(view, child) && xc_view_split_pair(view, child);
}
