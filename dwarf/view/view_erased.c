/* view_erased: std::any and std::function, which erase the type of their content.
 *
 * libstdc++ (any, bits/std_function.h) stores a pointer to a function of a class template over that type:
 *	std::any::_Manager_internal<T>::_S_manage, std::_Function_handler<R (A…), F>::_M_invoke
 * libc++ (any, __functional/function.h) stores one, or an object with a virtual function table:
 *	std::__1::__any_imp::_SmallHandler<T>::__handle, vtable for std::__1::__function::__func<F, A, R (A…)>
 * The name of that function contains the type's name. The type itself is that of a variable in the function, if there
 * is one. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "dwarf/elf/symbol.h"
#include "dwarf/view/view_impl.h"

enum { MAX_NAME = 1024 };

/* Append template argument `number` after `head` in a name, in its short form. */
static bool argument_in(const char *name, const char *head, unsigned number, struct xc_text *text)
{
	const char *at = name ? strstr(name, head) : NULL;
	unsigned depth = 0;
	if (!at)
		return false;
	at += strlen(head);
	for (const char *start = at; *at; at++) {
		bool close = *at == '>' && at[-1] != '-';
		if (depth == 0 && (*at == ',' || close)) {
			if (number-- == 0) {
				xc_auto(xc_freep) char *one = xc_asprintf("%.*s", (int)(at - start), start);
				for (size_t len = strlen(one); len > 0 && one[len - 1] == ' ';)
					one[--len] = '\0';
				xc_view_short_name(text, one + strspn(one, " "));
				return true;
			}
			if (close)
				return false;
			start = at + 1;
		}
		depth += *at == '<' || *at == '(' || *at == '{';
		depth -= depth > 0 && (close || *at == ')' || *at == '}');
	}
	return false;
}

static void note_content(struct xc_view *view, const char *name, const char *head, unsigned number)
{
	struct xc_text text = {0};
	if (argument_in(name, head, number, &text))
		snprintf(view->note, sizeof view->note, "%s", xc_text_string(&text));
	xc_text_fini(&text);
}

/* ---- any ---- */

static const struct xc_view_link any_links[] = {
	{XC_LINK_ERASED, "", XC_VIEW_PATHS("_M_storage"), XC_VIEW_PATHS("_M_manager"), 0}, {0}};

static bool is_any(const struct xc_type *type, struct xc_view_shape *shape)
{
	shape->links = any_links;
	return xc_view_has(type, "_M_manager", &shape->element) && xc_view_has(type, "_M_storage._M_ptr", NULL);
}

/* The type that the manager casts the storage to. */
static const struct xc_type *content_of_any(const struct xc_process *process, xc_addr manager)
{
	const struct xc_type *pointer = xc_view_function_local(process, manager, "__ptr");
	pointer = pointer ? xc_type_strip(pointer) : NULL;
	return pointer && pointer->kind == XC_TYPE_POINTER ? xc_view_plain(pointer->target) : NULL;
}

static bool open_any(struct xc_view *view)
{
	uint64_t manager, addr;
	struct xc_value storage;
	if (!xc_view_number(&view->value, "_M_manager", &manager) ||
	    !xc_view_part(&view->value, "_M_storage", &storage))
		return false;
	view->kind = XC_VIEW_EMPTY;
	if (manager == 0)
		return true;
	const char *name = xc_view_function_name(view->value.process, manager);
	bool inside = name && strstr(name, "::_Manager_internal<");
	if (!inside && (!name || !strstr(name, "::_Manager_external<")))
		return xc_view_invalid(view, "its manager 0x%" PRIx64 " is unknown", manager);
	note_content(view, name, inside ? "::_Manager_internal<" : "::_Manager_external<", 0);
	const struct xc_type *type = content_of_any(view->value.process, manager);
	view->state[0] = 1;
	if (!type)
		return true;
	if (!inside && !xc_view_number(&storage, "_M_ptr", &addr))
		return false;
	struct xc_value content =
		inside ? xc_view_cast(&storage, type, 0) : xc_value_memory(view->value.process, type, addr);
	return xc_view_wrap(view, &content, view->shape->title);
}

static const char *const handler_paths[] = {"__h", "__h_", NULL};
static const struct xc_view_link libcxx_any_links[] = {
	{XC_LINK_ERASED, "", XC_VIEW_PATHS("__s", "__s_"), handler_paths, 0}, {0}};

static bool is_libcxx_any(const struct xc_type *type, struct xc_view_shape *shape)
{
	shape->links = libcxx_any_links;
	return xc_view_has_of(type, handler_paths, &shape->element) &&
	       xc_type_strip(shape->element)->kind == XC_TYPE_POINTER;
}

