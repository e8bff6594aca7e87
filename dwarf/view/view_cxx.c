/* view_cxx: containers that are alike in all C++ libraries, or differ in the names of members only.
 *
 * The names are those of libstdc++ 4.8 to 14 and libc++ 7 to 20 (headers array, bitset, chrono, queue, span, stack,
 * string_view, tuple, utility). */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "dwarf/view/view_impl.h"

enum { MAX_BITS = 1 << 20 };

/* ---- pair ---- */

static bool is_pair(const struct xc_type *type, struct xc_view_shape *shape)
{
	(void)shape;
	return xc_view_has(type, "first", NULL) && xc_view_has(type, "second", NULL);
}

static bool open_pair(struct xc_view *view)
{
	view->kind = XC_VIEW_RECORD;
	view->count = 2;
	view->count_known = true;
	return true;
}

static bool next_of_pair(struct xc_view *view, struct xc_view_child *child)
{
	if (view->index >= 2)
		return false;
	child->name = view->index ? "second" : "first";
	return xc_view_part(&view->value, child->name, &child->value);
}

/* ---- adaptors ---- */

static bool is_adaptor(const struct xc_type *type, struct xc_view_shape *shape)
{
	return xc_view_has(type, "c", &shape->element);
}

static bool open_adaptor(struct xc_view *view)
{
	struct xc_value part;
	struct xc_text prefix = {0};
	if (!xc_view_part(&view->value, "c", &part))
		return false;
	xc_text_printf(&prefix, "%s wrapping: ", view->shape->title);
	enum xc_view_result result = xc_view_become(view, &part, xc_text_string(&prefix));
	xc_text_fini(&prefix);
	if (result == XC_VIEW_NONE)
		return xc_view_wrap(view, &part, view->shape->title);
	return result == XC_VIEW_FOUND || xc_view_invalid(view, "its container is not valid");
}

/* ---- arrays, spans and string views ---- */

static const char *const array_paths[] = {"_M_elems", "__elems_", "_M_instance", NULL};

static bool is_array(const struct xc_type *type, struct xc_view_shape *shape)
{
	const struct xc_template *count = xc_type_template(type, "_Nm", 1);
	if (!count || !count->has_value)
		return false;
	shape->element = xc_view_argument(type, 0);
	shape->number = count->value;
	return shape->element && (shape->number == 0 || xc_view_has_of(type, array_paths, NULL));
}

static bool open_array(struct xc_view *view)
{
	uint64_t size;
	if (!xc_type_size(view->shape->element, &size))
		return false;
	view->kind = XC_VIEW_LIST;
	view->contiguous = view->count_known = true;
	view->count = view->shape->number;
	view->elements = xc_view_cast(&view->value, view->shape->element, 0);
	return true;
}

static const char *const span_begins[] = {"_M_ptr", "__data_", "__data", "_M_array", "__begin_", "_M_str", NULL};
static const char *const span_sizes[] = {"_M_extent._M_extent_value", "__size_", "__size", "_M_len", NULL};

/* A pointer and a count, which for spans may be part of the type. */
static bool is_span(const struct xc_type *type, struct xc_view_shape *shape)
{
	const struct xc_type *pointer;
	const struct xc_template *extent = xc_type_template(type, "_Extent", 1);
	if (!xc_view_has_of(type, span_begins, &pointer) || xc_type_strip(pointer)->kind != XC_TYPE_POINTER)
		return false;
	shape->element = xc_type_strip(pointer)->target;
	shape->number = extent && extent->is_value && extent->has_value ? extent->value : UINT64_MAX;
	return true;
}

static bool read_span(const struct xc_view *view, uint64_t *begin_out, uint64_t *count_out)
{
	if (!xc_view_number_of(&view->value, span_begins, begin_out))
		return false;
	*count_out = view->shape->number;
	return (view->shape->number != UINT64_MAX && view->shape->number != UINT32_MAX) ||
	       xc_view_number_of(&view->value, span_sizes, count_out);
}

static bool open_span(struct xc_view *view)
{
	uint64_t begin, count;
	return read_span(view, &begin, &count) && xc_view_counted(view, begin, count);
}

static bool open_string_view(struct xc_view *view)
{
	uint64_t begin, count;
	return read_span(view, &begin, &count) && xc_view_characters(view, begin, count);
}

static void summary_with_length(const struct xc_view *view, struct xc_text *text)
{
	xc_text_printf(text, "%s of length %" PRIu64, view->shape->title, view->count);
}

/* ---- bitset ---- */

static const char *const bit_paths[] = {"_M_w", "__first_", NULL};

static bool is_bitset(const struct xc_type *type, struct xc_view_shape *shape)
{
	const struct xc_template *bits = xc_type_template(type, "_Nb", 0);
	if (!bits || !bits->has_value || bits->value > MAX_BITS)
		return false;
	shape->number = bits->value;
	shape->element = bits->type;
	return xc_view_has_of(type, bit_paths, NULL) || bits->value == 0;
}

static bool open_bitset(struct xc_view *view)
{
	view->kind = XC_VIEW_RECORD;
	if (view->shape->number > 0 && !xc_view_part_of(&view->value, &view->part, bit_paths))
		return false;
	return true;
}

