/* view_rust: strings, slices, sequences and pointers of Rust's library.
 *
 * Layouts as rustc 1.55 to 1.95 describe them (library/alloc, library/core). A pointer or a count is often wrapped
 * several times (Unique, NonNull, Cap), differently from release to release: such a wrapper has one member that
 * takes room, and the way down is followed until something plain comes. Summaries as rust-gdb's: "Vec(size=3)". */
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

/* The number or the pointer in the wrapper at the first of the paths that exists. */
static bool wrapped_number(const struct xc_value *value, const char *const paths[], uint64_t *bits_out)
{
	struct xc_value part;
	return xc_view_part_of(value, &part, paths) && xc_view_unwrap(&part, &part) && xc_value_load(&part, bits_out);
}

static bool has_one_of(const struct xc_type *type, const char *const paths[])
{
	for (; *paths; paths++) {
		if (xc_view_has(type, *paths, NULL))
			return true;
	}
	return false;
}

/* ---- Vec, String and what is made of them ---- */

static const char *const data_paths[] = {"buf.inner.ptr", "buf.ptr", NULL};
static const char *const cap_paths[] = {"buf.inner.cap", "buf.cap", NULL};

static bool is_vec(const struct xc_type *type, struct xc_view_shape *shape)
{
	shape->element = xc_view_argument(type, 0);
	return shape->element && has_one_of(type, data_paths) && xc_view_has(type, "len", NULL) &&
	       xc_type_size(shape->element, &shape->size);
}

static bool open_vec(struct xc_view *view)
{
	uint64_t data, cap, len;
	if (!wrapped_number(&view->value, data_paths, &data) || !wrapped_number(&view->value, cap_paths, &cap) ||
	    !xc_view_number(&view->value, "len", &len))
		return false;
	if (len > cap && view->shape->size > 0)
		return xc_view_invalid(view, "length %" PRIu64 " above its capacity %" PRIu64, len, cap);
	return xc_view_counted(view, data, len);
}

static void summary_with_size(const struct xc_view *view, struct xc_text *text)
{
	const char *name = strrchr(view->shape->title, ':');
	xc_text_printf(text, "%s(size=%" PRIu64 ")", name ? name + 1 : view->shape->title, view->count);
}

/* The Vec in a wrapper. */
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

static bool is_string(const struct xc_type *type, struct xc_view_shape *shape)
{
	struct xc_value any = {.type = type, .kind = XC_VALUE_BYTES}, vec; /* only ever moved along */
	if (!find_vec(&any, &vec))
		return false;
	shape->element = xc_view_argument(vec.type, 0);
	return shape->element && xc_type_size(shape->element, &shape->size) && shape->size == 1;
}

static bool open_string(struct xc_view *view)
{
	struct xc_value vec;
	uint64_t data, cap, len;
	if (!find_vec(&view->value, &vec) || !wrapped_number(&vec, data_paths, &data) ||
	    !wrapped_number(&vec, cap_paths, &cap) || !xc_view_number(&vec, "len", &len))
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
	shape->element = xc_view_argument(type, 0);
	shape->number = xc_view_has(type, "tail", NULL);
	return shape->element && has_one_of(type, data_paths) && xc_view_has(type, "head", NULL) &&
	       (shape->number || xc_view_has(type, "len", NULL)) && xc_type_size(shape->element, &shape->size);
}

