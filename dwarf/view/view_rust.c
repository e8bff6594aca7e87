/* view_rust: strings, slices, sequences and numbers of Rust's library.
 *
 * Layouts of rustc 1.55 to 1.95 (library/alloc, library/core). Releases wrap a pointer or a count in different structs
 * (Unique, NonNull, Cap). Each such wrapper has one member of nonzero size, which is followed down to a scalar.
 * Summaries are those of rust-gdb: "Vec(size=3)". */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "dwarf/view/view_impl.h"

enum { MAX_WRAPPERS = 12 };

/* ---- wrappers ---- */

static const struct xc_member *only_member(const struct xc_type *type)
{
	size_t count;
	uint64_t size;
	const struct xc_member *members = xc_type_members(type, &count), *found = NULL;
	for (size_t i = 0; i < count; i++) {
		if (!xc_type_size(members[i].type, &size) || size == 0)
			continue;
		if (found)
			return NULL;
		found = &members[i];
	}
	return found;
}

bool xc_view_unwrap(const struct xc_value *value, struct xc_value *out)
{
	struct xc_value at = *value;
	for (int i = 0; i < MAX_WRAPPERS; i++) {
		const struct xc_type *type = xc_view_plain(at.type);
		const struct xc_member *member = only_member(type);
		if (!member) {
			*out = at;
			return type->kind != XC_TYPE_STRUCT && type->kind != XC_TYPE_UNION;
		}
		xc_value_field(&at, member, &at);
	}
	return false;
}

bool xc_view_wrapped_number(const struct xc_value *value, const char *const paths[], uint64_t *bits_out)
{
	struct xc_value part;
	return xc_view_part_of(value, &part, paths) && xc_view_unwrap(&part, &part) && xc_value_load(&part, bits_out);
}

/* ---- Vec, String and what is made of them ---- */

static const char *const data_paths[] = {"buf.inner.ptr", "buf.ptr", NULL};
static const char *const cap_paths[] = {"buf.inner.cap", "buf.cap", NULL};

static const struct xc_view_link vec_links[] = {{XC_LINK_ARRAY, "elements", data_paths, NULL, 0}, {0}};

static bool is_vec(const struct xc_type *type, struct xc_view_shape *shape)
{
	shape->links = vec_links;
	shape->element = xc_view_argument(type, 0);
	return shape->element && xc_view_has_of(type, data_paths, NULL) && xc_view_has(type, "len", NULL) &&
	       xc_type_size(shape->element, &shape->size);
}

static bool open_vec(struct xc_view *view)
{
	uint64_t data, cap, len;
	if (!xc_view_wrapped_number(&view->value, data_paths, &data) ||
	    !xc_view_wrapped_number(&view->value, cap_paths, &cap) || !xc_view_number(&view->value, "len", &len))
		return false;
	if (len > cap && view->shape->size > 0)
		return xc_view_invalid(view, "length %" PRIu64 " above its capacity %" PRIu64, len, cap);
	return xc_view_counted(view, data, len);
}

/* The Vec within a wrapper. */
static bool find_vec(const struct xc_value *value, struct xc_value *out)
{
	*out = *value;
	for (int i = 0; i < MAX_WRAPPERS; i++) {
		const struct xc_type *type = xc_view_plain(out->type);
		if (type->name && strncmp(type->name, "alloc::vec::Vec<", 16) == 0)
			return true;
		const struct xc_member *member = only_member(type);
		if (!member)
			return false;
		xc_value_field(out, member, out);
	}
	return false;
}

static const struct xc_view_link string_links[] = {{XC_LINK_TEXT, "characters", data_paths, NULL, 0}, {0}};

static bool is_string(const struct xc_type *type, struct xc_view_shape *shape)
{
	struct xc_value any = {.type = type, .kind = XC_VALUE_BYTES}, vec; /* used for offsets only; never read */
	if (!find_vec(&any, &vec))
		return false;
	shape->links = string_links;
	shape->part = vec.type;
	shape->offset = vec.at;
	shape->element = xc_view_argument(vec.type, 0);
	return shape->element && xc_type_size(shape->element, &shape->size) && shape->size == 1;
}

static bool open_string(struct xc_view *view)
{
	struct xc_value vec = xc_view_cast(&view->value, view->shape->part, view->shape->offset);
	uint64_t data, cap, len;
	if (!xc_view_wrapped_number(&vec, data_paths, &data) || !xc_view_wrapped_number(&vec, cap_paths, &cap) ||
	    !xc_view_number(&vec, "len", &len))
		return false;
	if (len > cap)
		return xc_view_invalid(view, "length %" PRIu64 " above its capacity %" PRIu64, len, cap);
	return xc_view_characters(view, data, len);
}

