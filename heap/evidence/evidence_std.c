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

/* A node that was proposed for a container. Its type may come from debug information or be made by nodetype. */
static bool make_node(struct xc_recipe_maker *m)
{
	const struct xc_type *content, *made;
	uint64_t offset;
	const struct xc_view_nodes *nodes = xc_view_nodes_of(m->type, &content, &offset);
	if (!nodes)
		return false;
	if ((made = xc_nodetype_value(m->type, &offset)))
		content = made;
	const struct xc_typed self = {
		.type = m->type, .shape = XC_TYPED_ONE, .confidence = XC_TYPE_STRONG, .via = "next node"};
	uint32_t item = xc_typing_item(m->typing, &self);
	for (size_t i = 0; i < XC_COUNT(nodes->links) && nodes->links[i]; i++)
		xc_recipe_point_at(m, nodes->at[i], item);
	xc_recipe_look(m, offset, content);
	return true;
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
