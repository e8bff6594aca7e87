/* view_libcxx: strings, sequences and tuples of LLVM's C++ library.
 *
 * Layouts of libc++ 7 to 20 (headers string, vector, deque, tuple). Up to 19, a member that
 * shares storage with an empty allocator is a __compressed_pair, whose first base class has the __value_. Since 20 it
 * is a member with another name. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "dwarf/view/view_impl.h"

/* ---- strings ----
 *
 * A union of __l {capacity, size, data} and __s {size, data}; one bit selects. By default it is the lowest bit of the
 * first byte: the size of a short string is doubled in it, the capacity of a long one is odd. Since libc++ 15 it is the
 * bit-field __is_long_. With _LIBCPP_ABI_ALTERNATE_STRING_LAYOUT the data come first, and it is the highest bit of the
 * last byte. */

static const char *const rep_paths[] = {"__r_.__value_", "__rep_", NULL};

static const struct xc_view_link string_links[] = {
	{XC_LINK_TEXT, "characters", XC_VIEW_PATHS("__r_.__value_.__l.__data_", "__rep_.__l.__data_"), NULL, 0}, {0}};

static bool is_string(const struct xc_type *type, struct xc_view_shape *shape)
{
	const struct xc_type *rep = NULL;
	xc_view_has_of(type, rep_paths, &rep);
	shape->links = string_links;
	shape->number = rep && xc_view_has(rep, "__s.__is_long_", NULL);
	return rep && xc_view_points_at(rep, "__l.__data_", shape) && xc_type_size(shape->element, &shape->size) &&
	       shape->size > 0 && xc_view_has(rep, "__s.__size_", NULL);
}

static bool read_length(const struct xc_view *view, const struct xc_value *rep, bool *is_long, uint64_t *length)
{
	uint64_t flag;
	struct xc_value data;
	if (!xc_view_number(rep, "__s.__size_", length))
		return false;
	if (view->shape->number) {
		if (!xc_view_number(rep, "__s.__is_long_", &flag))
			return false;
		*is_long = flag != 0;
	} else if (!xc_view_part(rep, "__s.__data_", &data)) {
		return false;
	} else if (data.addr == rep->addr && data.at == rep->at) {
		*is_long = *length & 0x80;
	} else {
		*is_long = *length & 1;
		*length = (*length & 0xff) >> 1;
	}
	return !*is_long || xc_view_number(rep, "__l.__size_", length);
}

static bool open_string(struct xc_view *view)
{
	struct xc_value rep, data;
	bool is_long;
	uint64_t length, addr;
	if (!xc_view_part_of(&view->value, &rep, rep_paths) || !read_length(view, &rep, &is_long, &length))
		return false;
	if (!is_long) {
		if (!xc_view_part(&rep, "__s.__data_", &data))
			return false;
		view->kind = XC_VIEW_TEXT;
		view->count = length;
		view->count_known = true;
		view->elements = xc_view_cast(&data, view->shape->element, 0);
		return length < xc_value_size(&data) / view->shape->size + (xc_value_size(&data) == 0) ||
		       xc_view_invalid(view, "length %" PRIu64 " of a short string", length);
	}
	return xc_view_number(&rep, "__l.__data_", &addr) && xc_view_characters_ended(view, addr, length);
}

/* ---- vector ---- */

static const char *const cap_paths[] = {"__end_cap_.__value_", "__cap_", "__end_cap_", NULL};

static const struct xc_view_link vector_links[] = {{XC_LINK_TARGETS, "elements", XC_VIEW_PATHS("__begin_"), NULL, 0},
						   {0}}; /* or words of bits */

static bool is_vector(const struct xc_type *type, struct xc_view_shape *shape)
{
	shape->links = vector_links;
	return xc_view_points_at(type, "__begin_", shape) && xc_view_has(type, "__end_", NULL);
}

static bool open_vector(struct xc_view *view)
{
	uint64_t begin, end, limit, size;
	if (!xc_view_number(&view->value, "__begin_", &begin) || !xc_view_number(&view->value, "__end_", &end) ||
	    !xc_view_number_of(&view->value, cap_paths, &limit) || !xc_view_array(view, begin, end, limit))
		return false;
	xc_type_size(view->shape->element, &size);
	view->state[0] = (limit - begin) / size;
	return true;
}

static const char *const bool_caps[] = {"__cap_alloc_.__value_", "__cap_", NULL};

static bool is_bool_vector(const struct xc_type *type, struct xc_view_shape *shape)
{
	shape->links = vector_links;
	shape->element = xc_view_argument(type, 0);
	return shape->element && xc_view_has(type, "__begin_", &shape->node) && xc_view_has(type, "__size_", NULL) &&
	       xc_type_strip(shape->node)->kind == XC_TYPE_POINTER &&
	       xc_type_size(xc_type_strip(shape->node)->target, &shape->size) && shape->size > 0;
}