static bool open_deque(struct xc_view *view)
{
	uint64_t data, cap, head, other, bytes;
	if (!wrapped_number(&view->value, data_paths, &data) || !wrapped_number(&view->value, cap_paths, &cap) ||
	    !xc_view_number(&view->value, "head", &head) ||
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
	       xc_view_invalid(view, "elements that cannot be read");
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

/* The byte below the wrappers of an unsized type: Path → OsStr → Slice → [u8]. */
static const struct xc_type *byte_below(const struct xc_type *type)
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

static bool is_slice(const struct xc_type *type, struct xc_view_shape *shape)
{
	if (!xc_view_points_at(type, "data_ptr", shape) || !xc_view_has(type, "length", NULL))
		return false;
	shape->number = names_text(type->name);
	if (shape->number)
		shape->element = byte_below(shape->element);
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

/* ---- Rc, Arc, Weak ----
 *
 * A pointer to {strong, weak, value}; all strong ones together hold one weak count. Behind it may be something
 * unsized: then it is {data_ptr, length} or {pointer, vtable}. A Weak that was never attached points to the highest
 * address. */

static const char *const strong_paths[] = {"strong", NULL};
static const char *const weak_paths[] = {"weak", NULL};

static bool box_of(const struct xc_value *value, struct xc_value *box, uint64_t *length)
{
	struct xc_value pointer, fat;
	uint64_t addr;
	*length = 0;
	if (!xc_view_part(value, "ptr", &pointer))
		return false;
	if (xc_view_part(&pointer, "pointer", &fat) && xc_view_part(&fat, "data_ptr", &fat)) {
		if (!xc_view_number(&pointer, "pointer.length", length))
			return false;
		pointer = fat;
	} else if (!xc_view_unwrap(&pointer, &pointer)) {
		return false;
	}
	const struct xc_type *type = xc_type_strip(pointer.type);
	if (type->kind != XC_TYPE_POINTER || !xc_value_load(&pointer, &addr))
		return false;
	*box = xc_value_memory(value->process, type->target, addr);
	return true;
}

static bool is_counted(const struct xc_type *type, struct xc_view_shape *shape)
{
	shape->element = xc_view_argument(type, 0);
	shape->number = strstr(shape->title, "::Weak") != NULL;
	return xc_view_has(type, "ptr.pointer", NULL);
}

/* Rc<str> and Rc<[T]>: view->part is the first of `length` elements. */
static bool open_unsized(struct xc_view *view, uint64_t length)
{
	const char *arguments = strchr(view->value.type->name, '<');
	bool text = arguments && strncmp(arguments, "<str", 4) == 0;
	const struct xc_type *element = text ? byte_below(view->part.type) : xc_view_plain(view->part.type);
	uint64_t size, bytes;
	if (element && element->kind == XC_TYPE_ARRAY)
		element = element->target;
	if (!element || !xc_type_size(element, &size) || __builtin_mul_overflow(size, length, &bytes))
		return xc_view_invalid(view, "the size of its elements is not known");
	if (!xc_view_readable(view, view->part.addr, bytes))
		return xc_view_missing(view, "elements", &view->part);
	view->kind = text ? XC_VIEW_TEXT : XC_VIEW_LIST;
	view->contiguous = !text;
	view->count = length;
	view->elements = xc_view_cast(&view->part, element, 0);
	return true;
}

static bool open_counted(struct xc_view *view)
{
	static const char *const values[] = {"value", "data", NULL};
	struct xc_value box;
	uint64_t strong, weak, length;
	if (!box_of(&view->value, &box, &length))
		return false;
	view->kind = XC_VIEW_EMPTY;
	view->state[0] = box.addr != UINT64_MAX;
	if (view->shape->number && box.addr == UINT64_MAX)
		return true;
	if (!wrapped_number(&box, strong_paths, &strong) || !wrapped_number(&box, weak_paths, &weak))
		return xc_view_invalid(view, "its counts at 0x%" PRIx64 " cannot be read", box.addr);
	if ((int64_t)strong < 0 || (int64_t)weak <= 0 || (strong == 0 && !view->shape->number))
		return xc_view_invalid(view, "strong count %" PRId64 ", weak count %" PRId64, (int64_t)strong,
				       (int64_t)weak);
	view->state[1] = strong;
	view->state[2] = weak - (strong > 0);
	if (strong == 0)
		return true; /* the value is gone */
	view->kind = XC_VIEW_WRAPPER;
	view->count = 1;
	view->count_known = true;
	if (!xc_view_part_of(&box, &view->part, values))
		return false;
	return length == 0 || open_unsized(view, length);
}

static void summary_of_counted(const struct xc_view *view, struct xc_text *text)
{
	const char *name = strrchr(view->shape->title, ':');
	name = name ? name + 1 : view->shape->title;
	if (!view->state[0])
		xc_text_printf(text, "%s(dangling)", name);
	else
		xc_text_printf(text, "%s(strong=%" PRIu64 ", weak=%" PRIu64 ")%s", name, view->state[1], view->state[2],
			       view->kind == XC_VIEW_TEXT ? " " : "");
}

static bool next_value(struct xc_view *view, struct xc_view_child *child)
{
	if (view->contiguous)
		return xc_view_next_contiguous(view, child);
	child->name = "value";
	child->value = view->part;
	return view->index == 0;
}

/* ---- trait objects: a pointer and a table of {drop_in_place, size, alignment, methods …} ---- */

static bool is_trait_object(const struct xc_type *type, struct xc_view_shape *shape)
{
	return xc_view_points_at(type, "pointer", shape) && xc_view_has(type, "vtable", NULL);
}

/* drop_in_place is made for the type, and the first method's `self` points to it; types without anything to drop have
 * no drop_in_place since 1.79. Optimisers make one of functions of equal code, of whatever type: so they must agree.
 * */
static const struct xc_type *concrete_type(const struct xc_view *view, xc_addr table)
{
	const struct xc_process *process = view->value.process;
	uint64_t word = process->arch->word, drop, method = 0, size, have;
	if (!xc_view_word(view, table, &drop) || !xc_view_word(view, table + word, &size))
		return NULL;
	xc_view_word(view, table + 3 * word, &method);
	const struct xc_type *dropped = xc_view_function_argument(process, drop);
	const struct xc_type *self = xc_view_function_self(process, method);
	if (dropped && self && strcmp(xc_type_name(dropped), xc_type_name(self)) != 0)
		return NULL;
	const struct xc_type *type = self ? self : dropped;
	return type && xc_type_size(type, &have) && have == size ? type : NULL;
}

static bool open_trait_object(struct xc_view *view)
{
	uint64_t pointer, table;
	if (!xc_view_number(&view->value, "pointer", &pointer) || !xc_view_number(&view->value, "vtable", &table))
		return false;
	const struct xc_type *type = concrete_type(view, table);
	view->kind = XC_VIEW_WRAPPER;
	view->count = 1;
	view->count_known = true;
	if (type)
		view->part = xc_value_memory(view->value.process, type, pointer);
	return type != NULL;
}

static void summary_of_trait_object(const struct xc_view *view, struct xc_text *text)
{
	xc_view_type_name(text, view->value.type);
	xc_text_add(text, " containing ");
	xc_view_type_name(text, view->part.type);
}

/* ---- cells and locks ---- */

static const char *const content_paths[] = {"value.value", "data.value", "v.value", "v", NULL};
static const char *const borrow_paths[] = {"borrow", NULL};

static bool is_cell(const struct xc_type *type, struct xc_view_shape *shape)
{
	shape->number = xc_view_has(type, "borrow", NULL);
	for (size_t i = 0; content_paths[i]; i++) {
		if (xc_view_has(type, content_paths[i], &shape->element))
			return true;
	}
	return false;
}

static bool open_cell(struct xc_view *view)
{
	if (view->shape->number && !wrapped_number(&view->value, borrow_paths, &view->state[0]))
		return false;
	return xc_view_wrap_pointer(view, content_paths);
}

static void summary_of_cell(const struct xc_view *view, struct xc_text *text)
{
	const char *name = strrchr(view->shape->title, ':');
	int64_t borrow = (int64_t)view->state[0];
	uint64_t poisoned;
	xc_text_add(text, name ? name + 1 : view->shape->title);
	if (view->shape->number && borrow >= 0)
		xc_text_printf(text, "(borrow=%" PRId64 ")", borrow);
	else if (view->shape->number)
		xc_text_printf(text, "(borrow_mut=%" PRIu64 ")", -(uint64_t)borrow);
	else if (xc_view_number(&view->value, "poison.failed", &poisoned) && poisoned)
		xc_text_add(text, "(poisoned)");
	else if (xc_view_number(&view->value, "poison.failed.v.value", &poisoned) && poisoned)
		xc_text_add(text, "(poisoned)");
}

static bool is_ref(const struct xc_type *type, struct xc_view_shape *shape)
{
	return xc_view_has(type, "value", &shape->element) && xc_view_has(type, "borrow", NULL);
}

static bool open_ref(struct xc_view *view)
{
	static const char *const paths[] = {"value", NULL};
	struct xc_value pointer;
	uint64_t addr;
	if (!xc_view_wrap_pointer(view, paths) || !xc_view_unwrap(&view->part, &pointer))
		return view->kind == XC_VIEW_WRAPPER; /* to something unsized */
	const struct xc_type *type = xc_type_strip(pointer.type);
	if (type->kind == XC_TYPE_POINTER && xc_value_load(&pointer, &addr))
		view->part = xc_value_memory(pointer.process, type->target, addr);
	return true;
}

static void summary_of_ref(const struct xc_view *view, struct xc_text *text)
{
	const char *name = strrchr(view->shape->title, ':');
	xc_text_add(text, name ? name + 1 : view->shape->title);
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

static void no_summary(const struct xc_view *view, struct xc_text *text)
{
	(void)view;
	(void)text;
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
	    !wrapped_number(&view->value, nanos_paths, &view->state[1]))
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

#define CELL(name)                                                                                                     \
	{                                                                                                              \
		name, is_cell, open_cell, summary_of_cell, next_value, NULL, NULL                                      \
	}
#define NUMBER(name)                                                                                                   \
	{                                                                                                              \
		name, is_number, open_number, no_summary, xc_view_next_bare, NULL, NULL                                \
	}

const struct xc_view_hook xc_view_rust[] = {
	{"alloc::string::String", is_string, open_string, NULL, NULL, NULL, NULL},
	{"std::ffi::os_str::OsString", is_string, open_string, NULL, NULL, NULL, NULL},
	{"std::path::PathBuf", is_string, open_string, NULL, NULL, NULL, NULL},
	{"alloc::vec::Vec", is_vec, open_vec, summary_with_size, NULL, NULL, NULL},
	{"alloc::collections::vec_deque::VecDeque", is_deque, open_deque, summary_with_size, next_of_deque, NULL, NULL},
	{"alloc::collections::binary_heap::BinaryHeap", is_heap, open_heap, NULL, NULL, NULL, NULL},
	{"&*", is_slice, open_slice, summary_of_slice, NULL, NULL, NULL},
	{"**", is_slice, open_slice, summary_of_slice, NULL, NULL, NULL},
	{"alloc::boxed::Box", is_slice, open_slice, summary_of_slice, NULL, NULL, NULL},
	{"&*", is_trait_object, open_trait_object, summary_of_trait_object, next_value, NULL, NULL},
	{"**", is_trait_object, open_trait_object, summary_of_trait_object, next_value, NULL, NULL},
	{"alloc::boxed::Box", is_trait_object, open_trait_object, summary_of_trait_object, next_value, NULL, NULL},
	{"alloc::rc::Rc", is_counted, open_counted, summary_of_counted, next_value, NULL, NULL},
	{"alloc::rc::Weak", is_counted, open_counted, summary_of_counted, next_value, NULL, NULL},
	{"alloc::sync::Arc", is_counted, open_counted, summary_of_counted, next_value, NULL, NULL},
	{"alloc::sync::Weak", is_counted, open_counted, summary_of_counted, next_value, NULL, NULL},
	CELL("core::cell::Cell"),
	CELL("core::cell::RefCell"),
	CELL("std::sync::mutex::Mutex"),
	CELL("std::sync::poison::mutex::Mutex"),
	CELL("std::sync::rwlock::RwLock"),
	CELL("std::sync::poison::rwlock::RwLock"),
	{"core::cell::Ref", is_ref, open_ref, summary_of_ref, next_value, NULL, NULL},
	{"core::cell::RefMut", is_ref, open_ref, summary_of_ref, next_value, NULL, NULL},
	NUMBER("core::sync::atomic::Atomic*"),
	NUMBER("core::num::nonzero::NonZero*"),
	{"core::time::Duration", is_duration, open_duration, summary_of_duration, NULL, NULL, NULL},
	{.name = NULL},
};
