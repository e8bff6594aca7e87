/* view_libstdcxx_nodes: node-based containers of the GNU C++ library.
 *
 * Layouts of libstdc++ 4.8 to 14: bits/stl_list.h, forward_list.h, stl_tree.h, hashtable.h. Node types are often
 * missing from the debug information, so the offset of the element is computed. */
#include <inttypes.h>

#include "dwarf/view/view_impl.h"

/* ---- list: a ring through the header in the container ---- */

static const struct xc_view_link list_links[] = {
	{XC_LINK_NODE, "node", XC_VIEW_PATHS("_M_impl._M_node._M_next"), NULL, 0},
	{XC_LINK_NODE, "node", XC_VIEW_PATHS("_M_impl._M_node._M_prev"), NULL, 0},
	{0}};

static bool is_list(const struct xc_type *type, struct xc_view_shape *shape)
{
	const struct xc_type *pointer;
	if (!xc_view_place_element(type, "_M_impl._M_node._M_next", xc_view_argument(type, 0), shape) ||
	    !xc_view_has(type, "_M_impl._M_node._M_prev", &pointer))
		return false;
	shape->links = list_links;
	shape->nodes = &xc_view_nodes[XC_NODES_LIST];
	shape->number = xc_view_has(type, "_M_impl._M_node._M_size", NULL);
	return true;
}

static bool open_list(struct xc_view *view)
{
	struct xc_value header;
	if (!xc_view_part(&view->value, "_M_impl._M_node", &header))
		return false;
	if (view->shape->number)
		view->count_known = xc_view_number(&header, "_M_size", &view->count);
	return xc_view_ring_open(view, &header);
}

/* ---- chains that end with a null pointer ---- */

static const struct xc_view_link chain_links[] = {
	{XC_LINK_NODE, "node", XC_VIEW_PATHS("_M_impl._M_head._M_next"), NULL, 0}, {0}};

static bool is_forward_list(const struct xc_type *type, struct xc_view_shape *shape)
{
	shape->links = chain_links;
	shape->nodes = &xc_view_nodes[XC_NODES_CHAIN];
	return xc_view_place_element(type, "_M_impl._M_head._M_next", xc_view_argument(type, 0), shape);
}

static bool open_forward_list(struct xc_view *view)
{
	return xc_view_number(&view->value, "_M_impl._M_head._M_next", &view->state[0]) && xc_view_chain_open(view);
}

/* ---- trees ----
 *
 * The header in the container is a node too: its parent is the root, its left and right the first and the last node. */

static const struct xc_view_link tree_links[] = {
	{XC_LINK_NODE, "node", XC_VIEW_PATHS("_M_t._M_impl._M_header._M_parent"), NULL, 0}, {0}};

static bool is_tree(const struct xc_type *type, struct xc_view_shape *shape)
{
	const struct xc_type *tree;
	shape->links = tree_links;
	shape->nodes = &xc_view_nodes[XC_NODES_TREE];
	return xc_view_has(type, "_M_t", &tree) && xc_view_has(tree, "_M_impl._M_node_count", NULL) &&
	       xc_view_place_element(tree, "_M_impl._M_header", xc_view_argument(tree, 1), shape);
}

static bool open_tree(struct xc_view *view)
{
	struct xc_value header;
	uint64_t root, first, last;
	if (!xc_view_part(&view->value, "_M_t._M_impl._M_header", &header) ||
	    !xc_view_number(&view->value, "_M_t._M_impl._M_node_count", &view->count) ||
	    !xc_view_number(&header, "_M_parent", &root) || !xc_view_number(&header, "_M_left", &first) ||
	    !xc_view_number(&header, "_M_right", &last))
		return false;
	if (root == 0 && (first != header.addr || last != header.addr))
		return xc_view_invalid(view, "its ends are inconsistent");
	return xc_view_tree_open(view, &header, root, first);
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

/* ---- hash tables: one chain through all buckets ---- */

static const struct xc_view_link hash_links[] = {
	{XC_LINK_TARGETS, "buckets", XC_VIEW_PATHS("_M_h._M_buckets"), NULL, 0},
	{XC_LINK_NODE, "node", XC_VIEW_PATHS("_M_h._M_before_begin._M_nxt"), NULL, 0},
	{0}};

/* Does a node store its hash? _Hashtable_traits<cache, …> is the last argument of the table. */
static bool keeps_hash(const struct xc_type *table)
{
	size_t count, inner;
	const struct xc_template *all = xc_type_templates(xc_view_plain(table), &count);
	if (count == 0 || !all[count - 1].type)
		return false;
	const struct xc_template *traits = xc_type_templates(xc_view_plain(all[count - 1].type), &inner);
	return inner > 0 && traits[0].has_value && traits[0].value;
}

static bool is_hash(const struct xc_type *type, struct xc_view_shape *shape)
{
	const struct xc_type *table;
	if (!xc_view_has(type, "_M_h", &table) || !xc_view_has(table, "_M_element_count", NULL))
		return false;
	shape->links = hash_links;
	shape->nodes = &xc_view_nodes[keeps_hash(table) ? XC_NODES_HASH_KEPT : XC_NODES_HASH];
	return xc_view_place_element(table, "_M_before_begin._M_nxt", xc_view_argument(table, 1), shape);
}

static bool open_hash(struct xc_view *view)
{
	uint64_t buckets, bucket_count, word = view->value.process->arch->word;
	if (!xc_view_number(&view->value, "_M_h._M_before_begin._M_nxt", &view->state[0]) ||
	    !xc_view_number(&view->value, "_M_h._M_element_count", &view->count) ||
	    !xc_view_number(&view->value, "_M_h._M_buckets", &buckets) ||
	    !xc_view_number(&view->value, "_M_h._M_bucket_count", &bucket_count))
		return false;
	if (bucket_count == 0 || bucket_count > UINT64_MAX / word ||
	    !xc_view_readable(view, buckets, bucket_count * word))
		return xc_view_invalid(view, "%" PRIu64 " buckets at 0x%" PRIx64, bucket_count, buckets);
	return xc_view_counted_chain_open(view);
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

const struct xc_view_hook xc_view_libstdcxx_nodes[] = {
	{"std::list", is_list, open_list, xc_view_empty_or_title, xc_view_ring_next, NULL, NULL},
	{"std::forward_list", is_forward_list, open_forward_list, xc_view_empty_or_title, xc_view_chain_next, NULL,
	 NULL},
	{"std::map", is_tree, open_map, xc_view_with_elements, xc_view_tree_next_pair, NULL, NULL},
	{"std::multimap", is_tree, open_map, xc_view_with_elements, xc_view_tree_next_pair, NULL, NULL},
	{"std::set", is_tree, open_set, xc_view_with_elements, xc_view_tree_next, NULL, NULL},
	{"std::multiset", is_tree, open_set, xc_view_with_elements, xc_view_tree_next, NULL, NULL},
	{"std::unordered_map", is_hash, open_hash_map, xc_view_with_elements, xc_view_counted_chain_next_pair, NULL,
	 NULL},
	{"std::unordered_multimap", is_hash, open_hash_map, xc_view_with_elements, xc_view_counted_chain_next_pair,
	 NULL, NULL},
	{"std::unordered_set", is_hash, open_hash_set, xc_view_with_elements, xc_view_counted_chain_next, NULL, NULL},
	{"std::unordered_multiset", is_hash, open_hash_set, xc_view_with_elements, xc_view_counted_chain_next, NULL,
	 NULL},
	{.name = NULL},
};
