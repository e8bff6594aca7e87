/* view_rust_maps: maps, sets and lists of Rust's library.
 *
 * Layouts of rustc 1.55 to 1.95: hashbrown 0.11 to 0.16 (raw/mod.rs), library/alloc/src/collections/btree/node.rs and
 * linked_list.rs. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "dwarf/value/variant.h"
#include "dwarf/view/view_impl.h"

/* ---- hash tables: SwissTable ----
 *
 *	… | element 1 | element 0 | ctrl 0 | ctrl 1 | … | ctrl mask | the first ctrl bytes again
 *	                            ↑ ctrl
 * A control byte whose highest bit is clear marks an element. Elements are (K, V), or (K, ()) in sets. */

static const char *const table_paths[] = {"base.table", "base.map.table", "map.base.table", "map.table", "table", NULL};

static const struct xc_view_link hash_links[] = {
	{XC_LINK_BUCKETS, "buckets", XC_VIEW_PATHS("ctrl"), XC_VIEW_PATHS("bucket_mask"), 0}, {0}};

/* The RawTable<T> at this path, and its RawTableInner. */
static const struct xc_type *table_at(const struct xc_type *type, const char *path, struct xc_view_shape *shape)
{
	const struct xc_type *table;
	uint64_t inner;
	if (!xc_view_has(type, path, &table) || !xc_view_has(table, "table", &shape->part) ||
	    !xc_view_has(shape->part, "ctrl", NULL) || !xc_view_offset(type, path, &shape->offset) ||
	    !xc_view_offset(table, "table", &inner))
		return NULL;
	shape->offset += inner;
	return table;
}

static bool is_hash(const struct xc_type *type, struct xc_view_shape *shape)
{
	const struct xc_type *table = NULL;
	for (size_t i = 0; table_paths[i] && !table; i++)
		table = table_at(type, table_paths[i], shape);
	shape->links = hash_links;
	shape->number = strstr(shape->title, "HashMap") != NULL;
	shape->element = table ? xc_view_argument(table, 0) : NULL;
	return shape->element && xc_type_size(shape->element, &shape->size);
}

static bool open_hash(struct xc_view *view)
{
	struct xc_value table = xc_view_cast(&view->value, view->shape->part, view->shape->offset), ctrl;
	uint64_t mask, bytes;
	if (!xc_view_number(&table, "bucket_mask", &mask) || !xc_view_number(&table, "items", &view->count) ||
	    !xc_view_part(&table, "ctrl", &ctrl) || !xc_view_unwrap(&ctrl, &ctrl) ||
	    !xc_value_load(&ctrl, &view->state[0]))
		return false;
	view->kind = view->shape->number ? XC_VIEW_MAP : XC_VIEW_LIST;
	view->count_known = true;
	view->state[1] = mask;
	if ((mask & (mask + 1)) != 0 || mask == UINT64_MAX || view->count > mask)
		return mask == 0 && view->count == 0
			       ? true
			       : xc_view_invalid(view, "%" PRIu64 " elements, bucket mask 0x%" PRIx64, view->count,
						 mask);
	if (__builtin_mul_overflow(mask + 1, view->shape->size, &bytes) || bytes > view->state[0] ||
	    !xc_view_readable(view, view->state[0], mask + 1) || !xc_view_readable(view, view->state[0] - bytes, bytes))
		return xc_view_invalid(view, "buckets at 0x%" PRIx64 " cannot be read", view->state[0]);
	return true;
}

/* The index of the first used bucket from `at` on; mask + 1 when there is none. */
static bool find_bucket(struct xc_view *view, uint64_t *at)
{
	uint8_t chunk[256];
	for (unsigned steps = 0; steps < XC_VIEW_STEPS; steps++) {
		uint64_t left = view->state[1] + 1 - *at;
		size_t len = left < sizeof chunk ? (size_t)left : sizeof chunk;
		struct xc_value bytes =
			xc_value_memory(view->value.process, view->shape->element, view->state[0] + *at);
		if (len == 0)
			return true;
		if (!xc_value_peek(&bytes, 0, chunk, len))
			return xc_view_missing(view, "buckets", &bytes);
		for (size_t i = 0; i < len; i++) {
			if (!(chunk[i] & 0x80)) {
				*at += i;
				return true;
			}
		}
		*at += len;
	}
	return xc_view_invalid(view, "too many empty buckets");
}