/* The set bits, as in gdb. */
static bool next_bit(struct xc_view *view, struct xc_view_child *child)
{
	static const uint64_t one[2] = {1};
	for (uint64_t at = view->state[0]; at < view->shape->number; at++) {
		uint8_t byte;
		if (!xc_value_peek(&view->part, at / 8, &byte, 1))
			return xc_view_missing(view, "bits", &view->part);
		if (!(byte >> at % 8 & 1))
			continue;
		view->state[0] = at + 1;
		snprintf(child->number, sizeof child->number, "[%" PRIu64 "]", at);
		child->name = child->number;
		child->value = xc_value_small(view->value.process, view->shape->element, one, sizeof one);
		return true;
	}
	return false;
}

/* ---- chrono ---- */

static const char *const tick_paths[] = {"__r", "__rep_", NULL};

/* The period is a std::ratio<N, D> of seconds. */
static bool is_duration(const struct xc_type *type, struct xc_view_shape *shape)
{
	const struct xc_type *period = xc_view_argument(type, 1);
	const struct xc_template *num = period ? xc_type_template(xc_view_plain(period), "_Num", 0) : NULL;
	const struct xc_template *den = period ? xc_type_template(xc_view_plain(period), "_Den", 1) : NULL;
	if (!num || !den || !num->has_value || !den->has_value)
		return false;
	shape->size = num->value;
	shape->offset = den->value;
	return xc_view_has_of(type, tick_paths, &shape->element);
}

static bool open_duration(struct xc_view *view)
{
	view->kind = XC_VIEW_PLAIN;
	return xc_view_part_of(&view->value, &view->part, tick_paths);
}

static void add_period(struct xc_text *text, uint64_t num, uint64_t den)
{
	static const struct {
		uint64_t num, den;
		const char *suffix;
	} known[] = {{1, 1, "s"},    {1, 1000, "ms"}, {1, 1000000, "us"}, {1, 1000000000, "ns"},
		     {60, 1, "min"}, {3600, 1, "h"},  {86400, 1, "d"}};
	for (size_t i = 0; i < XC_COUNT(known); i++) {
		if (known[i].num == num && known[i].den == den) {
			xc_text_add(text, known[i].suffix);
			return;
		}
	}
	if (den == 1)
		xc_text_printf(text, "[%" PRIu64 "]s", num);
	else
		xc_text_printf(text, "[%" PRIu64 "/%" PRIu64 "]s", num, den);
}

static void summary_of_duration(const struct xc_view *view, struct xc_text *text)
{
	const struct xc_type *type = xc_type_strip(view->part.type);
	uint64_t bits;
	long double number;
	xc_text_printf(text, "%s = {", view->shape->title);
	if (type->kind == XC_TYPE_FLOAT && xc_value_load_float(&view->part, 0, (unsigned)type->size, &number))
		xc_text_printf(text, "%.17Lg", number);
	else if (!xc_value_load(&view->part, &bits))
		xc_text_add(text, "<unreadable> ");
	else if (type->is_signed)
		xc_text_printf(text, "%" PRId64, (int64_t)bits);
	else
		xc_text_printf(text, "%" PRIu64, bits);
	add_period(text, view->shape->size, view->shape->offset);
	xc_text_char(text, '}');
}

/* ---- atomic ---- */

static const char *const atomic_paths[] = {"_M_base._M_i", "_M_i", "_M_b._M_p", "_M_fp", "__a_.__a_value", NULL};

static bool is_atomic(const struct xc_type *type, struct xc_view_shape *shape)
{
	const struct xc_type *argument = xc_view_argument(type, 0);
	if (!xc_view_has_of(type, atomic_paths, &shape->element))
		return false;
	shape->element = argument ? argument : shape->element;
	return true;
}

static bool open_atomic(struct xc_view *view)
{
	view->kind = XC_VIEW_WRAPPER;
	view->count = 1;
	view->count_known = true;
	return xc_view_part_of(&view->value, &view->part, atomic_paths);
}

const struct xc_view_hook xc_view_cxx[] = {
	{"std::pair", is_pair, open_pair, xc_view_no_summary, next_of_pair, NULL, NULL},
	{"std::stack", is_adaptor, open_adaptor, NULL, NULL, NULL, NULL},
	{"std::queue", is_adaptor, open_adaptor, NULL, NULL, NULL, NULL},
	{"std::priority_queue", is_adaptor, open_adaptor, NULL, NULL, NULL, NULL},
	{"std::array", is_array, open_array, xc_view_no_summary, NULL, NULL, NULL},
	{"std::span", is_span, open_span, summary_with_length, NULL, NULL, NULL},
	{"std::initializer_list", is_span, open_span, summary_with_length, NULL, NULL, NULL},
	{"std::basic_string_view", is_span, open_string_view, NULL, NULL, NULL, NULL},
	{"std::experimental::basic_string_view", is_span, open_string_view, NULL, NULL, NULL, NULL},
	{"std::bitset", is_bitset, open_bitset, NULL, next_bit, NULL, NULL},
	{"std::chrono::duration", is_duration, open_duration, summary_of_duration, NULL, NULL, NULL},
	{"std::atomic", is_atomic, open_atomic, xc_view_title_with_element, xc_view_next_bare, NULL, NULL},
	{.name = NULL},
};