static bool is_heap(const struct xc_type *type, struct xc_view_shape *shape)
{
	return xc_view_has(type, "data.len", NULL) && xc_view_has(type, "data", &shape->element);
}

static bool open_heap(struct xc_view *view)
{
	struct xc_value vec;
	return xc_view_part(&view->value, "data", &vec) &&
	       (xc_view_become(view, &vec, "BinaryHeap of ") == XC_VIEW_FOUND ||
		xc_view_invalid(view, "its vector is not valid"));
}

/* ---- VecDeque: a ring; up to 1.66 between tail and head in a power of two, since then `len` from head on ---- */

static bool is_deque(const struct xc_type *type, struct xc_view_shape *shape)
{
	shape->links = vec_links;
	shape->element = xc_view_argument(type, 0);
	shape->number = xc_view_has(type, "tail", NULL);
	return shape->element && xc_view_has_of(type, data_paths, NULL) && xc_view_has(type, "head", NULL) &&
	       (shape->number || xc_view_has(type, "len", NULL)) && xc_type_size(shape->element, &shape->size);
}

static bool open_deque(struct xc_view *view)
{
	uint64_t data, cap, head, other, bytes;
	if (!xc_view_wrapped_number(&view->value, data_paths, &data) ||
	    !xc_view_wrapped_number(&view->value, cap_paths, &cap) || !xc_view_number(&view->value, "head", &head) ||
	    !xc_view_number(&view->value, view->shape->number ? "tail" : "len", &other))
		return false;
	view->kind = XC_VIEW_LIST;
	view->count_known = true;
	view->count = other;
	view->state[0] = data;
	view->state[1] = head;
	view->state[2] = cap;
	if (view->shape->number) {
		view->state[1] = other;
		if ((cap & (cap - 1)) != 0 || head >= cap || other >= cap)
			return xc_view_invalid(view, "head %" PRIu64 " and tail %" PRIu64 " of %" PRIu64, head, other,
					       cap);
		view->count = (head - other) & (cap - 1);
	} else if (view->shape->size > 0 && (other > cap || (head >= cap && cap > 0))) {
		return xc_view_invalid(view, "%" PRIu64 " elements from %" PRIu64 " on of %" PRIu64, other, head, cap);
	}
	if (__builtin_mul_overflow(cap, view->shape->size, &bytes))
		return xc_view_invalid(view, "more elements than memory");
	return view->count == 0 || xc_view_readable(view, data, bytes) ||
	       xc_view_invalid(view, "its elements cannot be read");
}

static bool next_of_deque(struct xc_view *view, struct xc_view_child *child)
{
	uint64_t at = view->state[1] + view->index;
	if (view->index >= view->count)
		return false;
	if (at >= view->state[2])
		at -= view->state[2];
	child->value =
		xc_value_memory(view->value.process, view->shape->element, view->state[0] + at * view->shape->size);
	return true;
}

/* ---- slices and str: {data_ptr, length}, also behind Box ---- */

static bool names_text(const char *name)
{
	static const char *const texts[] = {"str", "std::path::Path", "std::ffi::os_str::OsStr"};
	static const char *const heads[] = {"&mut ", "&", "*const ", "*mut ", "alloc::boxed::Box<"};
	for (size_t i = 0; i < XC_COUNT(heads); i++) {
		size_t len = strlen(heads[i]);
		if (strncmp(name, heads[i], len) != 0)
			continue;
		for (size_t k = 0; k < XC_COUNT(texts); k++) {
			size_t text = strlen(texts[k]);
			if (strncmp(name + len, texts[k], text) == 0 && strchr(",>", name[len + text]))
				return true;
		}
		return false;
	}
	return false;
}

const struct xc_type *xc_view_byte_below(const struct xc_type *type)
{
	for (int i = 0; i < MAX_WRAPPERS; i++) {
		size_t count;
		type = xc_view_plain(type);
		if (type->kind == XC_TYPE_ARRAY) {
			type = type->target;
			continue;
		}
		const struct xc_member *members = xc_type_members(type, &count);
		if (count == 0)
			return type->size_known && type->size == 1 ? type : NULL;
		type = members[count - 1].type;
	}
	return NULL;
}