static bool next_of_hash(struct xc_view *view, struct xc_view_child *child)
{
	uint64_t at = view->state[2];
	if (view->index >= view->count || !find_bucket(view, &at))
		return false;
	if (at > view->state[1])
		return xc_view_invalid(view, "%" PRIu64 " elements of %" PRIu64, view->index, view->count);
	view->state[2] = at + 1;
	struct xc_value pair = xc_value_memory(view->value.process, view->shape->element,
					       view->state[0] - (at + 1) * view->shape->size);
	if (!view->shape->number)
		return xc_view_part(&pair, "__0", &child->value);
	return xc_view_part(&pair, "__0", &child->key) && xc_view_part(&pair, "__1", &child->value);
}

/* ---- LinkedList: nodes {next, prev, element}, null pointers at both ends ---- */

static bool is_list(const struct xc_type *type, struct xc_view_shape *shape)
{
	const struct xc_type *marker, *pointer;
	if (!xc_view_has(type, "head", NULL) || !xc_view_has(type, "len", NULL) ||
	    !xc_view_has(type, "marker", &marker))
		return false;
	pointer = xc_view_argument(marker, 0); /* PhantomData<Box<Node<T>>> */
	if (!pointer || xc_type_strip(pointer)->kind != XC_TYPE_POINTER)
		return false;
	shape->node = xc_view_plain(xc_type_strip(pointer)->target);
	return xc_view_has(shape->node, "next", NULL) && xc_view_has(shape->node, "prev", NULL) &&
	       xc_view_has(shape->node, "element", &shape->element);
}

/* An Option<NonNull<…>> is a pointer, null for None. */
static bool link_of(const struct xc_value *value, const char *name, uint64_t *addr_out)
{
	struct xc_value part;
	if (!xc_view_part(value, name, &part))
		return false;
	part.type = xc_type_pointer(part.type, value->process->arch->word);
	return xc_value_load(&part, addr_out);
}

static bool open_list(struct xc_view *view)
{
	uint64_t prev;
	view->kind = XC_VIEW_LIST;
	view->count_known = true;
	if (!xc_view_number(&view->value, "len", &view->count) || !link_of(&view->value, "head", &view->state[0]))
		return false;
	if ((view->count == 0) != (view->state[0] == 0))
		return xc_view_invalid(view, "%" PRIu64 " elements, but %s first", view->count,
				       view->state[0] ? "a" : "no");
	struct xc_value first = xc_view_node(view, view->state[0]);
	return view->count == 0 || (link_of(&first, "prev", &prev) && prev == 0) ||
	       xc_view_invalid(view, "its first node is not one of its nodes");
}

static bool next_of_list(struct xc_view *view, struct xc_view_child *child)
{
	uint64_t at = view->state[0], prev;
	struct xc_value node = xc_view_node(view, at);
	if (view->index >= view->count)
		return false;
	if (at == 0)
		return xc_view_invalid(view, "%" PRIu64 " nodes of %" PRIu64, view->index, view->count);
	if (!link_of(&node, "prev", &prev) || prev != view->state[1])
		return xc_view_invalid(view, "node 0x%" PRIx64 " does not link back", at);
	view->state[1] = at;
	return link_of(&node, "next", &view->state[0]) && xc_view_part(&node, "element", &child->value);
}

/* ---- BTreeMap ----
 *
 *	LeafNode {parent, keys: [K; 11], vals: [V; 11], parent_idx: u16, len: u16}
 *	InternalNode {data: LeafNode, edges: [_; 12]}
 *
 * All leaves are `height` levels below the root. Back links are checked on the way down. */

enum { NODE, HEIGHT, INDEX, ROOT_HEIGHT, MAX_HEIGHT = 32 };

