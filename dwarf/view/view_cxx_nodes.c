/* view_cxx_nodes: node-based containers of C++ libraries.
 *
 * Layouts of libstdc++ 4.8 to 14 (bits/stl_list.h, forward_list.h, stl_tree.h, hashtable.h) and libc++ 7 to 20 (headers
 * list, forward_list, __tree, __hash_table). Node types are often missing from the debug information: then the offset
 * of the element is computed. Elements of maps of libc++ are a __value_type, which contains the pair (view_nodes.c). */
#include <inttypes.h>

#include "dwarf/view/view_impl.h"

/* The type that a link points to, and the size of the link. */
static bool node_at(const struct xc_type *type, const char *const paths[], struct xc_view_shape *shape, uint64_t *word)
{
	const struct xc_type *link;
	if (!xc_view_has_of(type, paths, &link) || xc_type_strip(link)->kind != XC_TYPE_POINTER ||
	    !xc_type_size(link, word))
		return false;
	shape->node = xc_view_plain(xc_type_strip(link)->target);
	return true;
}

/* ---- list: a ring through the header in the container ---- */

static const char *const ring_paths[] = {"_M_impl._M_node", "__end_", NULL};
static const char *const ring_sizes[] = {"_M_impl._M_node._M_size", "__size_alloc_.__value_", "__size_", NULL};
static const char *const next_paths[] = {"_M_impl._M_node._M_next", "__end_.__next_", NULL};
static const char *const prev_paths[] = {"_M_impl._M_node._M_prev", "__end_.__prev_", NULL};
static const struct xc_view_link list_links[] = {
	{XC_LINK_NODE, "node", next_paths, NULL, 0}, {XC_LINK_NODE, "node", prev_paths, NULL, 0}, {0}};

static bool is_list(const struct xc_type *type, struct xc_view_shape *shape)
{
	bool llvm = !xc_view_has(type, next_paths[0], NULL);
	shape->links = list_links;
	shape->nodes = &xc_view_nodes[llvm ? XC_NODES_LLVM_LIST : XC_NODES_LIST];
	return xc_view_place_element(type, next_paths[llvm], xc_view_argument(type, 0), shape) &&
	       xc_view_has(type, prev_paths[llvm], NULL);
}

static bool open_list(struct xc_view *view)
{
	struct xc_value header, size;
	if (!xc_view_part_of(&view->value, &header, ring_paths))
		return false;
	if (xc_view_part_of(&view->value, &size, ring_sizes))
		view->count_known = xc_value_load(&size, &view->count);
	return xc_view_ring_open(view, &header);
}

/* ---- forward_list: a chain that ends with a null pointer ---- */

static const char *const begin_paths[] = {"_M_impl._M_head._M_next", "__before_begin_.__value_.__next_",
					  "__before_begin_.__next_", NULL};
static const struct xc_view_link chain_links[] = {{XC_LINK_NODE, "node", begin_paths, NULL, 0}, {0}};

/* In libc++, the type that a link points to differs between versions, and may be the node with the element. */
static bool is_forward_list(const struct xc_type *type, struct xc_view_shape *shape)
{
	uint64_t word;
	bool llvm = !xc_view_has(type, begin_paths[0], NULL);
	shape->links = chain_links;
	shape->nodes = &xc_view_nodes[llvm ? XC_NODES_LLVM_CHAIN : XC_NODES_CHAIN];
	shape->element = xc_view_argument(type, 0);
	if (!shape->element || !node_at(type, begin_paths, shape, &word))
		return false;
	shape->offset = xc_view_align(word, shape->element);
	return xc_view_has(shape->node, shape->nodes->links[0], NULL);
}

static bool open_forward_list(struct xc_view *view)
{
	return xc_view_number_of(&view->value, begin_paths, &view->state[0]) && xc_view_chain_open(view);
}

/* ---- trees ----
 *
 * libstdc++: the header in the container is a node, too. Its parent is the root, its left and right the first and the
 * last node.
 * libc++: __tree_end_node {__left_} ← __tree_node_base {__right_, __parent_, __is_black_} ← __tree_node {__value_}. The
 * container has a __tree_end_node, whose left is the root. Tail padding of the base is used: an int after the bool is
 * at 28, not at 32. */

static const char *const header_paths[] = {"_M_t._M_impl._M_header", "__tree_.__pair1_.__value_", "__tree_.__end_node_",
					   NULL};
static const char *const root_paths[] = {"_M_t._M_impl._M_header._M_parent", "__tree_.__pair1_.__value_.__left_",
					 "__tree_.__end_node_.__left_", NULL};
static const char *const left_paths[] = {"_M_t._M_impl._M_header._M_left", "__tree_.__begin_node_", NULL};
static const char *const tree_sizes[] = {"_M_t._M_impl._M_node_count", "__tree_.__pair3_.__value_", "__tree_.__size_",
					 NULL};
static const struct xc_view_link tree_links[] = {{XC_LINK_NODE, "node", root_paths, NULL, 0}, {0}};

