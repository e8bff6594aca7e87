/* format_view: containers as text, in the form of gdb's printers for libstdc++:
 *
 *	std::vector of length 3, capacity 4 = {1, 2, 3}
 *	std::map with 2 elements = {["a"] = 1, ["b"] = 2}
 *	std::__cxx11::list = {[0] = 1, [1] = 2}          (here without __cxx11)
 *	std::shared_ptr<int> (use count 1, weak count 0) = {get() = 0x55…}
 *
 * Unlike in gdb, runs of equal elements are folded like those of arrays, and a damaged container is marked before its
 * members. */
#include <inttypes.h>

#include "dwarf/format/format_impl.h"
#include "dwarf/view/view.h"

static void write_name(struct xc_writer *w, const struct xc_view *view, const struct xc_view_child *child)
{
	if (child->name) {
		xc_text_name(w->text, child->name);
		xc_text_add(w->text, " = ");
	} else if (view->kind == XC_VIEW_MAP) {
		xc_text_char(w->text, '[');
		xc_format_nested(w, &child->key);
		xc_text_add(w->text, "] = ");
	} else if (view->numbered) {
		xc_text_printf(w->text, "[%" PRIu64 "] = ", view->index - 1);
	}
}

static void write_children(struct xc_writer *w, struct xc_view *view)
{
	struct xc_view_child child;
	uint64_t shown = 0;
	bool more;
	for (; (more = xc_view_next(view, &child)); shown++) {
		if (shown >= w->options->elements || xc_writer_full(w))
			break;
		xc_text_add(w->text, shown ? ", " : "");
		write_name(w, view, &child);
		xc_format_nested(w, &child.value);
	}
	if (more)
		xc_text_add(w->text, "...");
	else if (view->why[0])
		xc_text_printf(w->text, "%s<%s>", shown ? ", " : "", view->why);
}

static bool write_contiguous(struct xc_writer *w, struct xc_view *view)
{
	uint64_t size;
	if (!view->contiguous || view->shape->hook->next || view->numbered || !xc_type_size(view->elements.type, &size))
		return false;
	xc_format_elements(w, &view->elements, view->elements.type, view->count, size);
	return true;
}

static void write_body(struct xc_writer *w, struct xc_view *view)
{
	if (w->records > w->options->depth) {
		xc_text_add(w->text, "{...}");
		return;
	}
	xc_text_char(w->text, '{');
	w->depth++;
	w->records++;
	if (!write_contiguous(w, view))
		write_children(w, view);
	w->records--;
	w->depth--;
	xc_text_char(w->text, '}');
}

static bool has_children(const struct xc_view *view)
{
	struct xc_view copy = *view;
	struct xc_view_child child;
	return xc_view_next(&copy, &child) || copy.why[0];
}

/* A wrapper without a summary is not shown. */
static bool write_bare(struct xc_writer *w, const struct xc_view *view)
{
	struct xc_view copy = *view;
	struct xc_view_child child;
	if (!xc_view_next(&copy, &child) || child.name)
		return false;
	w->depth++; /* the content may be a wrapper */
	xc_format_nested(w, &child.value);
	w->depth--;
	return true;
}

bool xc_format_view(struct xc_writer *w, const struct xc_value *value)
{
	struct xc_view view;
	size_t before = w->text->len;
	enum xc_view_result result = xc_view_open(value, &view);
	if (result == XC_VIEW_NONE)
		return false;
	if (result == XC_VIEW_INVALID) {
		xc_text_printf(w->text, "<not a valid %s: %s> ", view.shape->title, view.why);
		return false;
	}
	xc_view_summary(&view, w->text);
	if (view.kind == XC_VIEW_TEXT) {
		xc_format_characters(w, &view.elements, view.count);
		return true;
	}
	bool summary = w->text->len > before;
	if (view.kind == XC_VIEW_WRAPPER && !summary && write_bare(w, &view))
		return true;
	bool children = has_children(&view);
	if (children && summary)
		xc_text_add(w->text, " = ");
	if (children || !summary)
		write_body(w, &view);
	return true;
}