/* The type and offset of an Option's content: the first field of its variant Some. */
static const struct xc_type *content_of(const struct xc_type *option, uint64_t *offset_out)
{
	const struct xc_variant_part *part = xc_variant_part_of(xc_view_plain(option));
	for (size_t i = 0; part && i < part->count; i++) {
		const struct xc_member *some = part->variants[i].count > 0 ? &part->variants[i].members[0] : NULL;
		size_t count;
		if (!some || !some->name || strcmp(some->name, "Some") != 0)
			continue;
		const struct xc_member *fields = xc_type_members(xc_view_plain(some->type), &count);
		if (count == 0)
			return NULL;
		*offset_out = some->offset + fields[0].offset;
		return fields[0].type;
	}
	return NULL;
}

static bool is_btree(const struct xc_type *type, struct xc_view_shape *shape)
{
	const struct xc_type *map = type, *option, *root, *node;
	shape->number = strstr(shape->title, "BTreeMap") != NULL;
	if ((!shape->number && !xc_view_has(type, "map", &map)) || !xc_view_has(map, "root", &option) ||
	    !xc_view_has(map, "length", NULL))
		return false;
	root = content_of(option, &shape->offset);
	shape->element = xc_view_argument(map, 0);
	if (!root || !shape->element || !xc_view_has(root, "height", NULL) || !xc_view_has(root, "node", &node))
		return false;
	struct xc_value any = {.type = node, .kind = XC_VALUE_BYTES}, pointer;
	if (!xc_view_unwrap(&any, &pointer) || xc_type_strip(pointer.type)->kind != XC_TYPE_POINTER)
		return false;
	shape->node = xc_view_plain(xc_type_strip(pointer.type)->target);
	return xc_view_has(shape->node, "keys", NULL) && xc_view_has(shape->node, "len", NULL) &&
	       xc_view_has(shape->node, "parent_idx", NULL) && xc_type_size(shape->element, &shape->size);
}

/* The type of internal nodes: the target of parent links. */
static const struct xc_type *inner_type(const struct xc_view *view)
{
	const struct xc_type *option, *pointer;
	uint64_t offset;
	if (!xc_view_has(view->shape->node, "parent", &option) || !(pointer = content_of(option, &offset)))
		return NULL;
	return xc_view_argument(pointer, 0);
}

static bool node_length(struct xc_view *view, xc_addr addr, uint64_t *len)
{
	const struct xc_type *keys;
	struct xc_value node = xc_view_node(view, addr);
	if (!xc_view_number(&node, "len", len))
		return xc_view_missing(view, "a node", &node);
	return (xc_view_has(view->shape->node, "keys", &keys) && *len <= xc_type_strip(keys)->count) ||
	       xc_view_invalid(view, "node 0x%" PRIx64 " with %" PRIu64 " keys", addr, *len);
}

/* From an internal node to the first leaf below edge `edge`. */
static bool descend(struct xc_view *view, uint64_t edge)
{
	const struct xc_type *inner = inner_type(view);
	while (view->state[HEIGHT] > 0) {
		struct xc_value node = xc_view_node(view, view->state[NODE]), edges, index;
		uint64_t child, parent, back;
		if (!inner || !xc_view_part(&(struct xc_value){.process = node.process,
							       .type = inner,
							       .kind = XC_VALUE_MEMORY,
							       .addr = node.addr},
					    "edges", &edges))
			return xc_view_invalid(view, "the type of its internal nodes is not known");
		if (!xc_view_word(view, edges.addr + edge * node.process->arch->word, &child))
			return xc_view_missing(view, "a node", &edges);
		struct xc_value below = xc_view_node(view, child);
		if (!link_of(&below, "parent", &parent) || parent != view->state[NODE] ||
		    !xc_view_part(&below, "parent_idx", &index))
			return xc_view_invalid(view, "node 0x%" PRIx64 " does not link back", child);
		index.type = xc_view_argument(index.type, 0) ? xc_view_argument(index.type, 0) : index.type;
		if (!xc_value_load(&index, &back) || back != edge)
			return xc_view_invalid(view, "node 0x%" PRIx64 " does not link back", child);
		view->state[NODE] = child;
		view->state[HEIGHT]--;
		edge = 0;
	}
	view->state[INDEX] = 0;
	return true;
}

