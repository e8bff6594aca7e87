/* view_rust_holders: Rc, Arc and Weak, trait objects, cells and locks of Rust's library.
 *
 * Layouts of rustc 1.55 to 1.95 (library/alloc/src/rc.rs, sync.rs; library/core/src/cell.rs; library/std/src/sync). */
#include <inttypes.h>
#include <string.h>

#include "dwarf/lookup/rust_vtable.h"
#include "dwarf/view/view_impl.h"

/* ---- what a table of {drop_in_place, size, alignment, methods …} is of ---- */

/* drop_in_place is compiled for the type, and `self` of the first method points to it. Since 1.79, types without
 * anything to drop have no drop_in_place. Optimisers merge functions of equal code, whatever their types, so both must
 * agree. */
static const struct xc_type *type_by_functions(const struct xc_view *view, xc_addr table)
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

/* By the table itself where its functions do not say it: that costs a search among all variables. */
static const struct xc_type *concrete_type(const struct xc_view *view, xc_addr table)
{
	const struct xc_type *type = type_by_functions(view, table);
	return type ? type : xc_rust_vtable_type(view->value.process, table);
}

/* ---- Rc, Arc, Weak ----
 *
 * A pointer to {strong, weak, value}. All strong pointers together hold one weak count. A pointer to an unsized value
 * is {data_ptr, length} or {pointer, vtable}; that of a trait object
 * lies behind the counts as far as its alignment asks. A Weak that was never attached points to the highest address. */

enum {
	MOST_ALIGN = 1 << 29, /* as rustc allows */
	HOLDERS = 8,          /* RefCell, UnsafeCell, … around a trait object */
};

static const char *const strong_paths[] = {"strong", NULL};
static const char *const weak_paths[] = {"weak", NULL};

/* What the pointer has beside the address: the length of a slice, or the table of a trait object; else 0. */
struct metadata {
	uint64_t length, table;
};

static bool box_of(const struct xc_value *value, struct xc_value *box, struct metadata *more)
{
	struct xc_value pointer, fat;
	uint64_t addr;
	*more = (struct metadata){0};
	if (!xc_view_part(value, "ptr", &pointer))
		return false;
	if (xc_view_part(&pointer, "pointer.data_ptr", &fat) || xc_view_part(&pointer, "pointer.pointer", &fat)) {
		if (!xc_view_number(&pointer, "pointer.length", &more->length) &&
		    !xc_view_number(&pointer, "pointer.vtable", &more->table))
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
	const struct xc_type *element = text ? xc_view_byte_below(view->part.type) : xc_view_plain(view->part.type);
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

/* A struct with a trait object as its last member, such as RcInner<dyn Trait>, has others before it. */
static bool is_dyn(const struct xc_type *type)
{
	const char *name = xc_type_name(type);
	return xc_begins_with(name + (*name == '('), "dyn ");
}

/* Where the trait object is that a type holds as its last member, if it does: RefCell<dyn Trait> has its flag before
 * it. `at` is where an object of the type begins. */
static bool find_dyn(const struct xc_type *type, uint64_t align, xc_addr *at)
{
	for (unsigned depth = 0; depth < HOLDERS && !is_dyn(type); depth++) {
		size_t count, last = 0;
		const struct xc_member *members = xc_type_members(xc_type_complete(type), &count);
		for (size_t i = 0; i < count; i++)
			if (members[i].offset >= members[last].offset)
				last = i;
		if (!count || members[last].dynamic)
			return false;
		*at = (*at + members[last].offset + align - 1) & ~(align - 1);
		type = xc_type_strip(members[last].type);
	}
	return is_dyn(type);
}

/* view->part: the trait object that `element` holds, of which one begins at `at`, or behind as its alignment asks. */
static bool open_dyn(struct xc_view *view, const struct xc_type *element, xc_addr at, xc_addr table)
{
	const uint64_t word = view->value.process->arch->word;
	const struct xc_type *type = concrete_type(view, table);
	uint64_t align;
	if (!type || !xc_view_word(view, table + 2 * word, &align) || !align || align & (align - 1) ||
	    align > MOST_ALIGN)
		return false;
	at = (at + align - 1) & ~(align - 1);
	if (!find_dyn(element, align, &at))
		return false;
	view->part = xc_value_memory(view->value.process, type, at);
	return true;
}

static bool open_counted(struct xc_view *view)
{
	static const char *const values[] = {"value", "data", NULL};
	struct xc_value box;
	struct metadata more;
	uint64_t strong, weak;
	if (!box_of(&view->value, &box, &more))
		return false;
	view->kind = XC_VIEW_EMPTY;
	view->state[0] = box.addr != UINT64_MAX;
	if (view->shape->number && box.addr == UINT64_MAX)
		return true;
	if (!xc_view_wrapped_number(&box, strong_paths, &strong) || !xc_view_wrapped_number(&box, weak_paths, &weak))
		return xc_view_invalid(view, "its counts at 0x%" PRIx64 " cannot be read", box.addr);
	if ((int64_t)strong < 0 || (int64_t)weak <= 0 || (strong == 0 && !view->shape->number))
		return xc_view_invalid(view, "strong count %" PRId64 ", weak count %" PRId64, (int64_t)strong,
				       (int64_t)weak);
	view->state[1] = strong;
	view->state[2] = weak - (strong > 0);
	if (strong == 0)
		return true; /* the value was dropped */
	view->kind = XC_VIEW_WRAPPER;
	view->count = 1;
	view->count_known = true;
	if (more.table) /* behind two counts */
		return view->shape->element && open_dyn(view, xc_type_strip(view->shape->element),
							box.addr + 2 * view->value.process->arch->word, more.table);
	if (!xc_view_part_of(&box, &view->part, values))
		return false;
	return more.length == 0 || open_unsized(view, more.length);
}

static void summary_of_counted(const struct xc_view *view, struct xc_text *text)
{
	const char *name = xc_view_last_name(view);
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

static const struct xc_view_link trait_links[] = {
	{XC_LINK_ERASED, "", XC_VIEW_PATHS("pointer"), XC_VIEW_PATHS("vtable"), 0}, {0}};

static bool is_trait_object(const struct xc_type *type, struct xc_view_shape *shape)
{
	shape->links = trait_links;
	return xc_view_points_at(type, "pointer", shape) && xc_view_has(type, "vtable", NULL);
}

static bool open_trait_object(struct xc_view *view)
{
	uint64_t pointer, table;
	if (!xc_view_number(&view->value, "pointer", &pointer) || !xc_view_number(&view->value, "vtable", &table))
		return false;
	view->kind = XC_VIEW_WRAPPER;
	view->count = 1;
	view->count_known = true;
	return open_dyn(view, xc_type_strip(view->shape->element), pointer, table);
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
	return xc_view_has_of(type, content_paths, &shape->element);
}

static bool open_cell(struct xc_view *view)
{
	if (view->shape->number && !xc_view_wrapped_number(&view->value, borrow_paths, &view->state[0]))
		return false;
	return xc_view_wrap_pointer(view, content_paths);
}

static void summary_of_cell(const struct xc_view *view, struct xc_text *text)
{
	int64_t borrow = (int64_t)view->state[0];
	uint64_t poisoned;
	xc_text_add(text, xc_view_last_name(view));
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
	xc_text_add(text, xc_view_last_name(view));
}

#define CELL(name)                                                                                                     \
	{                                                                                                              \
		name, is_cell, open_cell, summary_of_cell, next_value, NULL, NULL                                      \
	}

const struct xc_view_hook xc_view_rust_holders[] = {
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
	{.name = NULL},
};
