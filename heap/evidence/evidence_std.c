/* evidence_std: the containers of the GNU and LLVM C++ libraries, and the memory behind them.
 *
 * A container's recipe leads to its first nodes or its buffers, a node's recipe to the next nodes and its value.
 * Members are found by name, as in the views (dwarf/view/view_libstdcxx*.c, view_libcxx*.c), whose shapes give the
 * elements; the layouts are described there. A link back to the container leads to no block's beginning, or to a
 * block that is the container: then the container's own type explains as much and came first. */
#include <string.h>

#include "dwarf/view/view.h"
#include "dwarf/view/view_part.h"
#include "heap/evidence/evidence_list.h"
#include "heap/evidence/nodetype.h"
#include "heap/evidence/recipe.h"

enum { WORD = 8 };

static uint32_t array_item(struct xc_recipe_maker *maker, const struct xc_type *element, const char *what)
{
	return xc_recipe_item(maker, element, XC_TYPED_ARRAY, 0, what);
}

static const struct xc_type *pointer_to(const struct xc_recipe_maker *maker, const struct xc_type *type)
{
	return xc_type_pointer(type, maker->process->arch->word);
}

/* ---- nodes ---- */

static uint32_t node_item(struct xc_recipe_maker *m, const char *head, const char *tail, const struct xc_type *element,
			  uint64_t behind)
{
	const struct xc_nodetype node = {.head = head,
					 .tail = tail,
					 .element = element,
					 .value = m->shape->element,
					 .offset = m->shape->offset,
					 .behind = behind};
	const struct xc_type *type = element ? xc_nodetype(m->typing, &node) : NULL;
	return xc_recipe_item(m, type, XC_TYPED_ONE, 0, "node");
}

static void make_list(struct xc_recipe_maker *m)
{
	if (xc_view_has(m->type, "__end_.__next_", NULL)) {
		uint32_t node = node_item(m, "std::__1::__list_node", ", void *", m->shape->element, 0);
		xc_recipe_point(m, "__end_.__next_", node);
		xc_recipe_point(m, "__end_.__prev_", node);
		return;
	}
	uint32_t node = node_item(m, "std::_List_node", "", m->shape->element, 0);
	xc_recipe_point(m, "_M_impl._M_node._M_next", node);
	xc_recipe_point(m, "_M_impl._M_node._M_prev", node);
}

static void make_forward_list(struct xc_recipe_maker *m)
{
	static const char *const first[] = {"__before_begin_.__value_.__next_", "__before_begin_.__next_", NULL};
	if (!xc_recipe_point(m, "_M_impl._M_head._M_next",
			     node_item(m, "std::_Fwd_list_node", "", m->shape->element, 0)))
		xc_recipe_point_of(m, first,
				   node_item(m, "std::__1::__forward_list_node", ", void *", m->shape->element, 0));
}

static void make_tree(struct xc_recipe_maker *m)
{
	static const char *const roots[] = {"__tree_.__pair1_.__value_.__left_", "__tree_.__end_node_.__left_", NULL};
	const struct xc_type *tree;
	if (xc_view_has(m->type, "__tree_", &tree))
		xc_recipe_point_of(m, roots,
				   node_item(m, "std::__1::__tree_node", ", void *", xc_view_argument(tree, 0), 0));
	else
		xc_recipe_point(m, "_M_t._M_impl._M_header._M_parent",
				node_item(m, "std::_Rb_tree_node", "", m->shape->element, 0));
}

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

static void make_hash(struct xc_recipe_maker *m)
{
	static const char *const first[] = {"__table_.__p1_.__value_.__next_", "__table_.__first_node_.__next_", NULL};
	static const char *const buckets[] = {"_M_h._M_buckets", "__table_.__bucket_list_.__ptr_.__value_",
					      "__table_.__bucket_list_.__ptr_", NULL};
	const struct xc_type *table, *link;
	for (size_t i = 0; buckets[i]; i++) {
		if (!xc_view_has(m->type, buckets[i], &link) || xc_type_strip(link)->kind != XC_TYPE_POINTER)
			continue;
		link = xc_type_strip(xc_type_strip(link)->target);
		if (link->kind == XC_TYPE_POINTER) /* by the name of the class, not of a typedef */
			link = pointer_to(m, xc_type_strip(link->target));
		xc_recipe_point(m, buckets[i], array_item(m, link, "buckets"));
	}
	if (xc_view_has(m->type, "__table_", &table)) {
		xc_recipe_point_of(m, first,
				   node_item(m, "std::__1::__hash_node", ", void *", xc_view_argument(table, 0), 0));
		return;
	}
	bool kept = xc_view_has(m->type, "_M_h", &table) && keeps_hash(table);
	xc_recipe_point(m, "_M_h._M_before_begin._M_nxt",
			node_item(m, "std::__detail::_Hash_node", kept ? ", true" : ", false", m->shape->element,
				  kept ? WORD : 0));
}