static bool is_llvm_tree(const struct xc_type *type, struct xc_view_shape *shape)
{
	const struct xc_type *tree;
	uint64_t black, word;
	if (!xc_view_has(type, "__tree_", &tree) || !node_at(type, root_paths, shape, &word))
		return false;
	shape->nodes = &xc_view_nodes[XC_NODES_LLVM_TREE];
	shape->element = shape->stored = xc_view_argument(tree, 0);
	if (!shape->element || !xc_view_offset(shape->node, "__is_black_", &black))
		return false;
	shape->offset = xc_view_align(black + 1, shape->element);
	const struct xc_type *pointer = xc_view_nested(tree, "__node_pointer");
	if (pointer && xc_type_strip(pointer)->kind == XC_TYPE_POINTER)
		xc_view_offset(xc_view_plain(xc_type_strip(pointer)->target), "__value_", &shape->offset);
	shape->element = xc_view_pair_of(shape->element);
	return true;
}

static bool is_tree(const struct xc_type *type, struct xc_view_shape *shape)
{
	const struct xc_type *tree;
	shape->links = tree_links;
	shape->nodes = &xc_view_nodes[XC_NODES_TREE];
	return xc_view_has(type, "_M_t", &tree)
		       ? xc_view_has(tree, "_M_impl._M_node_count", NULL) &&
				 xc_view_place_element(tree, "_M_impl._M_header", xc_view_argument(tree, 1), shape)
		       : is_llvm_tree(type, shape);
}

static bool open_tree(struct xc_view *view, enum xc_view_kind kind)
{
	struct xc_value header;
	uint64_t root, first, last;
	view->kind = kind;
	view->numbered = kind == XC_VIEW_LIST;
	if (!xc_view_part_of(&view->value, &header, header_paths) ||
	    !xc_view_number_of(&view->value, tree_sizes, &view->count) ||
	    !xc_view_number_of(&view->value, root_paths, &root) || !xc_view_number_of(&view->value, left_paths, &first))
		return false;
	if (view->shape->nodes == &xc_view_nodes[XC_NODES_TREE]) {
		if (!xc_view_number(&header, "_M_right", &last))
			return false;
		if (root == 0 && (first != header.addr || last != header.addr))
			return xc_view_invalid(view, "its ends are inconsistent");
	}
	return xc_view_tree_open(view, &header, root, first);
}

static bool open_map(struct xc_view *view)
{
	return open_tree(view, XC_VIEW_MAP);
}

static bool open_set(struct xc_view *view)
{
	return open_tree(view, XC_VIEW_LIST);
}

/* ---- hash tables: one chain through all buckets ---- */

static const char *const first_paths[] = {"_M_h._M_before_begin._M_nxt", "__table_.__p1_.__value_.__next_",
					  "__table_.__first_node_.__next_", NULL};
static const char *const bucket_paths[] = {"_M_h._M_buckets", "__table_.__bucket_list_.__ptr_.__value_",
					   "__table_.__bucket_list_.__ptr_", NULL};
static const char *const hash_sizes[] = {"_M_h._M_element_count", "__table_.__p2_.__value_", "__table_.__size_", NULL};
static const struct xc_view_link hash_links[] = {
	{XC_LINK_TARGETS, "buckets", bucket_paths, NULL, 0}, {XC_LINK_NODE, "node", first_paths, NULL, 0}, {0}};

/* Does a node of libstdc++ store its hash? _Hashtable_traits<cache, …> is the last argument of the table. */
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
	uint64_t word;
	shape->links = hash_links;
	if (xc_view_has(type, "_M_h", &table)) {
		shape->nodes = &xc_view_nodes[keeps_hash(table) ? XC_NODES_HASH_KEPT : XC_NODES_HASH];
		return xc_view_has(table, "_M_element_count", NULL) &&
		       xc_view_place_element(table, "_M_before_begin._M_nxt", xc_view_argument(table, 1), shape);
	}
	if (!xc_view_has(type, "__table_", &table) || !node_at(type, first_paths, shape, &word))
		return false;
	shape->nodes = &xc_view_nodes[XC_NODES_LLVM_HASH];
	shape->element = shape->stored = xc_view_argument(table, 0);
	if (!shape->element || !xc_view_has(shape->node, "__next_", NULL))
		return false;
	shape->offset = xc_view_align(2 * word, shape->element); /* after the link and the hash */
	shape->element = xc_view_pair_of(shape->element);
	return true;
}

static bool open_hash(struct xc_view *view, enum xc_view_kind kind)
{
	uint64_t buckets, bucket_count, word = view->value.process->arch->word;
	view->kind = kind;
	view->numbered = kind == XC_VIEW_LIST;
	if (!xc_view_number_of(&view->value, first_paths, &view->state[0]) ||
	    !xc_view_number_of(&view->value, hash_sizes, &view->count))
		return false;
	if (view->shape->nodes != &xc_view_nodes[XC_NODES_LLVM_HASH]) {
		if (!xc_view_number_of(&view->value, bucket_paths, &buckets) ||
		    !xc_view_number(&view->value, "_M_h._M_bucket_count", &bucket_count))
			return false;
		if (bucket_count == 0 || bucket_count > UINT64_MAX / word ||
		    !xc_view_readable(view, buckets, bucket_count * word))
			return xc_view_invalid(view, "%" PRIu64 " buckets at 0x%" PRIx64, bucket_count, buckets);
	}
	return xc_view_counted_chain_open(view);
}

static bool open_hash_map(struct xc_view *view)
{
	return open_hash(view, XC_VIEW_MAP);
}

static bool open_hash_set(struct xc_view *view)
{
	return open_hash(view, XC_VIEW_LIST);
}

const struct xc_view_hook xc_view_cxx_nodes[] = {
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
