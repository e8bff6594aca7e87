/* evidence_std: the containers of the GNU and LLVM C++ libraries, and the memory behind them.
 *
 * A container's recipe leads to its first nodes or its buffers: the links that its view publishes (dwarf/view/view.h).
 * A node's recipe leads to the next nodes and its value. A link back to the container leads to no block's beginning,
 * or to a block that is the container: then the container's own type explains as much and came first. */
#include <string.h>

#include "dwarf/view/view.h"
#include "dwarf/view/view_part.h"
#include "heap/evidence/evidence_list.h"
#include "heap/evidence/nodetype.h"
#include "heap/evidence/recipe.h"

enum { WORD = 8 };

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
	if (!xc_view_offset_of(m->type, counts, &count))
		count = WORD; /* after the vptr: clang leaves the base class to the library's debug information */
	uint64_t none = gnu ? 0 : UINT64_MAX; /* owners; LLVM stores the number minus one */
	if (xc_view_offset_of(m->type, storages, &at) && xc_recipe_look(m, at, content))
		xc_recipe_unless(m, count, gnu ? 4 : WORD, none, none);
	return true;
}

/* A vector of either library. */
static void add_room(struct xc_recipe_maker *m)
{
	static const char *const begins[] = {"_M_impl._M_start", "__begin_", NULL};
	static const char *const ends[] = {"_M_impl._M_finish", "__end_", NULL};
	static const char *const rooms[] = {"_M_impl._M_end_of_storage", "__end_cap_.__value_", "__cap_", "__end_cap_",
					    NULL};
	uint64_t begin, end, room;
	if (m->shape->hook && strcmp(m->shape->title, "std::vector") == 0 &&
	    xc_view_offset_of(m->type, begins, &begin) && xc_view_offset_of(m->type, ends, &end) &&
	    xc_view_offset_of(m->type, rooms, &room))
		xc_recipe_room(m, begin, end, room);
}

/* A deque of the GNU library: what was popped is left in its first node, before the elements, and in its last one,
 * behind them; its map was never written outside of the nodes. */
static void add_ends(struct xc_recipe_maker *m)
{
	static const char *const map_paths[] = {"_M_impl._M_map", NULL};
	static const char *const paths[][4] = {{"_M_impl._M_start._M_cur", "_M_impl._M_start._M_first",
						"_M_impl._M_start._M_last", "_M_impl._M_start._M_node"},
					       {"_M_impl._M_finish._M_cur", "_M_impl._M_finish._M_first",
						"_M_impl._M_finish._M_last", "_M_impl._M_finish._M_node"}};
	uint64_t map, at[2][4];
	if (!m->shape->hook || strcmp(m->shape->title, "std::deque") != 0 ||
	    !xc_view_offset_of(m->type, map_paths, &map))
		return;
	for (size_t i = 0; i < 8; i++) {
		const char *const path[] = {paths[i / 4][i % 4], NULL};
		if (!xc_view_offset_of(m->type, path, &at[i / 4][i % 4]) ||
		    at[i / 4][i % 4] != at[i / 4][0] + i % 4 * WORD)
			return;
	}
	xc_recipe_ends(m, map, at[0][0], at[1][0]);
}

/* ---- the source of evidence ---- */

static const void *meet(struct xc_typing *typing, const struct xc_type *type, bool *only_out)
{
	const struct xc_process *process = typing->heap->process;
	if (!type->name || type->is_c || type->is_rust || process->arch->word != WORD)
		return NULL;
	struct xc_recipe_maker maker = {.typing = typing, .process = process, .type = type};
	maker.shape = xc_view_shape_of(process, type);
	xc_recipe_links(&maker);
	add_room(&maker);
	add_ends(&maker);
	if (!maker.shape->hook && !make_node(&maker))
		make_buffer(&maker);
	return xc_recipe_made(&maker, only_out);
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

const struct xc_evidence xc_evidence_std = {.name = "containers of C++",
					    .meet = meet,
					    .visit = xc_recipe_follow,
					    .part = part,
					    .says_stale = xc_recipe_says_stale};