static bool open_btree(struct xc_view *view)
{
	struct xc_value map = view->value, root, node;
	const struct xc_type *option;
	uint64_t length, offset;
	if (!view->shape->number && !xc_view_part(&map, "map", &map))
		return false;
	view->kind = view->shape->number ? XC_VIEW_MAP : XC_VIEW_LIST;
	view->count_known = true;
	if (!xc_view_number(&map, "length", &view->count))
		return false;
	if (view->count == 0)
		return true;
	if (!xc_view_part(&map, "root", &root) || !xc_view_has(map.type, "root", &option))
		return false;
	root = xc_view_cast(&root, content_of(option, &offset), view->shape->offset);
	if (!xc_view_number(&root, "height", &view->state[HEIGHT]) || !xc_view_part(&root, "node", &node) ||
	    !xc_view_unwrap(&node, &node) || !xc_value_load(&node, &view->state[NODE]))
		return false;
	if (view->state[HEIGHT] > MAX_HEIGHT)
		return xc_view_invalid(view, "height %" PRIu64, view->state[HEIGHT]);
	view->state[ROOT_HEIGHT] = view->state[HEIGHT];
	return node_length(view, view->state[NODE], &length) && descend(view, 0);
}

/* Up until a node has another key. */
static bool ascend(struct xc_view *view)
{
	uint64_t len;
	while (node_length(view, view->state[NODE], &len) && view->state[INDEX] >= len) {
		struct xc_value node = xc_view_node(view, view->state[NODE]), index;
		if (view->state[HEIGHT] >= view->state[ROOT_HEIGHT])
			return xc_view_invalid(view, "%" PRIu64 " elements of %" PRIu64, view->index, view->count);
		if (!xc_view_part(&node, "parent_idx", &index))
			return false;
		index.type = xc_view_argument(index.type, 0) ? xc_view_argument(index.type, 0) : index.type;
		if (!xc_value_load(&index, &view->state[INDEX]) || !link_of(&node, "parent", &view->state[NODE]))
			return xc_view_missing(view, "a node", &node);
		view->state[HEIGHT]++;
	}
	return !view->why[0];
}

static bool key_and_value(struct xc_view *view, struct xc_view_child *child)
{
	struct xc_value node = xc_view_node(view, view->state[NODE]), keys, values;
	const struct xc_type *value = view->shape->number ? xc_view_argument(view->value.type, 1) : NULL;
	uint64_t size;
	if (!xc_view_part(&node, "keys", &keys))
		return false;
	keys = xc_view_cast(&keys, view->shape->element, view->state[INDEX] * view->shape->size);
	if (!view->shape->number) {
		child->value = keys;
		return true;
	}
	child->key = keys;
	if (!value || !xc_type_size(value, &size) || !xc_view_part(&node, "vals", &values))
		return xc_view_invalid(view, "its values are not known");
	child->value = xc_view_cast(&values, value, view->state[INDEX] * size);
	return true;
}

static bool next_of_btree(struct xc_view *view, struct xc_view_child *child)
{
	if (view->index >= view->count || !ascend(view) || !key_and_value(view, child))
		return false;
	if (view->state[HEIGHT] > 0)
		descend(view, view->state[INDEX] + 1); /* when it fails, the current element is still valid */
	else
		view->state[INDEX]++;
	return true;
}

const struct xc_view_hook xc_view_rust_maps[] = {
	{"std::collections::hash::map::HashMap", is_hash, open_hash, xc_view_summary_with_size, next_of_hash, NULL,
	 NULL},
	{"std::collections::hash::set::HashSet", is_hash, open_hash, xc_view_summary_with_size, next_of_hash, NULL,
	 NULL},
	{"hashbrown::map::HashMap", is_hash, open_hash, xc_view_summary_with_size, next_of_hash, NULL, NULL},
	{"hashbrown::set::HashSet", is_hash, open_hash, xc_view_summary_with_size, next_of_hash, NULL, NULL},
	{"alloc::collections::linked_list::LinkedList", is_list, open_list, xc_view_summary_with_size, next_of_list,
	 NULL, NULL},
	{"alloc::collections::btree::map::BTreeMap", is_btree, open_btree, xc_view_summary_with_size, next_of_btree,
	 NULL, NULL},
	{"alloc::collections::btree::set::BTreeSet", is_btree, open_btree, xc_view_summary_with_size, next_of_btree,
	 NULL, NULL},
	{.name = NULL},
};
