/* view_go: strings and slices of Go, which have a length and no NUL at the end. */
#include <inttypes.h>

#include "dwarf/view/view_impl.h"

/* ---- strings: {str, len} ---- */

static bool is_string(const struct xc_type *type, struct xc_view_shape *shape)
{
	return type->is_go && xc_view_points_at(type, "str", shape) && xc_view_has(type, "len", NULL);
}

static bool open_string(struct xc_view *view)
{
	uint64_t data, len;
	return xc_view_number(&view->value, "str", &data) && xc_view_number(&view->value, "len", &len) &&
	       xc_view_characters(view, data, len);
}

/* ---- slices: {array, len, cap} ---- */

static bool is_slice(const struct xc_type *type, struct xc_view_shape *shape)
{
	return type->is_go && xc_view_points_at(type, "array", shape) && xc_view_has(type, "len", NULL) &&
	       xc_view_has(type, "cap", NULL) && xc_type_size(shape->element, &shape->size);
}

static bool open_slice(struct xc_view *view)
{
	uint64_t data, len, cap;
	if (!xc_view_number(&view->value, "array", &data) || !xc_view_number(&view->value, "len", &len) ||
	    !xc_view_number(&view->value, "cap", &cap))
		return false;
	view->state[0] = cap;
	view->state[1] = data;
	if (len > cap)
		return xc_view_invalid(view, "length %" PRIu64 " above its capacity %" PRIu64, len, cap);
	return xc_view_counted(view, data, len);
}

static void summary_of_slice(const struct xc_view *view, struct xc_text *text)
{
	if (view->state[1])
		xc_view_summary_with_capacity(view, text);
	else
		xc_text_add(text, "nil");
}

const struct xc_view_hook xc_view_go[] = {
	{"string", is_string, open_string, NULL, NULL, NULL, NULL},
	{"[]*", is_slice, open_slice, summary_of_slice, NULL, NULL, NULL},
	{0},
};
