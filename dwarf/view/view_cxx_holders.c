/* view_cxx_holders: smart pointers, optional, variant and path of C++ libraries, which differ in the names of members
 * only; and the tuple of libstdc++.
 *
 * Layouts of libstdc++ 4.8 to 14 (bits/unique_ptr.h, shared_ptr_base.h, tuple, optional, variant, bits/fs_path.h) and
 * libc++ 7 to 20 (headers memory, optional, variant, filesystem). */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "dwarf/view/view_impl.h"

enum { MAX_ARGUMENTS = 64 };

/* ---- pointers ---- */

static const char *const unique_paths[] = {"_M_t._M_t.<0>.<1>._M_head_impl",
					   "_M_t._M_t.<0>.<0>._M_head_impl",
					   "_M_t.<0>.<1>._M_head_impl",
					   "__ptr_.__value_",
					   "__ptr_",
					   NULL};
static const struct xc_view_link unique_links[] = {{XC_LINK_OWNED, "elements", unique_paths, NULL, 0}, {0}};

static bool is_unique(const struct xc_type *type, struct xc_view_shape *shape)
{
	shape->links = unique_links;
	shape->element = xc_view_argument(type, 0);
	return shape->element && xc_view_has_of(type, unique_paths, NULL);
}

static bool open_unique(struct xc_view *view)
{
	return xc_view_wrap_pointer(view, unique_paths);
}

static const char *const shared_paths[] = {"_M_ptr", "__ptr_", NULL};
static const char *const control_paths[] = {"_M_refcount._M_pi", "__cntrl_", NULL};
static const struct xc_view_link shared_links[] = {{XC_LINK_OBJECT, "object", shared_paths, NULL, 0}, {0}};

static bool is_shared(const struct xc_type *type, struct xc_view_shape *shape)
{
	shape->links = shared_links;
	shape->element = xc_view_argument(type, 0);
	shape->number = xc_view_has(type, "__cntrl_", NULL); /* counts are stored minus one */
	return shape->element && xc_view_has_of(type, shared_paths, NULL) && xc_view_has_of(type, control_paths, NULL);
}

static bool open_shared(struct xc_view *view)
{
	static const char *const counts[][2] = {{"_M_use_count", "_M_weak_count"},
						{"__shared_owners_", "__shared_weak_owners_"}};
	const char *const *names = counts[view->shape->number];
	struct xc_value control;
	const uint64_t less = view->shape->number; /* libc++ counts from -1 */
	uint64_t block, use = -less, weak = use;
	if (!xc_view_wrap_pointer(view, shared_paths) || !xc_view_part_of(&view->value, &control, control_paths) ||
	    !xc_value_load(&control, &block))
		return false;
	if (block && (!xc_view_number(&control, names[0], &use) || !xc_view_number(&control, names[1], &weak)))
		return xc_view_invalid(view, "its counts at 0x%" PRIx64 " cannot be read", block);
	return xc_view_counts(view, block, (int64_t)(use + less), (int64_t)(weak + less));
}

/* ---- tuple ----
 *
 * tuple → _Tuple_impl<0> → {_Tuple_impl<1> → …, _Head_base<0>}: each level derives from the rest and from its own
 * element, which is its _M_head_impl or, for an empty class, its base class. */

/* A tuple's DIE by gcc has no template arguments: the levels are counted. */
static bool is_tuple(const struct xc_type *type, struct xc_view_shape *shape)
{
	const struct xc_type *level;
	size_t members;
	if (!xc_view_has(type, "<0>", &level))
		return xc_type_members(type, &members) == NULL || members == 0;
	if (!level->name || !strstr(level->name, "_Tuple_impl<"))
		return false;
	for (shape->number = 1; shape->number < MAX_ARGUMENTS && xc_view_has(level, "<1>", NULL); shape->number++) {
		if (!xc_view_has(level, "<0>", &level))
			return false;
	}
	return true;
}

static bool open_tuple(struct xc_view *view)
{
	view->kind = XC_VIEW_RECORD;
	view->count = view->shape->number;
	view->count_known = true;
	return view->shape->number == 0 || xc_view_part(&view->value, "<0>", &view->part);
}

