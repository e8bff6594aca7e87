/* view_libstdcxx_nodes: containers of the GNU C++ library whose elements are nodes.
 *
 * Layouts as in libstdc++ 4.8 to 14: bits/stl_list.h, forward_list.h, stl_tree.h, hashtable.h. A node is a base with links and behind
 * it the element, aligned as the element needs; the node's type is often not in the debug information, so the place of
 * the element is worked out.
 *
 * Links back are checked at each step of lists and trees, which ends every cycle: a node reached by two ways has only one
 * link back. Chains without links back are watched with Brent's algorithm. */
#include <inttypes.h>
#include <string.h>

#include "view_impl.h"

static struct xc_value node_at(const struct xc_view *view, xc_addr addr)
{
	return xc_value_memory(view->value.process, view->shape->node, addr);
}

static struct xc_value element_at(const struct xc_view *view, xc_addr node)
{
	return xc_value_memory(view->value.process, view->shape->element, node + view->shape->offset);
}

/* The type of the links at `path`, and the element behind them. */
static bool place_element(const struct xc_type *type, const char *path, const struct xc_type *element,
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

/* ---- list: a ring through the header in the container ---- */

static bool is_list(const struct xc_type *type, struct xc_view_shape *shape)
{
	const struct xc_type *pointer;
	if (!place_element(type, "_M_impl._M_node._M_next", xc_view_argument(type, 0), shape) ||
	    !xc_view_has(type, "_M_impl._M_node._M_prev", &pointer))
		return false;
	shape->number = xc_view_has(type, "_M_impl._M_node._M_size", NULL);
	return true;
}

static bool list_links(const struct xc_view *view, xc_addr node, uint64_t *next, uint64_t *prev)
{
	struct xc_value at = node_at(view, node);
	return xc_view_number(&at, "_M_next", next) && xc_view_number(&at, "_M_prev", prev);
}

static bool open_list(struct xc_view *view)
{
	struct xc_value header;
	uint64_t next, prev, back, unused;
	if (!xc_view_part(&view->value, "_M_impl._M_node", &header) || !xc_view_number(&header, "_M_next", &next) ||
	    !xc_view_number(&header, "_M_prev", &prev))
		return false;
	view->kind = XC_VIEW_LIST;
	view->numbered = true;
	view->state[0] = next;
	view->state[1] = view->state[2] = header.addr;
	if (view->shape->number)
		view->count_known = xc_view_number(&header, "_M_size", &view->count);
	if (header.kind != XC_VALUE_MEMORY)
		return xc_view_invalid(view, "it is not in memory");
	if (!list_links(view, next, &unused, &back) || back != header.addr)
		return xc_view_invalid(view, "its first node does not lead back");
	if (!list_links(view, prev, &back, &unused) || back != header.addr)
		return xc_view_invalid(view, "its last node does not lead back");
	return true;
}

static bool next_of_list(struct xc_view *view, struct xc_view_child *child)
{
	uint64_t at = view->state[0], next, prev;
	if (at == view->state[2])
		return false;
	if (!list_links(view, at, &next, &prev))
		return xc_view_invalid(view, "node 0x%" PRIx64 " cannot be read", at);
	if (prev != view->state[1])
		return xc_view_invalid(view, "node 0x%" PRIx64 " does not lead back", at);
	child->value = element_at(view, at);
	view->state[1] = at;
	view->state[0] = next;
	return true;
}

static void summary_of_list(const struct xc_view *view, struct xc_text *text)
{
	xc_text_printf(text, "%s%s", view->state[0] == view->state[2] ? "empty " : "", view->shape->title);
}

/* ---- chains that end with a null pointer ---- */

/* Brent: the node kept is set to the present one at each power of two; a chain that comes back to it is a cycle. */
static bool step_chain(struct xc_view *view, struct xc_view_child *child)
{
	uint64_t at = view->state[0];
	struct xc_value node = node_at(view, at);
	if (view->index && at == view->state[1])
		return xc_view_invalid(view, "its nodes go in a circle");
	if ((view->index & (view->index + 1)) == 0)
		view->state[1] = at;
	if (!xc_view_number(&node, view->shape->number ? "_M_nxt" : "_M_next", &view->state[0]))
		return xc_view_missing(view, "a node", &node);
	child->value = element_at(view, at);
	return true;
}

static bool is_forward_list(const struct xc_type *type, struct xc_view_shape *shape)
{
	return place_element(type, "_M_impl._M_head._M_next", xc_view_argument(type, 0), shape);
}

static bool open_forward_list(struct xc_view *view)
{
	view->kind = XC_VIEW_LIST;
	view->numbered = true;
	if (!xc_view_number(&view->value, "_M_impl._M_head._M_next", &view->state[0]))
		return false;
	struct xc_value first = node_at(view, view->state[0]);
	uint64_t next;
	return view->state[0] == 0 || xc_view_number(&first, "_M_next", &next) ||
	       xc_view_missing(view, "its first node", &first);
}

static bool next_of_forward_list(struct xc_view *view, struct xc_view_child *child)
{
	return view->state[0] != 0 && step_chain(view, child);
}

static void summary_of_forward_list(const struct xc_view *view, struct xc_text *text)
{
	xc_text_printf(text, "%s%s", view->state[0] == 0 ? "empty " : "", view->shape->title);
}

/* ---- trees ----
 *
 * The header in the container is a node too: its parent is the root, its left and right the first and the last node. */

static bool is_tree(const struct xc_type *type, struct xc_view_shape *shape)
{
	const struct xc_type *tree;
	return xc_view_has(type, "_M_t", &tree) && xc_view_has(tree, "_M_impl._M_node_count", NULL) &&
	       place_element(tree, "_M_impl._M_header", xc_view_argument(tree, 1), shape);
}

struct links {
	uint64_t parent, left, right;
};

static bool tree_links(const struct xc_view *view, xc_addr node, struct links *links)
{
	struct xc_value at = node_at(view, node);
	return xc_view_number(&at, "_M_parent", &links->parent) && xc_view_number(&at, "_M_left", &links->left) &&
	       xc_view_number(&at, "_M_right", &links->right);
}

static bool open_tree(struct xc_view *view)
{
	struct xc_value header;
	struct links head, root, first;
	if (!xc_view_part(&view->value, "_M_t._M_impl._M_header", &header) ||
	    !xc_view_number(&view->value, "_M_t._M_impl._M_node_count", &view->count))
		return false;
	if (header.kind != XC_VALUE_MEMORY || !tree_links(view, header.addr, &head))
		return xc_view_invalid(view, "it is not in memory");
	view->count_known = true;
	view->state[0] = view->count ? head.left : 0;
	view->state[1] = header.addr;
	if ((head.parent == 0) != (view->count == 0))
		return xc_view_invalid(view, "%" PRIu64 " elements, but %s root", view->count,
				       head.parent ? "a" : "no");
	if (head.parent == 0)
		return (head.left == header.addr && head.right == header.addr) ||
		       xc_view_invalid(view, "its ends do not agree");
	if (!tree_links(view, head.parent, &root) || root.parent != header.addr)
		return xc_view_invalid(view, "its root does not lead back");
	if (!tree_links(view, head.left, &first) || first.left != 0)
		return xc_view_invalid(view, "its first node is none");
	return true;
}

static bool open_map(struct xc_view *view)
{
	view->kind = XC_VIEW_MAP;
	return open_tree(view);
}

static bool open_set(struct xc_view *view)
{
	view->kind = XC_VIEW_LIST;
	view->numbered = true;
	return open_tree(view);
}

/* The child `to` of `from`; its link back must say so. */
static bool descend(struct xc_view *view, xc_addr from, xc_addr to, struct links *links)
{
	if (!tree_links(view, to, links))
		return xc_view_invalid(view, "node 0x%" PRIx64 " cannot be read", to);
	return links->parent == from || xc_view_invalid(view, "node 0x%" PRIx64 " does not lead back", to);
}

/* The node behind `at` in order, into state[0]; the header when there is none. */
static bool step_tree(struct xc_view *view, xc_addr at, struct links links)
{
	unsigned depth = 0;
	if (links.right) {
		xc_addr from = at;
		for (xc_addr to = links.right; to; to = links.left, depth++) {
			if (depth > XC_VIEW_DEPTH)
				return xc_view_invalid(view, "deeper than a tree can be");
			if (!descend(view, from, to, &links))
				return false;
			from = to;
		}
		view->state[0] = from;
		return true;
	}
	while (links.parent != view->state[1]) {
		xc_addr from = at;
		at = links.parent;
		if (depth++ > XC_VIEW_DEPTH)
			return xc_view_invalid(view, "deeper than a tree can be");
		if (!tree_links(view, at, &links))
			return xc_view_invalid(view, "node 0x%" PRIx64 " cannot be read", at);
		if (links.left == from) {
			view->state[0] = at;
			return true;
		}
		if (links.right != from)
			return xc_view_invalid(view, "node 0x%" PRIx64 " does not lead back", from);
	}
	view->state[0] = view->state[1];
	return true;
}

static bool next_of_tree(struct xc_view *view, struct xc_view_child *child)
{
	xc_addr at = view->state[0];
	struct links links;
	if (view->index >= view->count)
		return false;
	if (at == view->state[1])
		return xc_view_invalid(view, "%" PRIu64 " nodes of %" PRIu64, view->index, view->count);
	if (!tree_links(view, at, &links))
		return xc_view_invalid(view, "node 0x%" PRIx64 " cannot be read", at);
	child->value = element_at(view, at);
	step_tree(view, at, links); /* when it fails, this one is still good */
	return true;
}

static bool split_pair(struct xc_view *view, struct xc_view_child *child)
{
	struct xc_value pair = child->value;
	return (xc_view_part(&pair, "first", &child->key) && xc_view_part(&pair, "second", &child->value)) ||
	       xc_view_invalid(view, "its elements are no pairs");
}

static bool next_of_map(struct xc_view *view, struct xc_view_child *child)
{
	return next_of_tree(view, child) && split_pair(view, child);
}

/* ---- hash tables: one chain through all buckets ---- */

static bool is_hash(const struct xc_type *type, struct xc_view_shape *shape)
{
	const struct xc_type *table;
	shape->number = 1; /* the link is _M_nxt */
	return xc_view_has(type, "_M_h", &table) && xc_view_has(table, "_M_element_count", NULL) &&
	       place_element(table, "_M_before_begin._M_nxt", xc_view_argument(table, 1), shape);
}

static bool open_hash(struct xc_view *view)
{
	uint64_t buckets, bucket_count, word = view->value.process->arch->word;
	if (!xc_view_number(&view->value, "_M_h._M_before_begin._M_nxt", &view->state[0]) ||
	    !xc_view_number(&view->value, "_M_h._M_element_count", &view->count) ||
	    !xc_view_number(&view->value, "_M_h._M_buckets", &buckets) ||
	    !xc_view_number(&view->value, "_M_h._M_bucket_count", &bucket_count))
		return false;
	view->count_known = true;
	if (bucket_count == 0 || bucket_count > UINT64_MAX / word ||
	    !xc_view_readable(view, buckets, bucket_count * word))
		return xc_view_invalid(view, "%" PRIu64 " buckets at 0x%" PRIx64, bucket_count, buckets);
	if ((view->state[0] == 0) != (view->count == 0))
		return xc_view_invalid(view, "%" PRIu64 " elements, but %s first", view->count,
				       view->state[0] ? "a" : "no");
	struct xc_value first = node_at(view, view->state[0]);
	uint64_t next;
	return view->count == 0 || xc_view_number(&first, "_M_nxt", &next) ||
	       xc_view_missing(view, "its first node", &first);
}

static bool open_hash_map(struct xc_view *view)
{
	view->kind = XC_VIEW_MAP;
	return open_hash(view);
}

static bool open_hash_set(struct xc_view *view)
{
	view->kind = XC_VIEW_LIST;
	view->numbered = true;
	return open_hash(view);
}

static bool next_of_hash_set(struct xc_view *view, struct xc_view_child *child)
{
	if (view->index >= view->count)
		return false;
	if (view->state[0] == 0)
		return xc_view_invalid(view, "%" PRIu64 " nodes of %" PRIu64, view->index, view->count);
	return step_chain(view, child);
}

static bool next_of_hash_map(struct xc_view *view, struct xc_view_child *child)
{
	return next_of_hash_set(view, child) && split_pair(view, child);
}

const struct xc_view_hook xc_view_libstdcxx_nodes[] = {
	{"std::list", is_list, open_list, summary_of_list, next_of_list, NULL, NULL},
	{"std::forward_list", is_forward_list, open_forward_list, summary_of_forward_list, next_of_forward_list, NULL,
	 NULL},
	{"std::map", is_tree, open_map, xc_view_with_elements, next_of_map, NULL, NULL},
	{"std::multimap", is_tree, open_map, xc_view_with_elements, next_of_map, NULL, NULL},
	{"std::set", is_tree, open_set, xc_view_with_elements, next_of_tree, NULL, NULL},
	{"std::multiset", is_tree, open_set, xc_view_with_elements, next_of_tree, NULL, NULL},
	{"std::unordered_map", is_hash, open_hash_map, xc_view_with_elements, next_of_hash_map, NULL, NULL},
	{"std::unordered_multimap", is_hash, open_hash_map, xc_view_with_elements, next_of_hash_map, NULL, NULL},
	{"std::unordered_set", is_hash, open_hash_set, xc_view_with_elements, next_of_hash_set, NULL, NULL},
	{"std::unordered_multiset", is_hash, open_hash_set, xc_view_with_elements, next_of_hash_set, NULL, NULL},
	{.name = NULL},
};