/* ---- holders ---- */

static void make_shared(struct xc_recipe_maker *m)
{
	static const char *const pointers[] = {"_M_ptr", "__ptr_", NULL};
	const struct xc_type *element = xc_type_strip(m->shape->element);
	bool array = element->kind == XC_TYPE_ARRAY;
	xc_recipe_point_of(m, pointers,
			   xc_recipe_item(m, array ? element->target : m->shape->element,
					  array ? XC_TYPED_ARRAY : XC_TYPED_ONE, 0, "object"));
}

/* Only for arrays: a pointer to one object is an ordinary pointer. Elements with a destructor follow their number. */
static void make_unique(struct xc_recipe_maker *m)
{
	static const char *const pointers[] = {"_M_t._M_t.<0>.<1>._M_head_impl",
					       "_M_t._M_t.<0>.<0>._M_head_impl",
					       "_M_t.<0>.<1>._M_head_impl",
					       "__ptr_.__value_",
					       "__ptr_",
					       NULL};
	const struct xc_type *element = xc_type_strip(m->shape->element);
	if (element->kind != XC_TYPE_ARRAY)
		return;
	xc_recipe_point_of(m, pointers, xc_recipe_item(m, element->target, XC_TYPED_ARRAY, 0, "elements"));
	xc_recipe_point_of(m, pointers, xc_recipe_item(m, element->target, XC_TYPED_ARRAY, WORD, "elements"));
}

static bool offset_of(const struct xc_type *type, const char *const paths[], uint64_t *offset_out)
{
	for (size_t i = 0; paths[i]; i++) {
		if (xc_view_offset(type, paths[i], offset_out))
			return true;
	}
	return false;
}

static void make_optional(struct xc_recipe_maker *m)
{
	static const char *const flags[] = {"_M_payload._M_engaged", "_M_engaged", "__engaged_", NULL};
	static const char *const payloads[] = {"_M_payload._M_payload._M_value", "_M_payload._M_payload", "_M_payload",
					       "__val_", NULL};
	uint64_t flag, payload;
	if (offset_of(m->type, flags, &flag) && offset_of(m->type, payloads, &payload) &&
	    xc_recipe_look(m, payload, m->shape->element))
		xc_recipe_when(m, flag, 1, 1, 1);
}

static void make_variant(struct xc_recipe_maker *m)
{
	static const char *const indexes[] = {"_M_index", "__impl_.__index", "__impl.__index", NULL};
	static const char *const unions[] = {"_M_u", "__impl_.__data", "__impl.__data", NULL};
	uint64_t index, at;
	if (!offset_of(m->type, indexes, &index) || !offset_of(m->type, unions, &at))
		return;
	for (size_t i = 0; i < m->shape->number && i < XC_RECIPE_STEPS; i++) {
		if (xc_recipe_look(m, at, xc_view_argument(m->type, i)))
			xc_recipe_when(m, index, m->shape->size, i, i);
	}
}

/* ---- nodes and raw bytes ---- */

/* A node that was proposed above. Its type may come from debug information or be made here. */
static bool make_node(struct xc_recipe_maker *m)
{
	static const char *const gnu[] = {"std::_Rb_tree_node<", "std::_List_node<", "std::_Fwd_list_node<",
					  "std::__detail::_Hash_node<"};
	static const uint8_t gnu_links[][3] = {{8, 16, 24}, {0, 8, 0}, {0, 0, 0}, {0, 0, 0}};
	static const char *const llvm[] = {"std::__1::__tree_node<", "std::__1::__list_node<",
					   "std::__1::__forward_list_node<", "std::__1::__hash_node<"};
	static const uint8_t llvm_links[][3] = {{0, 8, 16}, {0, 8, 0}, {0, 0, 0}, {0, 0, 0}};
	static const uint8_t heads[2][4] = {{32, 16, 8, 8}, {25, 16, 8, 16}};
	for (unsigned i = 0; i < 8; i++) {
		bool is_llvm = i >= 4;
		if (!xc_begins_with(m->type->name, is_llvm ? llvm[i - 4] : gnu[i]))
			continue;
		const uint8_t *links = is_llvm ? llvm_links[i - 4] : gnu_links[i];
		uint64_t offset = 0;
		const struct xc_type *value = xc_nodetype_value(m->type, &offset), *inner;
		if (!value) {
			value = xc_view_argument(m->type, 0);
			if (value && (xc_view_has(value, "__cc", &inner) || xc_view_has(value, "__cc_", &inner)))
				value = inner;
			offset = value ? xc_view_align(heads[is_llvm][i % 4], value) : 0;
		}
		const struct xc_typed self = {
			.type = m->type, .shape = XC_TYPED_ONE, .confidence = XC_TYPE_STRONG, .via = "next node"};
		uint32_t item = xc_typing_item(m->typing, &self);
		for (unsigned k = 0; k < 3 && item; k++) {
			if (k == 0 || links[k])
				xc_recipe_point_at(m, links[k], item);
		}
		xc_recipe_look(m, offset, value);
		return true;
	}
	return false;
}

