/* view: selects the hook for a type, and opens containers.
 *
 * The name of a type is reduced to the name of the template ("std::vector" of "std::__1::vector<int, …>"). Libraries
 * use inline namespaces for versions, and the shape decides which library it is. Hooks of several libraries may have
 * the same name; the first whose recogniser accepts the type is used. The result is kept for each type, so a value that
 * is not a container costs one lookup. */
#include "dwarf/view/view.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "dwarf/view/view_impl.h"

struct xc_views {
	struct xc_pointer_map shapes; /* type → its shape */
	const struct xc_view_hook *added;
};

static struct xc_views *views_of(struct xc_types *types)
{
	if (!types->views)
		types->views = xc_arena_alloc(types->arena, sizeof *types->views);
	return types->views;
}

void xc_view_add(const struct xc_process *process, struct xc_view_hook *hook)
{
	struct xc_views *views = views_of(xc_types_of(process));
	hook->link = views->added;
	views->added = hook;
}

/* ---- which hook ---- */

/* The length of an inline namespace for a version of the library, with its "::"; 0 when there is none. */
static size_t version_length(const char *name)
{
	static const char *const versions[] = {
		"__cxx11::",   "__1::",     "__2::", "__ndk1::",          "__8::",
		"__cxx1998::", "__debug::", "_V2::", "fundamentals_v1::", "fundamentals_v2::"};
	for (size_t i = 0; i < XC_COUNT(versions); i++) {
		size_t len = strlen(versions[i]);
		if (strncmp(name, versions[i], len) == 0)
			return len;
	}
	return 0;
}

/* Reduce a type's name to the template's. False when the rest is not the name of a class ("ns::C<int>::iterator"). */
static bool title_of(const char *name, char *title, size_t size)
{
	size_t len = 0;
	bool start = false; /* of a component within std */
	if (*name == '&' || *name == '*') {
		snprintf(title, size, "%s", name);
		return true;
	}
	for (; *name && *name != '<'; name++) {
		size_t skip = start ? version_length(name) : 0;
		if (skip) {
			name += skip - 1;
			continue;
		}
		if (len + 1 >= size)
			return false;
		title[len++] = *name;
		start = *name == ':' && name[-1] == ':' && strncmp(title, "std::", 5) == 0;
	}
	title[len] = '\0';
	if (*name != '<')
		return true;
	unsigned depth = 0;
	for (; *name; name++) {
		depth += *name == '<';
		depth -= *name == '>' && name[-1] != '-' && depth > 0;
		if (depth == 0)
			break;
	}
	return *name && name[1] == '\0';
}

static bool name_fits(const struct xc_view_hook *hook, const char *title)
{
	size_t len = strlen(hook->name);
	bool open = len > 0 && hook->name[len - 1] == '*';
	return open ? strncmp(hook->name, title, len - 1) == 0 : strcmp(hook->name, title) == 0;
}

static bool takes(const struct xc_view_hook *hook, const struct xc_type *type, struct xc_view_shape *shape)
{
	if (!name_fits(hook, shape->title))
		return false;
	struct xc_view_shape tried = {.title = shape->title, .hook = hook};
	if (hook->recognise && !hook->recognise(type, &tried))
		return false;
	*shape = tried;
	return true;
}

static bool choose(const struct xc_views *views, const struct xc_type *type, struct xc_view_shape *shape)
{
#define TABLE(name) xc_view_##name,
	static const struct xc_view_hook *const tables[] = {XC_VIEW_TABLES(TABLE)};
#undef TABLE
	for (const struct xc_view_hook *hook = views->added; hook; hook = hook->link) {
		if (takes(hook, type, shape))
			return true;
	}
	for (size_t i = 0; i < XC_COUNT(tables); i++) {
		for (const struct xc_view_hook *hook = tables[i]; hook->name; hook++) {
			if (takes(hook, type, shape))
				return true;
		}
	}
	return false;
}

