/* view_libcxx_nodes: node-based containers of LLVM's C++ library.
 *
 * Layouts of libc++ 7 to 20 (headers list, forward_list, __tree, __hash_table). The offset of the element is that in
 * the node's type, if it is in the debug information; otherwise it is computed. Elements of maps are a __value_type,
 * which contains the pair as __cc (or __cc_). */
#include <inttypes.h>

#include "dwarf/view/view_impl.h"

static const char *const size_paths[] = {"__size_alloc_.__value_", "__size_", NULL};

/* ---- list ---- */

static const struct xc_view_link list_links[] = {{XC_LINK_NODE, "node", XC_VIEW_PATHS("__end_.__next_"), NULL, 0},
						 {XC_LINK_NODE, "node", XC_VIEW_PATHS("__end_.__prev_"), NULL, 0},
						 {0}};

static bool is_list(const struct xc_type *type, struct xc_view_shape *shape)
{
	shape->links = list_links;
	shape->nodes = &xc_view_nodes[XC_NODES_LLVM_LIST];
	return xc_view_place_element(type, "__end_.__next_", xc_view_argument(type, 0), shape) &&
	       xc_view_has(type, "__end_.__prev_", NULL);
}

static bool open_list(struct xc_view *view)
{
	struct xc_value header, size;
	if (!xc_view_part(&view->value, "__end_", &header))
		return false;
	if (xc_view_part_of(&view->value, &size, size_paths))
		view->count_known = xc_value_load(&size, &view->count);
	return xc_view_ring_open(view, &header);
}

/* ---- forward_list ---- */

static const char *const begin_paths[] = {"__before_begin_.__value_.__next_", "__before_begin_.__next_", NULL};
static const struct xc_view_link chain_links[] = {{XC_LINK_NODE, "node", begin_paths, NULL, 0}, {0}};

/* The node type that the link points to has the element. The type of the link itself differs between versions. */
static bool is_forward_list(const struct xc_type *type, struct xc_view_shape *shape)
{
	uint64_t word;
	const struct xc_type *link = NULL;
	xc_view_has_of(type, begin_paths, &link);
	shape->element = xc_view_argument(type, 0);
	if (!link || xc_type_strip(link)->kind != XC_TYPE_POINTER || !shape->element || !xc_type_size(link, &word))
		return false;
	shape->links = chain_links;
	shape->nodes = &xc_view_nodes[XC_NODES_LLVM_CHAIN];
	shape->node = xc_view_plain(xc_type_strip(link)->target);
	shape->offset = xc_view_align(word, shape->element);
	return xc_view_has(shape->node, "__next_", NULL);
}

static bool open_forward_list(struct xc_view *view)
{
	struct xc_value link;
	return xc_view_part_of(&view->value, &link, begin_paths) && xc_value_load(&link, &view->state[0]) &&
	       xc_view_chain_open(view);
}

/* ---- trees ----
 *
 * __tree_end_node {__left_} ← __tree_node_base {__right_, __parent_, __is_black_} ← __tree_node {__value_}. The
 * container has a __tree_end_node, whose left is the root. Tail padding of the base is used: an int after the bool is
 * at 28, not at 32. */

static const char *const end_paths[] = {"__tree_.__pair1_.__value_", "__tree_.__end_node_", NULL};
static const struct xc_view_link tree_links[] = {
	{XC_LINK_NODE, "node", XC_VIEW_PATHS("__tree_.__pair1_.__value_.__left_", "__tree_.__end_node_.__left_"), NULL,
	 0},
	{0}};
static const char *const tree_sizes[] = {"__tree_.__pair3_.__value_", "__tree_.__size_", NULL};