static const struct xc_view_link slice_links[] = {{XC_LINK_ARRAY, "elements", XC_VIEW_PATHS("data_ptr"), NULL, 0}, {0}};
static const struct xc_view_link str_links[] = {{XC_LINK_TEXT, "characters", XC_VIEW_PATHS("data_ptr"), NULL, 0}, {0}};

static bool is_slice(const struct xc_type *type, struct xc_view_shape *shape)
{
	if (!xc_view_points_at(type, "data_ptr", shape) || !xc_view_has(type, "length", NULL))
		return false;
	shape->number = names_text(type->name);
	shape->links = shape->number ? str_links : slice_links;
	if (shape->number)
		shape->element = xc_view_byte_below(shape->element);
	return shape->element && xc_type_size(shape->element, &shape->size);
}

static bool open_slice(struct xc_view *view)
{
	uint64_t data, len;
	if (!xc_view_number(&view->value, "data_ptr", &data) || !xc_view_number(&view->value, "length", &len))
		return false;
	if (data == 0)
		return xc_view_invalid(view, "null");
	return view->shape->number ? xc_view_characters(view, data, len) : xc_view_counted(view, data, len);
}

static void summary_of_slice(const struct xc_view *view, struct xc_text *text)
{
	if (view->kind == XC_VIEW_TEXT)
		return;
	xc_view_type_name(text, view->value.type);
	xc_text_printf(text, "(size=%" PRIu64 ")", view->count);
}

/* ---- numbers in wrappers: shown as what they are ---- */

static bool is_number(const struct xc_type *type, struct xc_view_shape *shape)
{
	struct xc_value any = {.type = type, .kind = XC_VALUE_BYTES}, inner;
	(void)shape;
	return xc_view_unwrap(&any, &inner);
}

static bool open_number(struct xc_view *view)
{
	view->kind = XC_VIEW_WRAPPER;
	view->count = 1;
	view->count_known = true;
	return xc_view_unwrap(&view->value, &view->part);
}

static const char *const nanos_paths[] = {"nanos", NULL};

static bool is_duration(const struct xc_type *type, struct xc_view_shape *shape)
{
	return xc_view_has(type, "secs", &shape->element) && xc_view_has(type, "nanos", NULL);
}

static bool open_duration(struct xc_view *view)
{
	view->kind = XC_VIEW_PLAIN;
	if (!xc_view_number(&view->value, "secs", &view->state[0]) ||
	    !xc_view_wrapped_number(&view->value, nanos_paths, &view->state[1]))
		return false;
	return view->state[1] < 1000000000 || xc_view_invalid(view, "%" PRIu64 " nanoseconds", view->state[1]);
}

static void summary_of_duration(const struct xc_view *view, struct xc_text *text)
{
	char digits[16];
	size_t len = (size_t)snprintf(digits, sizeof digits, "%09" PRIu64, view->state[1]);
	while (len > 0 && digits[len - 1] == '0')
		digits[--len] = '\0';
	xc_text_printf(text, "%" PRIu64 "%s%ss", view->state[0], len ? "." : "", digits);
}

#define NUMBER(name)                                                                                                   \
	{                                                                                                              \
		name, is_number, open_number, xc_view_no_summary, xc_view_next_bare, NULL, NULL                        \
	}

const struct xc_view_hook xc_view_rust[] = {
	{"alloc::string::String", is_string, open_string, NULL, NULL, NULL, NULL},
	{"std::ffi::os_str::OsString", is_string, open_string, NULL, NULL, NULL, NULL},
	{"std::path::PathBuf", is_string, open_string, NULL, NULL, NULL, NULL},
	{"alloc::vec::Vec", is_vec, open_vec, xc_view_summary_with_size, NULL, NULL, NULL},
	{"alloc::collections::vec_deque::VecDeque", is_deque, open_deque, xc_view_summary_with_size, next_of_deque,
	 NULL, NULL},
	{"alloc::collections::binary_heap::BinaryHeap", is_heap, open_heap, NULL, NULL, NULL, NULL},
	{"&*", is_slice, open_slice, summary_of_slice, NULL, NULL, NULL},
	{"**", is_slice, open_slice, summary_of_slice, NULL, NULL, NULL},
	{"alloc::boxed::Box", is_slice, open_slice, summary_of_slice, NULL, NULL, NULL},
	NUMBER("core::sync::atomic::Atomic*"),
	NUMBER("core::num::nonzero::NonZero*"),
	{"core::time::Duration", is_duration, open_duration, summary_of_duration, NULL, NULL, NULL},
	{.name = NULL},
};
