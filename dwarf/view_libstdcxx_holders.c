/* view_libstdcxx_holders: what holds one thing, or one of each kind, in the GNU C++ library.
 *
 * Layouts as in libstdc++ 4.8 to 14 (bits/unique_ptr.h, shared_ptr_base.h, std_function.h, tuple, optional, variant, any,
 * bits/fs_path.h). */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "view_impl.h"

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

static bool wrap_pointer(struct xc_view *view, const char *const paths[])
{
	view->kind = XC_VIEW_WRAPPER;
	view->count = 1;
	view->count_known = true;
	return xc_view_part_of(&view->value, &view->part, paths);
}

static bool open_unique(struct xc_view *view)
{
	return wrap_pointer(view, unique_paths);
}

static bool next_get(struct xc_view *view, struct xc_view_child *child)
{
	child->name = "get()";
	child->value = view->part;
	return view->index == 0;
}

static void summary_of_pointer(const struct xc_view *view, struct xc_text *text)
{
	xc_text_printf(text, "%s<", view->shape->title);
	xc_view_type_name(text, view->shape->element);
	xc_text_char(text, '>');
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
	if (!wrap_pointer(view, paths) || !xc_view_number(&view->value, "_M_refcount._M_pi", &block))
		return false;
	if (block && (!xc_view_number(&view->value, "_M_refcount._M_pi._M_use_count", &use) ||
		      !xc_view_number(&view->value, "_M_refcount._M_pi._M_weak_count", &weak)))
		return xc_view_invalid(view, "its counts at 0x%" PRIx64 " cannot be read", block);
	if ((int64_t)use < 0 || (int64_t)weak < (use > 0))
		return block ? xc_view_invalid(view, "use count %" PRId64 ", weak count %" PRId64, (int64_t)use,
					       (int64_t)weak)
			     : true;
	view->state[0] = block;
	view->state[1] = use;
	view->state[2] = weak;
	return true;
}

static void summary_of_shared(const struct xc_view *view, struct xc_text *text)
{
	summary_of_pointer(view, text);
	if (!view->state[0])
		xc_text_add(text, " (empty)");
	else if (view->state[1] == 0)
		xc_text_printf(text, " (expired, weak count %" PRIu64 ")", view->state[2]);
	else /* all owners together hold one weak count */
		xc_text_printf(text, " (use count %" PRIu64 ", weak count %" PRIu64 ")", view->state[1],
			       view->state[2] - 1);
}

/* ---- tuple ----
 *
 * tuple → _Tuple_impl<0> → {_Tuple_impl<1> → …, _Head_base<0>}: each level derives from the rest and from its own element,
 * which is its _M_head_impl or, for an empty class, its base class. */

static bool is_tuple(const struct xc_type *type, struct xc_view_shape *shape)
{
	const struct xc_type *impl;
	shape->number = xc_view_argument_count(type);
	return shape->number == 0 ||
	       (xc_view_has(type, "<0>", &impl) && impl->name && strstr(impl->name, "_Tuple_impl"));
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
		return xc_view_invalid(view, "its bases are others than expected");
	if (!last)
		xc_view_part(&view->part, "<0>", &view->part);
	if (!xc_view_part(&head, "_M_head_impl", &child->value) && !xc_view_part(&head, "<0>", &child->value))
		return xc_view_invalid(view, "its bases are others than expected");
	snprintf(child->number, sizeof child->number, "[%" PRIu64 "]", view->index + 1);
	child->name = child->number;
	return true;
}