static bool next_of_tuple(struct xc_view *view, struct xc_view_child *child)
{
	struct xc_value head;
	if (view->index >= view->count)
		return false;
	bool last = !xc_view_part(&view->part, "<1>", &head);
	if (last && !xc_view_part(&view->part, "<0>", &head))
		return xc_view_invalid(view, "its base classes are not the expected ones");
	if (!last)
		xc_view_part(&view->part, "<0>", &view->part);
	if (!xc_view_part(&head, "_M_head_impl", &child->value) && !xc_view_part(&head, "<0>", &child->value))
		return xc_view_invalid(view, "its base classes are not the expected ones");
	snprintf(child->number, sizeof child->number, "[%" PRIu64 "]", view->index + 1);
	child->name = child->number;
	return true;
}

/* ---- optional, variant ---- */

static const char *const engaged_paths[] = {"_M_payload._M_engaged", "_M_engaged", "__engaged_", NULL};
static const char *const payload_paths[] = {"_M_payload._M_payload._M_value", "_M_payload._M_payload", "_M_payload",
					    "__val_", NULL};
static const struct xc_view_link optional_links[] = {{XC_LINK_VALUE, "", payload_paths, engaged_paths, 0}, {0}};

static bool is_optional(const struct xc_type *type, struct xc_view_shape *shape)
{
	shape->links = optional_links;
	shape->element = xc_view_argument(type, 0);
	return shape->element && xc_view_has_of(type, engaged_paths, NULL);
}

static bool open_optional(struct xc_view *view)
{
	struct xc_value payload;
	uint64_t engaged;
	return xc_view_number_of(&view->value, engaged_paths, &engaged) &&
	       xc_view_part_of(&view->value, &payload, payload_paths) && xc_view_optional(view, engaged, &payload);
}

/* All alternatives begin at the start of the union. */
static const char *const index_paths[] = {"_M_index", "__impl_.__index", "__impl.__index", NULL};
static const char *const union_paths[] = {"_M_u", "__impl_.__data", "__impl.__data", NULL};
static const struct xc_view_link variant_links[] = {{XC_LINK_VARIANT, "", union_paths, index_paths, 0}, {0}};

static bool is_variant(const struct xc_type *type, struct xc_view_shape *shape)
{
	const struct xc_type *index;
	shape->links = variant_links;
	shape->number = xc_view_argument_count(type);
	return xc_view_has_of(type, index_paths, &index) && xc_type_size(index, &shape->size) && shape->size > 0 &&
	       shape->size <= 8 && xc_view_has_of(type, union_paths, NULL);
}

static bool open_variant(struct xc_view *view)
{
	struct xc_value storage;
	uint64_t index;
	return xc_view_number_of(&view->value, index_paths, &index) &&
	       xc_view_part_of(&view->value, &storage, union_paths) && xc_view_variant(view, index, &storage);
}

/* ---- filesystem::path ---- */

static const char *const name_paths[] = {"_M_pathname", "__pn_", NULL};

static bool is_path(const struct xc_type *type, struct xc_view_shape *shape)
{
	return xc_view_has_of(type, name_paths, &shape->element);
}

static bool open_path(struct xc_view *view)
{
	struct xc_value name;
	return xc_view_part_of(&view->value, &name, name_paths) &&
	       (xc_view_become(view, &name, "") == XC_VIEW_FOUND ||
		xc_view_invalid(view, "its name is not a valid string"));
}

const struct xc_view_hook xc_view_cxx_holders[] = {
	{"std::unique_ptr", is_unique, open_unique, xc_view_title_with_element, xc_view_next_get, NULL, NULL},
	{"std::shared_ptr", is_shared, open_shared, xc_view_shared_summary, xc_view_next_get, NULL, NULL},
	{"std::weak_ptr", is_shared, open_shared, xc_view_shared_summary, xc_view_next_get, NULL, NULL},
	{"std::tuple", is_tuple, open_tuple, xc_view_tuple_summary, next_of_tuple, NULL, NULL},
	{"std::optional", is_optional, open_optional, xc_view_optional_summary, NULL, NULL, NULL},
	{"std::variant", is_variant, open_variant, xc_view_variant_summary, xc_view_next_bare, NULL, NULL},
	{"std::filesystem::path", is_path, open_path, NULL, NULL, NULL, NULL},
	{"std::__fs::filesystem::path", is_path, open_path, NULL, NULL, NULL, NULL},
	{.name = NULL},
};
