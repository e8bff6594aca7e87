/* view_common: functions for hooks of several libraries. */
#include <inttypes.h>
#include <string.h>

#include "dwarf/view/view_impl.h"

enum { MAX_ARGUMENTS = 64 };

bool xc_view_points_at(const struct xc_type *type, const char *path, struct xc_view_shape *shape)
{
	const struct xc_type *pointer;
	if (!xc_view_has(type, path, &pointer) || xc_type_strip(pointer)->kind != XC_TYPE_POINTER)
		return false;
	shape->element = xc_type_strip(pointer)->target;
	return true;
}

void xc_view_with_elements(const struct xc_view *view, struct xc_text *text)
{
	xc_text_printf(text, "%s with %" PRIu64 " element%s", view->shape->title, view->count,
		       view->count == 1 ? "" : "s");
}

void xc_view_no_summary(const struct xc_view *view, struct xc_text *text)
{
	(void)view;
	(void)text;
}

const char *xc_view_last_name(const struct xc_view *view)
{
	const char *colon = strrchr(view->shape->title, ':');
	return colon ? colon + 1 : view->shape->title;
}

void xc_view_summary_with_size(const struct xc_view *view, struct xc_text *text)
{
	xc_text_printf(text, "%s(size=%" PRIu64 ")", xc_view_last_name(view), view->count);
}

void xc_view_summary_with_capacity(const struct xc_view *view, struct xc_text *text)
{
	xc_text_printf(text, "%s of length %" PRIu64 ", capacity %" PRIu64, view->shape->title, view->count,
		       view->state[0]);
}

void xc_view_bits_summary(const struct xc_view *view, struct xc_text *text)
{
	xc_text_printf(text, "%s<bool> of length %" PRIu64 ", capacity %" PRIu64, view->shape->title, view->count,
		       view->state[0]);
}

void xc_view_tuple_summary(const struct xc_view *view, struct xc_text *text)
{
	xc_text_printf(text, view->count ? "%s containing" : "empty %s", view->shape->title);
}

void xc_view_title_with_element(const struct xc_view *view, struct xc_text *text)
{
	xc_text_printf(text, "%s<", view->shape->title);
	xc_view_type_name(text, view->shape->element);
	xc_text_char(text, '>');
}

bool xc_view_next_bare(struct xc_view *view, struct xc_view_child *child)
{
	child->value = view->part;
	return view->index == 0;
}

bool xc_view_next_get(struct xc_view *view, struct xc_view_child *child)
{
	child->name = "get()";
	child->value = view->part;
	return view->index == 0;
}

bool xc_view_split_pair(struct xc_view *view, struct xc_view_child *child)
{
	struct xc_value pair = child->value;
	return (xc_view_part(&pair, "first", &child->key) && xc_view_part(&pair, "second", &child->value)) ||
	       xc_view_invalid(view, "its elements are not pairs");
}

bool xc_view_wrap_pointer(struct xc_view *view, const char *const paths[])
{
	view->kind = XC_VIEW_WRAPPER;
	view->count = 1;
	view->count_known = true;
	return xc_view_part_of(&view->value, &view->part, paths);
}

bool xc_view_counts(struct xc_view *view, xc_addr block, int64_t use, int64_t weak)
{
	if (block && (use < 0 || weak < (use > 0)))
		return xc_view_invalid(view, "use count %" PRId64 ", weak count %" PRId64, use, weak);
	view->state[0] = block;
	view->state[1] = (uint64_t)use;
	view->state[2] = (uint64_t)weak;
	return true;
}

void xc_view_shared_summary(const struct xc_view *view, struct xc_text *text)
{
	xc_view_title_with_element(view, text);
	if (!view->state[0])
		xc_text_add(text, " (empty)");
	else if (view->state[1] == 0)
		xc_text_printf(text, " (expired, weak count %" PRIu64 ")", view->state[2]);
	else
		xc_text_printf(text, " (use count %" PRIu64 ", weak count %" PRIu64 ")", view->state[1],
			       view->state[2] - 1);
}

