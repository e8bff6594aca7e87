/* view_libstdcxx: strings and sequences of the GNU C++ library.
 *
 * Layouts of libstdc++ 4.8 to 14 (bits/basic_string.h, cow_string.h, stl_vector.h, stl_bvector.h, stl_deque.h).
 * Node-based containers are in view_cxx_nodes.c, holders in view_cxx_holders.c. */
#include <inttypes.h>
#include <string.h>

#include "dwarf/view/view_impl.h"

/* ---- strings ---- */

/* _M_dataplus is an _Alloc_hider: an allocator, which is usually empty, and the pointer. clang leaves the definition of
 * _Alloc_hider to the library's own debug information; without it, the pointer is assumed to be the only member. */
static bool has_characters(const struct xc_type *type, struct xc_view_shape *shape)
{
	shape->element = xc_view_argument(type, 0);
	return (xc_view_points_at(type, "_M_dataplus._M_p", shape) ||
		(shape->element && xc_view_has(type, "_M_dataplus", NULL))) &&
	       xc_type_size(shape->element, &shape->size) && shape->size > 0;
}

static bool characters_of(const struct xc_view *view, uint64_t *addr_out)
{
	struct xc_value hider;
	if (xc_view_number(&view->value, "_M_dataplus._M_p", addr_out))
		return true;
	if (!xc_view_part(&view->value, "_M_dataplus", &hider) || !xc_view_plain(hider.type)->is_declaration)
		return false;
	hider.type = xc_type_pointer(view->shape->element, view->value.process->arch->word);
	return xc_value_load(&hider, addr_out);
}

static const char *const data_paths[] = {"_M_dataplus._M_p", "_M_dataplus", NULL};
static const struct xc_view_link string_links[] = {{XC_LINK_TEXT, "characters", data_paths, NULL, 0}, {0}};

static bool is_string(const struct xc_type *type, struct xc_view_shape *shape)
{
	shape->links = string_links;
	return has_characters(type, shape) && xc_view_has(type, "_M_string_length", NULL);
}

static bool open_string(struct xc_view *view)
{
	uint64_t addr, length, capacity;
	struct xc_value local;
	if (!characters_of(view, &addr) || !xc_view_number(&view->value, "_M_string_length", &length) ||
	    !xc_view_part(&view->value, "_M_local_buf", &local) ||
	    !xc_view_number(&view->value, "_M_allocated_capacity", &capacity))
		return false;
	bool inside = local.kind == XC_VALUE_MEMORY && local.addr == addr;
	if (inside)
		capacity = xc_value_size(&local) / view->shape->size - 1;
	if (length > capacity)
		return xc_view_invalid(view, "length %" PRIu64 " above its capacity %" PRIu64, length, capacity);
	return xc_view_characters_ended(view, addr, length);
}

/* The copy-on-write string: its _Rep before the characters is {length, capacity, int reference count}: three words with
 * its padding. */
enum { REP = 3 };

static const struct xc_view_link cow_links[] = {{XC_LINK_TEXT, "characters", data_paths, NULL, REP}, {0}};

static bool is_cow_string(const struct xc_type *type, struct xc_view_shape *shape)
{
	shape->links = cow_links;
	return has_characters(type, shape);
}

static bool open_cow_string(struct xc_view *view)
{
	uint64_t addr, length, capacity, word = view->value.process->arch->word;
	if (!characters_of(view, &addr))
		return false;
	if (!xc_view_word(view, addr - REP * word, &length) || !xc_view_word(view, addr - 2 * word, &capacity))
		return xc_view_invalid(view, "no header before its characters");
	if (length > capacity)
		return xc_view_invalid(view, "length %" PRIu64 " above its capacity %" PRIu64, length, capacity);
	return xc_view_characters_ended(view, addr, length);
}

/* ---- vector ---- */

static const struct xc_view_link vector_links[] = {
	{XC_LINK_ARRAY, "elements", XC_VIEW_PATHS("_M_impl._M_start"), NULL, 0}, {0}};

static bool is_vector(const struct xc_type *type, struct xc_view_shape *shape)
{
	shape->links = vector_links;
	return xc_view_points_at(type, "_M_impl._M_start", shape) &&
	       xc_view_has(type, "_M_impl._M_end_of_storage", NULL);
}

static bool open_vector(struct xc_view *view)
{
	uint64_t begin, end, cap, size;
	if (!xc_view_number(&view->value, "_M_impl._M_start", &begin) ||
	    !xc_view_number(&view->value, "_M_impl._M_finish", &end) ||
	    !xc_view_number(&view->value, "_M_impl._M_end_of_storage", &cap) || !xc_view_array(view, begin, end, cap))
		return false;
	xc_type_size(view->shape->element, &size);
	view->state[0] = (cap - begin) / size;
	return true;
}

static const struct xc_view_link bit_links[] = {
	{XC_LINK_TARGETS, "bits", XC_VIEW_PATHS("_M_impl._M_start._M_p"), NULL, 0}, {0}};