static bool is_tree(const struct xc_type *type, struct xc_view_shape *shape)
{
	const struct xc_type *tree, *end = NULL, *root;
	uint64_t black;
	xc_view_has_of(type, end_paths, &end);
	if (!end || !xc_view_has(type, "__tree_", &tree) || !xc_view_has(end, "__left_", &root) ||
	    xc_type_strip(root)->kind != XC_TYPE_POINTER)
		return false;
	shape->links = tree_links;
	shape->nodes = &xc_view_nodes[XC_NODES_LLVM_TREE];
	shape->element = shape->stored = xc_view_argument(tree, 0);
	shape->node = xc_view_plain(xc_type_strip(root)->target);
	if (!shape->element || !xc_view_offset(shape->node, "__is_black_", &black))
		return false;
	shape->offset = xc_view_align(black + 1, shape->element);
	const struct xc_type *pointer = xc_view_nested(tree, "__node_pointer");
	if (pointer && xc_type_strip(pointer)->kind == XC_TYPE_POINTER)
		xc_view_offset(xc_view_plain(xc_type_strip(pointer)->target), "__value_", &shape->offset);
	shape->element = xc_view_pair_of(shape->element);
	return true;
}

static bool open_tree(struct xc_view *view, enum xc_view_kind kind)
{
	struct xc_value end, size;
	uint64_t root, first;
	view->kind = kind;
	view->numbered = kind == XC_VIEW_LIST;
	return xc_view_part_of(&view->value, &end, end_paths) && xc_view_part_of(&view->value, &size, tree_sizes) &&
	       xc_value_load(&size, &view->count) && xc_view_number(&end, "__left_", &root) &&
	       xc_view_number(&view->value, "__tree_.__begin_node_", &first) &&
	       xc_view_tree_open(view, &end, root, first);
}

static bool open_map(struct xc_view *view)
{
	return open_tree(view, XC_VIEW_MAP);
}

static bool open_set(struct xc_view *view)
{
	return open_tree(view, XC_VIEW_LIST);
}

/* ---- hash tables ---- */

static const char *const first_paths[] = {"__table_.__p1_.__value_.__next_", "__table_.__first_node_.__next_", NULL};
static const struct xc_view_link hash_links[] = {
	{XC_LINK_TARGETS, "buckets",
	 XC_VIEW_PATHS("__table_.__bucket_list_.__ptr_.__value_", "__table_.__bucket_list_.__ptr_"), NULL, 0},
	{XC_LINK_NODE, "node", first_paths, NULL, 0},
	{0}};
static const char *const hash_sizes[] = {"__table_.__p2_.__value_", "__table_.__size_", NULL};

static bool is_hash(const struct xc_type *type, struct xc_view_shape *shape)
{
	const struct xc_type *table, *link = NULL;
	uint64_t word;
	xc_view_has_of(type, first_paths, &link);
	if (!link || !xc_view_has(type, "__table_", &table) || xc_type_strip(link)->kind != XC_TYPE_POINTER)
		return false;
	shape->links = hash_links;
	shape->nodes = &xc_view_nodes[XC_NODES_LLVM_HASH];
	shape->element = shape->stored = xc_view_argument(table, 0);
	shape->node = xc_view_plain(xc_type_strip(link)->target);
	if (!shape->element || !xc_type_size(link, &word) || !xc_view_has(shape->node, "__next_", NULL))
		return false;
	shape->offset = xc_view_align(2 * word, shape->element); /* after the link and the hash */
	shape->element = xc_view_pair_of(shape->element);
	return true;
}

static bool open_hash(struct xc_view *view, enum xc_view_kind kind)
{
	struct xc_value link, size;
	view->kind = kind;
	view->numbered = kind == XC_VIEW_LIST;
	return xc_view_part_of(&view->value, &link, first_paths) && xc_value_load(&link, &view->state[0]) &&
	       xc_view_part_of(&view->value, &size, hash_sizes) && xc_value_load(&size, &view->count) &&
	       xc_view_counted_chain_open(view);
}

static bool open_hash_map(struct xc_view *view)
{
	return open_hash(view, XC_VIEW_MAP);
}

static bool open_hash_set(struct xc_view *view)
{
	return open_hash(view, XC_VIEW_LIST);
}

const struct xc_view_hook xc_view_libcxx_nodes[] = {
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