/* Raw bytes for an object of the template's argument: in nodes always, in the block of make_shared while it has
 * owners. */
static bool make_buffer(struct xc_recipe_maker *m)
{
	static const char *const storages[] = {"_M_impl._M_storage", "__storage_", "__data_.__value_", NULL};
	static const char *const counts[] = {"_M_use_count", "__shared_owners_", NULL};
	const struct xc_type *content = xc_view_argument(m->type, 0);
	uint64_t at, count;
	if (xc_begins_with(m->type->name, "__gnu_cxx::__aligned_"))
		return xc_recipe_look(m, 0, content);
	bool gnu = xc_begins_with(m->type->name, "std::_Sp_counted_ptr_inplace<");
	if (!gnu && !xc_begins_with(m->type->name, "std::__1::__shared_ptr_emplace<"))
		return false;
	if (!offset_of(m->type, counts, &count))
		count = WORD; /* after the vptr: clang leaves the base class to the library's debug information */
	uint64_t none = gnu ? 0 : UINT64_MAX; /* owners; LLVM stores the number minus one */
	if (offset_of(m->type, storages, &at) && xc_recipe_look(m, at, content))
		xc_recipe_unless(m, count, gnu ? 4 : WORD, none, none);
	return true;
}

/* ---- the source of evidence ---- */

static const struct {
	const char *name; /* of a view's hook */
	void (*make)(struct xc_recipe_maker *maker);
} makers[] = {
	{"std::list", make_list},
	{"std::forward_list", make_forward_list},
	{"std::map", make_tree},
	{"std::multimap", make_tree},
	{"std::set", make_tree},
	{"std::multiset", make_tree},
	{"std::unordered_map", make_hash},
	{"std::unordered_multimap", make_hash},
	{"std::unordered_set", make_hash},
	{"std::unordered_multiset", make_hash},
	{"std::shared_ptr", make_shared},
	{"std::weak_ptr", make_shared},
	{"std::unique_ptr", make_unique},
	{"std::optional", make_optional},
	{"std::variant", make_variant},
};

static void make(struct xc_recipe_maker *maker)
{
	const struct xc_view_hook *hook = maker->shape->hook;
	xc_recipe_links(maker);
	for (size_t i = 0; hook && i < XC_COUNT(makers); i++) {
		if (strcmp(hook->name, makers[i].name) == 0) {
			makers[i].make(maker);
			return;
		}
	}
	if (!hook && !make_node(maker))
		make_buffer(maker);
}

static const void *meet(struct xc_typing *typing, const struct xc_type *type, bool *only_out)
{
	const struct xc_process *process = typing->heap->process;
	if (!type->name || type->is_c || type->is_rust || process->arch->word != WORD)
		return NULL;
	struct xc_recipe_maker maker = {.typing = typing, .process = process, .type = type};
	maker.shape = xc_view_shape_of(process, type);
	make(&maker);
	const struct xc_recipe *recipe = xc_recipe_made(&maker);
	*only_out |= recipe != NULL;
	return recipe;
}

/* The links of nodes, without the element. */
static bool part(const struct xc_type *type)
{
	static const char *const links[] = {"std::_Rb_tree_node_base",         "std::__detail::_List_node_base",
					    "std::__detail::_Hash_node_base",  "std::_Fwd_list_node_base",
					    "std::__1::__tree_node_base<",     "std::__1::__tree_end_node<",
					    "std::__1::__list_node_base<",     "std::__1::__hash_node_base<",
					    "std::__1::__forward_begin_node<", "std::_Sp_counted_base<"};
	for (size_t i = 0; i < XC_COUNT(links) && type->name && !type->is_c; i++) {
		if (xc_begins_with(type->name, links[i]))
			return true;
	}
	return false;
}

const struct xc_evidence xc_evidence_std = {
	.name = "containers of C++", .meet = meet, .visit = xc_recipe_follow, .part = part};