bool xc_view_optional(struct xc_view *view, uint64_t engaged, const struct xc_value *payload)
{
	struct xc_text title = {0};
	if (engaged > 1)
		return xc_view_invalid(view, "%" PRIu64 " in place of its engaged flag", engaged);
	view->kind = XC_VIEW_EMPTY;
	if (!engaged)
		return true;
	struct xc_value content = xc_view_cast(payload, view->shape->element, 0);
	xc_view_title_with_element(view, &title);
	bool wrapped = xc_view_wrap(view, &content, xc_text_string(&title));
	xc_text_fini(&title);
	return wrapped;
}

void xc_view_optional_summary(const struct xc_view *view, struct xc_text *text)
{
	xc_view_title_with_element(view, text);
	if (view->kind == XC_VIEW_EMPTY)
		xc_text_add(text, " [no contained value]");
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

bool xc_view_variant(struct xc_view *view, uint64_t index, const struct xc_value *storage)
{
	struct xc_text title = {0};
	uint64_t none = UINT64_MAX >> (64 - 8 * view->shape->size);
	index &= none;
	view->kind = XC_VIEW_EMPTY;
	if (index == none)
		return true;
	const struct xc_type *type = xc_view_argument(view->value.type, index);
	if (index >= view->shape->number || !type)
		return xc_view_invalid(view, "index %" PRIu64 " of %" PRIu64, index, view->shape->number);
	struct xc_value content = xc_view_cast(storage, type, 0);
	view->state[0] = index;
	title_with_arguments(view, &title);
	xc_text_printf(&title, " [index %" PRIu64 "]", index);
	bool wrapped = xc_view_wrap(view, &content, xc_text_string(&title));
	xc_text_fini(&title);
	return wrapped;
}

void xc_view_variant_summary(const struct xc_view *view, struct xc_text *text)
{
	title_with_arguments(view, text);
	if (view->kind == XC_VIEW_EMPTY)
		xc_text_add(text, " [no contained value]");
	else
		xc_text_printf(text, " [index %" PRIu64 "]", view->state[0]);
}

static bool is_zero(const struct xc_view *view, xc_addr addr, uint64_t size)
{
	static const uint8_t none[4];
	uint8_t bytes[4];
	struct xc_value value = xc_value_memory(view->value.process, view->shape->element, addr);
	return size <= sizeof bytes && xc_value_peek(&value, 0, bytes, size) && memcmp(bytes, none, size) == 0;
}

bool xc_view_characters_ended(struct xc_view *view, xc_addr addr, uint64_t length)
{
	if (!xc_view_characters(view, addr, length))
		return false;
	return is_zero(view, addr + length * view->shape->size, view->shape->size) ||
	       xc_view_invalid(view, "no NUL after its %" PRIu64 " characters", length);
}

bool xc_view_bits(struct xc_view *view, xc_addr begin, uint64_t count, uint64_t capacity)
{
	if (count > capacity)
		return xc_view_invalid(view, "length %" PRIu64 " above its capacity %" PRIu64, count, capacity);
	if (!xc_view_readable(view, begin, count / 8 + (count % 8 != 0)))
		return xc_view_invalid(view, "its elements cannot be read");
	view->kind = XC_VIEW_LIST;
	view->count_known = true;
	view->count = count;
	view->state[0] = capacity;
	view->state[1] = begin;
	return true;
}

bool xc_view_next_bit(struct xc_view *view, struct xc_view_child *child)
{
	uint8_t byte, bit;
	if (view->index >= view->count)
		return false;
	struct xc_value at =
		xc_value_memory(view->value.process, view->shape->element, view->state[1] + view->index / 8);
	if (!xc_value_peek(&at, 0, &byte, 1))
		return xc_view_missing(view, "elements", &at);
	bit = byte >> view->index % 8 & 1;
	child->value = xc_value_small(view->value.process, view->shape->element, &bit, 1);
	return true;
}

bool xc_view_next_in_blocks(struct xc_view *view, struct xc_view_child *child)
{
	uint64_t at = view->state[1] + view->index, block;
	xc_addr slot = view->state[0] + at / view->state[2] * view->value.process->arch->word;
	if (view->index >= view->count)
		return false;
	if (!xc_view_word(view, slot, &block))
		return xc_view_invalid(view, "block %" PRIu64 " of its map cannot be read", at / view->state[2]);
	child->value = xc_value_memory(view->value.process, view->shape->element,
				       block + at % view->state[2] * view->shape->size);
	return true;
}