const struct xc_view_shape *xc_view_shape_of(const struct xc_process *process, const struct xc_type *type)
{
	struct xc_types *types = xc_types_of(process);
	struct xc_views *views = views_of(types);
	void **slot = xc_pointer_map_at(&views->shapes, types->arena, type, NULL);
	struct xc_view_shape *shape = *slot;
	if (shape)
		return shape;
	shape = xc_arena_alloc(types->arena, sizeof *shape);
	char title[XC_VIEW_TITLE];
	*slot = shape; /* before the hooks run, which may ask for the same type */
	if (type->name && title_of(type->name, title, sizeof title)) {
		struct xc_view_shape found = {.title = xc_arena_strdup(types->arena, title)};
		if (choose(views, type, &found))
			*shape = found;
	}
	return shape;
}

static bool is_class(const struct xc_type *type)
{
	return type->kind == XC_TYPE_STRUCT || type->kind == XC_TYPE_CLASS ||
	       (type->kind == XC_TYPE_POINTER && type->name);
}

static enum xc_view_result open_nested(const struct xc_value *value, struct xc_view *view, unsigned nesting)
{
	const struct xc_type *type = xc_view_plain(value->type);
	view->why[0] = '\0';
	if (!is_class(type) || value->kind == XC_VALUE_ABSENT || value->kind == XC_VALUE_POINTEE ||
	    nesting > XC_VIEW_NESTING)
		return XC_VIEW_NONE;
	const struct xc_view_shape *shape = xc_view_shape_of(value->process, type);
	if (!shape->hook)
		return XC_VIEW_NONE;
	*view = (struct xc_view){.shape = shape, .value = *value, .nesting = nesting};
	view->value.type = type;
	if (shape->hook->open(view))
		return XC_VIEW_FOUND;
	/* without a reason, parts are missing: the members show why */
	return view->why[0] ? XC_VIEW_INVALID : XC_VIEW_NONE;
}

enum xc_view_result xc_view_open(const struct xc_value *value, struct xc_view *view)
{
	return open_nested(value, view, 0);
}

void xc_view_summary(const struct xc_view *view, struct xc_text *text)
{
	xc_text_add(text, view->prefix);
	if (view->shape->hook->summary)
		view->shape->hook->summary(view, text);
	else if (view->kind != XC_VIEW_TEXT)
		xc_text_add(text, view->shape->title);
}

bool xc_view_next_contiguous(struct xc_view *view, struct xc_view_child *child)
{
	uint64_t size;
	if (view->index >= view->count || !xc_type_size(view->elements.type, &size))
		return false;
	child->value = xc_view_cast(&view->elements, view->elements.type, view->index * size);
	return true;
}

bool xc_view_next(struct xc_view *view, struct xc_view_child *child)
{
	child->name = NULL;
	if (view->why[0] || view->kind == XC_VIEW_TEXT || view->kind == XC_VIEW_EMPTY || view->kind == XC_VIEW_PLAIN)
		return false;
	bool got;
	if (view->shape->hook->next)
		got = view->shape->hook->next(view, child);
	else if (view->kind == XC_VIEW_WRAPPER)
		got = view->index == 0;
	else
		got = view->contiguous && xc_view_next_contiguous(view, child);
	if (got && !view->shape->hook->next && view->kind == XC_VIEW_WRAPPER) {
		child->name = "[contained value]";
		child->value = view->part;
	}
	view->index += got;
	return got;
}

/* ---- opening ---- */

bool xc_view_invalid(struct xc_view *view, const char *format, ...)
{
	va_list args;
	va_start(args, format);
	vsnprintf(view->why, sizeof view->why, format, args);
	va_end(args);
	return false;
}

bool xc_view_missing(struct xc_view *view, const char *what, const struct xc_value *part)
{
	struct xc_text text = {0};
	bool known = xc_value_why(part, 0, 1, &text);
	xc_view_invalid(view, "%s at %s", what, known ? xc_text_string(&text) : "an unreadable address");
	xc_text_fini(&text);
	return false;
}