static bool is_bool_vector(const struct xc_type *type, struct xc_view_shape *shape)
{
	shape->links = bit_links;
	shape->element = xc_view_argument(type, 0);
	return shape->element && xc_view_has(type, "_M_impl._M_start._M_p", &shape->node) &&
	       xc_view_has(type, "_M_impl._M_finish._M_offset", NULL) &&
	       xc_type_strip(shape->node)->kind == XC_TYPE_POINTER &&
	       xc_type_size(xc_type_strip(shape->node)->target, &shape->size) && shape->size > 0;
}

static bool open_bool_vector(struct xc_view *view)
{
	uint64_t begin, end, offset, cap, word = view->shape->size;
	if (!xc_view_number(&view->value, "_M_impl._M_start._M_p", &begin) ||
	    !xc_view_number(&view->value, "_M_impl._M_finish._M_p", &end) ||
	    !xc_view_number(&view->value, "_M_impl._M_finish._M_offset", &offset) ||
	    !xc_view_number(&view->value, "_M_impl._M_end_of_storage", &cap))
		return false;
	if (end < begin || cap < end || (end - begin) % word != 0 || (cap - begin) % word != 0 || offset >= word * 8 ||
	    (end == cap && offset > 0))
		return xc_view_invalid(view, "its ends are inconsistent");
	return xc_view_bits(view, begin, (end - begin) * 8 + offset, (cap - begin) * 8);
}

/* ---- deque ----
 *
 *   map:  … | node | node | node | …       each node holds _M_last - _M_first elements;
 * ↑ start._M_node   ↑ finish._M_node       the first begins at start._M_cur, the last ends at finish._M_cur */

struct deque_end {
	uint64_t cur, first, last, node;
};

static const struct xc_view_link deque_links[] = {{XC_LINK_MAP, "map", XC_VIEW_PATHS("_M_impl._M_map"), NULL, 0},
						  {XC_LINK_BLOCKS, "block", XC_VIEW_PATHS("_M_impl._M_start._M_node"),
						   XC_VIEW_PATHS("_M_impl._M_finish._M_node"), 1},
						  {0}};

static bool is_deque(const struct xc_type *type, struct xc_view_shape *shape)
{
	shape->links = deque_links;
	return xc_view_points_at(type, "_M_impl._M_start._M_cur", shape) &&
	       xc_type_size(shape->element, &shape->size) && shape->size > 0 &&
	       xc_view_has(type, "_M_impl._M_finish._M_node", NULL);
}

static bool read_end(const struct xc_view *view, const char *path, struct deque_end *end)
{
	struct xc_value part;
	return xc_view_part(&view->value, path, &part) && xc_view_number(&part, "_M_cur", &end->cur) &&
	       xc_view_number(&part, "_M_first", &end->first) && xc_view_number(&part, "_M_last", &end->last) &&
	       xc_view_number(&part, "_M_node", &end->node);
}

static bool end_is_sound(const struct xc_view *view, const struct deque_end *end)
{
	uint64_t first;
	return end->first <= end->cur && end->cur < end->last && (end->cur - end->first) % view->shape->size == 0 &&
	       (end->last - end->first) % view->shape->size == 0 && xc_view_word(view, end->node, &first) &&
	       first == end->first;
}

static bool open_deque(struct xc_view *view)
{
	struct deque_end start, finish;
	uint64_t word = view->value.process->arch->word, size = view->shape->size;
	if (!read_end(view, "_M_impl._M_start", &start) || !read_end(view, "_M_impl._M_finish", &finish))
		return false;
	if (!end_is_sound(view, &start) || !end_is_sound(view, &finish))
		return xc_view_invalid(view, "an end is outside its node");
	if (start.last - start.first != finish.last - finish.first || finish.node < start.node ||
	    (finish.node - start.node) % word != 0 || (finish.node == start.node && finish.cur < start.cur))
		return xc_view_invalid(view, "its ends are inconsistent");
	if (!xc_view_readable(view, start.node, finish.node - start.node + word))
		return xc_view_invalid(view, "its map of nodes cannot be read");
	uint64_t per_node = (start.last - start.first) / size;
	view->kind = XC_VIEW_LIST;
	view->count_known = true;
	view->count = (finish.node - start.node) / word * per_node + (finish.cur - finish.first) / size -
		      (start.cur - start.first) / size;
	view->state[0] = start.node;
	view->state[1] = (start.cur - start.first) / size;
	view->state[2] = per_node;
	return true;
}

const struct xc_view_hook xc_view_libstdcxx[] = {
	{"std::basic_string", is_string, open_string, NULL, NULL, NULL, NULL},
	{"std::basic_string", is_cow_string, open_cow_string, NULL, NULL, NULL, NULL},
	{"std::vector", is_vector, open_vector, xc_view_summary_with_capacity, NULL, NULL, NULL},
	{"std::vector", is_bool_vector, open_bool_vector, xc_view_bits_summary, xc_view_next_bit, NULL, NULL},
	{"std::deque", is_deque, open_deque, xc_view_with_elements, xc_view_next_in_blocks, NULL, NULL},
	{.name = NULL},
};