static bool open_bool_vector(struct xc_view *view)
{
	uint64_t begin, count, words;
	if (!xc_view_number(&view->value, "__begin_", &begin) || !xc_view_number(&view->value, "__size_", &count) ||
	    !xc_view_number_of(&view->value, bool_caps, &words) || words > UINT64_MAX / (8 * view->shape->size))
		return false;
	return xc_view_bits(view, begin, count, words * view->shape->size * 8);
}

/* ---- deque: blocks of 4096 bytes, or of 16 elements when they are large ---- */

static const char *const map_paths[] = {"__map_", NULL};
static const char *const size_paths[] = {"__size_.__value_", "__size_", NULL};

static const struct xc_view_link deque_links[] = {
	{XC_LINK_MAP, "map", XC_VIEW_PATHS("__map_.__first_"), NULL, 0},
	{XC_LINK_BLOCKS, "block", XC_VIEW_PATHS("__map_.__begin_"), XC_VIEW_PATHS("__map_.__end_"), 0},
	{0}};

static bool is_deque(const struct xc_type *type, struct xc_view_shape *shape)
{
	shape->links = deque_links;
	shape->element = xc_view_argument(type, 0);
	return shape->element && xc_type_size(shape->element, &shape->size) && shape->size > 0 &&
	       xc_view_has(type, "__start_", NULL) && xc_view_has(type, "__map_.__begin_", NULL);
}

static bool open_deque(struct xc_view *view)
{
	struct xc_value map;
	uint64_t begin, end, start, word = view->value.process->arch->word;
	uint64_t per_block = view->shape->size < 256 ? 4096 / view->shape->size : 16;
	if (!xc_view_part_of(&view->value, &map, map_paths) || !xc_view_number(&map, "__begin_", &begin) ||
	    !xc_view_number(&map, "__end_", &end) || !xc_view_number(&view->value, "__start_", &start) ||
	    !xc_view_number_of(&view->value, size_paths, &view->count))
		return false;
	if (end < begin || (end - begin) % word != 0 || !xc_view_readable(view, begin, end - begin))
		return xc_view_invalid(view, "its map of blocks is invalid");
	uint64_t room = (end - begin) / word * per_block;
	if (start > room || view->count > room - start)
		return xc_view_invalid(view, "%" PRIu64 " elements from %" PRIu64 " on in blocks for %" PRIu64,
				       view->count, start, room);
	view->kind = XC_VIEW_LIST;
	view->count_known = true;
	view->state[0] = begin;
	view->state[1] = start;
	view->state[2] = per_block;
	return true;
}

/* ---- tuple ---- */

/* __base_, a __tuple_impl with one __tuple_leaf for each element as base class. */
static bool is_tuple(const struct xc_type *type, struct xc_view_shape *shape)
{
	shape->number = xc_view_argument_count(type);
	return shape->number == 0 ? !xc_view_has(type, "__base_", NULL) : xc_view_has(type, "__base_.<0>", NULL);
}

static bool open_tuple(struct xc_view *view)
{
	view->kind = XC_VIEW_RECORD;
	view->count = view->shape->number;
	view->count_known = true;
	return view->count == 0 || xc_view_part(&view->value, "__base_", &view->part);
}

static bool next_of_tuple(struct xc_view *view, struct xc_view_child *child)
{
	char path[32];
	struct xc_value leaf;
	if (view->index >= view->count)
		return false;
	snprintf(path, sizeof path, "<%" PRIu64 ">", view->index);
	if (!xc_view_part(&view->part, path, &leaf) ||
	    (!xc_view_part(&leaf, "__value_", &child->value) && !xc_view_part(&leaf, "<0>", &child->value)))
		return xc_view_invalid(view, "its base classes are not the expected ones");
	snprintf(child->number, sizeof child->number, "[%" PRIu64 "]", view->index + 1);
	child->name = child->number;
	return true;
}

const struct xc_view_hook xc_view_libcxx[] = {
	{"std::basic_string", is_string, open_string, NULL, NULL, NULL, NULL},
	{"std::vector", is_vector, open_vector, xc_view_summary_with_capacity, NULL, NULL, NULL},
	{"std::vector", is_bool_vector, open_bool_vector, xc_view_bits_summary, xc_view_next_bit, NULL, NULL},
	{"std::deque", is_deque, open_deque, xc_view_with_elements, xc_view_next_in_blocks, NULL, NULL},
	{"std::tuple", is_tuple, open_tuple, xc_view_tuple_summary, next_of_tuple, NULL, NULL},
	{.name = NULL},
};
