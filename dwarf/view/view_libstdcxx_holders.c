/* view_libstdcxx_holders: smart pointers, tuple, optional, variant and path of the GNU C++ library.
 *
 * Layouts of libstdc++ 4.8 to 14 (bits/unique_ptr.h, shared_ptr_base.h, std_function.h, tuple, optional, variant, any,
 * bits/fs_path.h). */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "dwarf/view/view_impl.h"

enum { MAX_ARGUMENTS = 64 };

/* ---- pointers ---- */

static const char *const unique_paths[] = {"_M_t._M_t.<0>.<1>._M_head_impl", "_M_t._M_t.<0>.<0>._M_head_impl",
					   "_M_t.<0>.<1>._M_head_impl", NULL};

static bool is_unique(const struct xc_type *type, struct xc_view_shape *shape)
{
	shape->element = xc_view_argument(type, 0);
	for (size_t i = 0; unique_paths[i] && shape->element; i++) {
		if (xc_view_has(type, unique_paths[i], NULL))
			return true;
	}
	return false;
}

static bool open_unique(struct xc_view *view)
{
	return xc_view_wrap_pointer(view, unique_paths);
}

static bool is_shared(const struct xc_type *type, struct xc_view_shape *shape)
{
	shape->element = xc_view_argument(type, 0);
	return shape->element && xc_view_has(type, "_M_ptr", NULL) && xc_view_has(type, "_M_refcount._M_pi", NULL);
}

static bool open_shared(struct xc_view *view)
{
	static const char *const paths[] = {"_M_ptr", NULL};
	uint64_t block, use = 0, weak = 0;
	if (!xc_view_wrap_pointer(view, paths) || !xc_view_number(&view->value, "_M_refcount._M_pi", &block))
		return false;
	if (block && (!xc_view_number(&view->value, "_M_refcount._M_pi._M_use_count", &use) ||
		      !xc_view_number(&view->value, "_M_refcount._M_pi._M_weak_count", &weak)))
		return xc_view_invalid(view, "its counts at 0x%" PRIx64 " cannot be read", block);
	return xc_view_counts(view, block, (int64_t)use, (int64_t)weak);
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

/* ---- optional, variant, any ---- */

static const char *const engaged_paths[] = {"_M_payload._M_engaged", "_M_engaged", NULL};
static const char *const payload_paths[] = {"_M_payload._M_payload._M_value", "_M_payload._M_payload", "_M_payload",
					    NULL};

static bool is_optional(const struct xc_type *type, struct xc_view_shape *shape)
{
	shape->element = xc_view_argument(type, 0);
	return shape->element &&
	       (xc_view_has(type, engaged_paths[0], NULL) || xc_view_has(type, engaged_paths[1], NULL));
}

static bool open_optional(struct xc_view *view)
{
	struct xc_value flag, payload;
	uint64_t engaged;
	if (!xc_view_part_of(&view->value, &flag, engaged_paths) || !xc_value_load(&flag, &engaged) ||
	    !xc_view_part_of(&view->value, &payload, payload_paths))
		return false;
	return xc_view_optional(view, engaged, &payload);
}

static bool is_variant(const struct xc_type *type, struct xc_view_shape *shape)
{
	const struct xc_type *index;
	shape->number = xc_view_argument_count(type);
	return xc_view_has(type, "_M_index", &index) && xc_type_size(index, &shape->size) && shape->size <= 8 &&
	       xc_view_has(type, "_M_u", NULL);
}

static bool open_variant(struct xc_view *view)
{
	struct xc_value storage;
	uint64_t index;
	return xc_view_number(&view->value, "_M_index", &index) && xc_view_part(&view->value, "_M_u", &storage) &&
	       xc_view_variant(view, index, &storage);
}

/* ---- filesystem::path ---- */

static bool is_path(const struct xc_type *type, struct xc_view_shape *shape)
{
	return xc_view_has(type, "_M_pathname", &shape->element);
}

static bool open_path(struct xc_view *view)
{
	struct xc_value name;
	if (!xc_view_part(&view->value, "_M_pathname", &name))
		return false;
	enum xc_view_result result = xc_view_become(view, &name, "");
	return result == XC_VIEW_FOUND || xc_view_invalid(view, "its name is not a valid string");
}

const struct xc_view_hook xc_view_libstdcxx_holders[] = {
	{"std::unique_ptr", is_unique, open_unique, xc_view_title_with_element, xc_view_next_get, NULL, NULL},
	{"std::shared_ptr", is_shared, open_shared, xc_view_shared_summary, xc_view_next_get, NULL, NULL},
	{"std::weak_ptr", is_shared, open_shared, xc_view_shared_summary, xc_view_next_get, NULL, NULL},
	{"std::tuple", is_tuple, open_tuple, xc_view_tuple_summary, next_of_tuple, NULL, NULL},
	{"std::optional", is_optional, open_optional, xc_view_optional_summary, NULL, NULL, NULL},
	{"std::variant", is_variant, open_variant, xc_view_variant_summary, xc_view_next_bare, NULL, NULL},
	{"std::filesystem::path", is_path, open_path, NULL, NULL, NULL, NULL},
	{.name = NULL},
};