static bool open_libcxx_any(struct xc_view *view)
{
	uint64_t function;
	if (!xc_view_number_of(&view->value, handler_paths, &function))
		return false;
	view->kind = XC_VIEW_EMPTY;
	if (function == 0)
		return true;
	const char *name = xc_view_function_name(view->value.process, function);
	note_content(view, name, "Handler<", 0);
	view->state[0] = 1;
	return view->note[0] || xc_view_invalid(view, "its handler 0x%" PRIx64 " is unknown", function);
}

static void summary_of_any(const struct xc_view *view, struct xc_text *text)
{
	xc_text_printf(text, view->state[0] ? "%s containing %s" : "%s [no contained value]", view->shape->title,
		       view->note);
}

/* ---- function ---- */

static const struct xc_view_link function_links[] = {
	{XC_LINK_ERASED, "", XC_VIEW_PATHS("_M_functor"), XC_VIEW_PATHS("_M_manager"), 0}, {0}};

static bool is_function(const struct xc_type *type, struct xc_view_shape *shape)
{
	shape->links = function_links;
	shape->element = xc_view_argument(type, 0);
	return shape->element && xc_view_has(type, "_M_functor", NULL) && xc_view_has(type, "_M_manager", NULL) &&
	       xc_view_has(type, "_M_invoker", NULL);
}

/* A target that is a function pointer is a child; any other target is only named by its type. */
static bool target(struct xc_view *view, const struct xc_value *pointer)
{
	if (!strstr(view->note, "(*)") || strstr(view->note, "{lambda")) {
		view->kind = XC_VIEW_PLAIN;
		return true;
	}
	view->kind = XC_VIEW_WRAPPER;
	view->count = 1;
	view->count_known = true;
	view->note[0] = '\0';
	view->part = xc_view_cast(pointer, xc_type_pointer(view->shape->element, view->value.process->arch->word), 0);
	return true;
}

static bool open_function(struct xc_view *view)
{
	uint64_t manager, invoker;
	struct xc_value functor;
	if (!xc_view_number(&view->value, "_M_manager", &manager) ||
	    !xc_view_number(&view->value, "_M_invoker", &invoker) ||
	    !xc_view_part(&view->value, "_M_functor", &functor))
		return false;
	view->kind = XC_VIEW_EMPTY;
	if (manager == 0)
		return true;
	note_content(view, xc_view_function_name(view->value.process, invoker), "_Function_handler<", 1);
	return view->note[0] ? target(view, &functor)
			     : xc_view_invalid(view, "its invoker 0x%" PRIx64 " is unknown", invoker);
}

static bool is_libcxx_function(const struct xc_type *type, struct xc_view_shape *shape)
{
	shape->element = xc_view_argument(type, 0);
	return shape->element && xc_view_has(type, "__f_.__f_", NULL) && xc_view_has(type, "__f_.__buf_", NULL);
}

/* A pointer to a __func: a virtual function table, then the target. */
static bool open_libcxx_function(struct xc_view *view)
{
	char name[MAX_NAME];
	uint64_t object, table, word = view->value.process->arch->word;
	if (!xc_view_number(&view->value, "__f_.__f_", &object))
		return false;
	view->kind = XC_VIEW_EMPTY;
	if (object == 0)
		return true;
	if (!xc_view_word(view, object, &table))
		return xc_view_invalid(view, "its target at 0x%" PRIx64 " cannot be read", object);
	note_content(view, xc_symbol_describe(view->value.process, table, name, sizeof name), "__func<", 0);
	struct xc_value pointer = xc_value_memory(view->value.process, view->shape->element, object + word);
	return view->note[0] ? target(view, &pointer) : xc_view_invalid(view, "its target has an unknown type");
}

static void summary_of_function(const struct xc_view *view, struct xc_text *text)
{
	xc_view_title_with_element(view, text);
	if (view->kind == XC_VIEW_EMPTY)
		xc_text_add(text, " [no target]");
	else if (view->kind == XC_VIEW_PLAIN)
		xc_text_printf(text, " containing %s", view->note);
}

static bool next_target(struct xc_view *view, struct xc_view_child *child)
{
	child->name = "target";
	child->value = view->part;
	return view->index == 0;
}

const struct xc_view_hook xc_view_erased[] = {
	{"std::any", is_any, open_any, summary_of_any, NULL, NULL, NULL},
	{"std::any", is_libcxx_any, open_libcxx_any, summary_of_any, NULL, NULL, NULL},
	{"std::function", is_function, open_function, summary_of_function, next_target, NULL, NULL},
	{"std::function", is_libcxx_function, open_libcxx_function, summary_of_function, next_target, NULL, NULL},
	{.name = NULL},
};