static struct xc_value in_memory(const struct xc_view *view, const struct xc_type *type, xc_addr addr)
{
	return xc_value_memory(view->value.process, type, addr);
}

static bool check_range(struct xc_view *view, xc_addr begin, uint64_t len)
{
	struct xc_value first = in_memory(view, view->shape->element, begin);
	struct xc_value last = in_memory(view, view->shape->element, begin + len - 1);
	uint8_t byte;
	if (len == 0)
		return true;
	if (len - 1 > UINT64_MAX - begin)
		return xc_view_invalid(view, "elements beyond the end of memory");
	if (!xc_value_peek(&first, 0, &byte, 1))
		return xc_view_missing(view, "elements", &first);
	if (!xc_value_peek(&last, 0, &byte, 1))
		return xc_view_missing(view, "the last element", &last);
	return true;
}

bool xc_view_array(struct xc_view *view, xc_addr begin, xc_addr end, xc_addr cap)
{
	uint64_t size;
	if (!xc_type_size(view->shape->element, &size) || size == 0)
		return xc_view_invalid(view, "the size of its elements is not known");
	if (end < begin)
		return xc_view_invalid(view, "end before begin");
	if (cap < end)
		return xc_view_invalid(view, "end of storage before end");
	if ((end - begin) % size != 0 || (cap - begin) % size != 0)
		return xc_view_invalid(view, "not a whole number of elements");
	if ((begin == 0) != (cap == 0) || (begin == cap && begin != 0)) /* no elements, no allocation */
		return xc_view_invalid(view, "room for %" PRIu64 " elements at 0x%" PRIx64, (cap - begin) / size,
				       begin);
	if (!check_range(view, begin, end - begin))
		return false;
	return xc_view_counted(view, begin, (end - begin) / size);
}

bool xc_view_counted(struct xc_view *view, xc_addr begin, uint64_t count)
{
	uint64_t size, len;
	if (!xc_type_size(view->shape->element, &size))
		return xc_view_invalid(view, "the size of its elements is not known");
	if (__builtin_mul_overflow(size, count, &len))
		return xc_view_invalid(view, "more elements than memory");
	view->kind = XC_VIEW_LIST;
	view->contiguous = view->count_known = true;
	view->count = count;
	view->elements = in_memory(view, view->shape->element, begin);
	return check_range(view, begin, len);
}

bool xc_view_characters(struct xc_view *view, xc_addr addr, uint64_t count)
{
	if (!xc_view_counted(view, addr, count))
		return false;
	view->kind = XC_VIEW_TEXT;
	view->contiguous = false;
	return true;
}

enum xc_view_result xc_view_become(struct xc_view *view, const struct xc_value *part, const char *prefix)
{
	struct xc_view inner;
	enum xc_view_result result = open_nested(part, &inner, view->nesting + 1);
	if (result != XC_VIEW_FOUND)
		return result;
	char own[XC_VIEW_PREFIX];
	memcpy(own, inner.prefix, sizeof own);
	snprintf(inner.prefix, sizeof inner.prefix, "%s%s", prefix, own);
	*view = inner;
	return XC_VIEW_FOUND;
}

static bool has_summary_and_children(const struct xc_view *view)
{
	bool parts = view->kind == XC_VIEW_RECORD || view->kind == XC_VIEW_WRAPPER;
	return view->kind == XC_VIEW_LIST || view->kind == XC_VIEW_MAP || (parts && view->shape->hook->summary);
}

bool xc_view_wrap(struct xc_view *view, const struct xc_value *part, const char *title)
{
	struct xc_view inner;
	char prefix[XC_VIEW_PREFIX];
	if (open_nested(part, &inner, view->nesting + 1) == XC_VIEW_FOUND && has_summary_and_children(&inner)) {
		snprintf(prefix, sizeof prefix, "%s containing ", title);
		return xc_view_become(view, part, prefix) == XC_VIEW_FOUND;
	}
	view->kind = XC_VIEW_WRAPPER;
	view->part = *part;
	view->count = 1;
	view->count_known = true;
	return true;
}
