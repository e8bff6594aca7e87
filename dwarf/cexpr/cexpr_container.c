/* cexpr_container: containers of C++ and Rust in expressions, by their content (view.h): v[3], map["key"], *owner,
 * owner->member, and the fields of an enum's variant. The program's own operators are never called. */
#include "dwarf/cexpr/cexpr_impl.h"
#include "dwarf/format/format.h"
#include "dwarf/value/variant.h"
#include "dwarf/view/view.h"

enum { MAX_STEPS = 1 << 22, MAX_KEY = 4096 };

static bool open_view(const struct xc_value *value, struct xc_view *view)
{
	return xc_type_is_record(value->type) && xc_view_open(value, view) == XC_VIEW_FOUND;
}

bool xc_cexpr_content(struct xc_cexpr *c, const struct xc_value *value, struct xc_value *out)
{
	struct xc_view view;
	struct xc_view_child child;
	if (c->dry || !open_view(value, &view) || view.kind != XC_VIEW_WRAPPER || !xc_view_next(&view, &child))
		return false;
	*out = child.value;
	return true;
}

bool xc_cexpr_variant_member(const struct xc_value *value, const char *name, struct xc_value *out)
{
	const struct xc_type *type = xc_type_complete(xc_type_strip(value->type));
	if (!xc_type_is_record(type) || !type->has_variants || !type->is_rust)
		return false;
	const struct xc_member *variant = xc_variant_member(value, NULL);
	struct xc_value payload;
	if (!variant)
		return false;
	xc_value_field(value, variant, &payload);
	if (variant->name && strcmp(variant->name, name) == 0) {
		*out = payload;
		return true;
	}
	struct xc_error *err = xc_value_member(&payload, name, out);
	bool found = !err;
	xc_error_free(err);
	return found;
}

/* ---- keys ---- */

/* The characters of a string constant, a char array, a container that is a text, or the target of a char pointer. */
static bool read_text(const struct xc_value *value, char *buf, size_t *len_out)
{
	const struct xc_type *type = xc_type_strip(value->type);
	struct xc_view view;
	unsigned width;
	uint64_t addr;
	if (type->kind == XC_TYPE_POINTER) {
		if (!xc_format_textual(type->target, &width) || width != 1 || !xc_value_load(value, &addr))
			return false;
		long len = xc_space_peek_string(value->process->space, addr, buf, MAX_KEY, NULL);
		*len_out = (size_t)len;
		return len >= 0;
	}
	if (type->kind == XC_TYPE_ARRAY) {
		if (!xc_format_textual(type->target, &width) || width != 1 || type->count > MAX_KEY ||
		    !xc_value_peek(value, 0, buf, (size_t)type->count))
			return false;
		*len_out = strnlen(buf, (size_t)type->count);
		return true;
	}
	if (!open_view(value, &view) || view.kind != XC_VIEW_TEXT || view.count > MAX_KEY ||
	    xc_value_size(&view.elements) != 1)
		return false;
	*len_out = (size_t)view.count;
	return xc_value_peek(&view.elements, 0, buf, (size_t)view.count);
}

static bool same_key(const struct xc_value *key, const struct xc_value *wanted, const char *text, size_t text_len)
{
	uint64_t a, b;
	char buf[MAX_KEY + 1];
	size_t len;
	if (text)
		return read_text(key, buf, &len) && len == text_len && memcmp(buf, text, len) == 0;
	return xc_value_load(key, &a) && xc_value_load(wanted, &b) && a == b;
}

static struct xc_error *find_key(struct xc_view *view, const struct xc_value *wanted, struct xc_value *out)
{
	struct xc_view_child child;
	char text[MAX_KEY + 1];
	size_t len;
	bool is_text = read_text(wanted, text, &len);
	for (uint32_t steps = 0; steps < MAX_STEPS && xc_view_next(view, &child); steps++) {
		if (same_key(&child.key, wanted, is_text ? text : NULL, len)) {
			*out = child.value;
			return NULL;
		}
	}
	if (view->why[0])
		return xc_error_new(XC_ERR_FAULT, "%s: %s", view->shape->title, view->why);
	return xc_error_new(XC_ERR_NOT_FOUND, "no such key among %llu elements", (unsigned long long)view->count);
}

/* ---- positions ---- */

static struct xc_error *find_position(struct xc_view *view, int64_t index, struct xc_value *out)
{
	struct xc_view_child child;
	uint64_t size;
	if (index < 0 || (view->count_known && (uint64_t)index >= view->count))
		return xc_error_new(XC_ERR_LIMIT, "index %lld is outside %s of length %llu", (long long)index,
				    view->shape->title, (unsigned long long)view->count);
	bool direct = view->contiguous || view->kind == XC_VIEW_TEXT;
	if (direct && xc_type_size(view->elements.type, &size)) {
		*out = view->elements;
		out->addr += (uint64_t)index * size;
		out->at += (uint64_t)index * size;
		return NULL;
	}
	for (int64_t i = 0; i < MAX_STEPS && xc_view_next(view, &child); i++) {
		if (i == index) {
			*out = child.value;
			return NULL;
		}
	}
	return xc_error_new(XC_ERR_LIMIT, "no element %lld%s%s", (long long)index, view->why[0] ? ": " : "", view->why);
}

struct xc_error *xc_cexpr_container_index(struct xc_cexpr *c, const struct xc_value *value,
					  const struct xc_value *index, struct xc_value *out, bool *handled_out)
{
	struct xc_view view;
	struct xc_cnumber number;
	struct xc_error *err;
	*handled_out = !c->dry && open_view(value, &view) &&
		       (view.kind == XC_VIEW_LIST || view.kind == XC_VIEW_MAP || view.kind == XC_VIEW_TEXT);
	if (!*handled_out)
		return NULL;
	if (view.kind == XC_VIEW_MAP)
		return find_key(&view, index, out);
	if ((err = xc_cexpr_number(c, index, &number)))
		return err;
	if (number.is_real)
		return xc_error_new(XC_ERR_USAGE, "`%s` is not an index", xc_type_name(index->type));
	return find_position(&view, (int64_t)number.bits, out);
}