static void summary_of_tuple(const struct xc_view *view, struct xc_text *text)
{
	if (view->count == 0)
		xc_text_printf(text, "empty %s", view->shape->title);
	else
		xc_text_printf(text, "%s containing", view->shape->title);
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

static void title_with_element(const struct xc_view *view, struct xc_text *text)
{
	xc_text_printf(text, "%s<", view->shape->title);
	xc_view_type_name(text, view->shape->element);
	xc_text_char(text, '>');
}

static bool open_optional(struct xc_view *view)
{
	struct xc_value flag, payload;
	struct xc_text title = {0};
	uint64_t engaged;
	if (!xc_view_part_of(&view->value, &flag, engaged_paths) || !xc_value_load(&flag, &engaged))
		return false;
	if (engaged > 1)
		return xc_view_invalid(view, "%" PRIu64 " where it says whether it is empty", engaged);
	view->kind = XC_VIEW_EMPTY;
	if (!engaged)
		return true;
	if (!xc_view_part_of(&view->value, &payload, payload_paths))
		return false;
	payload = xc_view_cast(&payload, view->shape->element, 0);
	title_with_element(view, &title);
	bool wrapped = xc_view_wrap(view, &payload, xc_text_string(&title));
	xc_text_fini(&title);
	return wrapped;
}

static void summary_of_optional(const struct xc_view *view, struct xc_text *text)
{
	title_with_element(view, text);
	if (view->kind == XC_VIEW_EMPTY)
		xc_text_add(text, " [no contained value]");
}

static bool is_variant(const struct xc_type *type, struct xc_view_shape *shape)
{
	const struct xc_type *index;
	shape->number = xc_view_argument_count(type);
	return xc_view_has(type, "_M_index", &index) && xc_type_size(index, &shape->size) && shape->size <= 8 &&
	       xc_view_has(type, "_M_u", NULL);
}

static void title_with_arguments(const struct xc_view *view, struct xc_text *text)
{
	xc_text_printf(text, "%s<", view->shape->title);
	for (size_t i = 0; i < view->shape->number && i < MAX_ARGUMENTS; i++) {
		const struct xc_type *one = xc_view_argument(view->value.type, i);
		xc_text_add(text, i ? ", " : "");
		if (one)
			xc_view_type_name(text, one);
	}
	xc_text_char(text, '>');
}

static bool open_variant(struct xc_view *view)
{
	struct xc_value storage;
	struct xc_text title = {0};
	uint64_t index, none = UINT64_MAX >> (64 - 8 * view->shape->size);
	if (!xc_view_number(&view->value, "_M_index", &index) || !xc_view_part(&view->value, "_M_u", &storage))
		return false;
	index &= none;
	view->kind = XC_VIEW_EMPTY;
	if (index == none)
		return true;
	const struct xc_type *type = xc_view_argument(view->value.type, index);
	if (index >= view->shape->number || !type)
		return xc_view_invalid(view, "index %" PRIu64 " of %" PRIu64, index, view->shape->number);
	storage = xc_view_cast(&storage, type, 0);
	view->state[0] = index;
	title_with_arguments(view, &title);
	xc_text_printf(&title, " [index %" PRIu64 "]", index);
	bool wrapped = xc_view_wrap(view, &storage, xc_text_string(&title));
	xc_text_fini(&title);
	return wrapped;
}

static void summary_of_variant(const struct xc_view *view, struct xc_text *text)
{
	title_with_arguments(view, text);
	if (view->kind == XC_VIEW_EMPTY)
		xc_text_add(text, " [no contained value]");
	else
		xc_text_printf(text, " [index %" PRIu64 "]", view->state[0]);
}

static bool next_bare(struct xc_view *view, struct xc_view_child *child)
{
	child->value = view->part;
	return view->index == 0;
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
	return result == XC_VIEW_FOUND || xc_view_invalid(view, "its name is no valid string");
}

const struct xc_view_hook xc_view_libstdcxx_holders[] = {
	{"std::unique_ptr", is_unique, open_unique, summary_of_pointer, next_get, NULL, NULL},
	{"std::shared_ptr", is_shared, open_shared, summary_of_shared, next_get, NULL, NULL},
	{"std::weak_ptr", is_shared, open_shared, summary_of_shared, next_get, NULL, NULL},
	{"std::tuple", is_tuple, open_tuple, summary_of_tuple, next_of_tuple, NULL, NULL},
	{"std::optional", is_optional, open_optional, summary_of_optional, NULL, NULL, NULL},
	{"std::variant", is_variant, open_variant, summary_of_variant, next_bare, NULL, NULL},
	{"std::filesystem::path", is_path, open_path, NULL, NULL, NULL, NULL},
	{.name = NULL},
};
