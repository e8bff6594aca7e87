/* value_json_record: structs, variants and containers as JSON. */
#include <string.h>

#include "core/text/jsonvalue.h"
#include "dwarf/format/format_impl.h"
#include "dwarf/format/value_json_impl.h"
#include "dwarf/value/variant.h"
#include "dwarf/view/view.h"

/* Keeps all members with one name (damaged debug information, members of anonymous members): "x", "x#2", … "x#9", then
 * with larger numbers. */
static void set_member(json_t *object, const char *name, json_t *value)
{
	enum { FEW = 10 };
	xc_auto(xc_freep) char *other = NULL;
	for (size_t n = 2; json_object_get(object, other ? other : name); n++) {
		xc_freep(&other);
		other = xc_asprintf("%s#%zu", name, n < FEW ? n : json_object_size(object) + n);
	}
	xc_jsonvalue_set(object, other ? other : name, value);
}

/* A name of many bytes counts as several values. */
static void spend_name(struct xc_json_walker *w, const char *name)
{
	enum { PAID = 64 };
	const size_t price = strlen(name) / PAID;
	w->left -= w->left > price ? price : w->left - 1;
}

static void add_members(struct xc_json_walker *w, json_t *object, const struct xc_value *value,
			const struct xc_member *members, size_t count, unsigned nesting)
{
	for (size_t i = 0; i < count && w->left > 0; i++) {
		struct xc_value field;
		xc_value_field(value, &members[i], &field);
		const struct xc_type *type = xc_type_strip(field.type);
		if (!members[i].name && xc_type_is_record(type) && nesting < XC_JSON_DEPTH) {
			size_t inner;
			const struct xc_member *anonymous = xc_type_members(type, &inner);
			w->left--;
			add_members(w, object, &field, anonymous, inner, nesting + 1);
			continue;
		}
		const char *name = members[i].name ? members[i].name : "";
		spend_name(w, name);
		size_t len = xc_json_descend(w, name);
		set_member(object, name, xc_json_any(w, &field));
		xc_json_ascend(w, len);
	}
	if (w->left == 0)
		w->out->truncated = true;
}

static bool is_tuple(const struct xc_member *members, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		char want[24];
		snprintf(want, sizeof want, "__%zu", i);
		if (!members[i].name || strcmp(members[i].name, want) != 0)
			return false;
	}
	return count > 0;
}

static json_t *tuple(struct xc_json_walker *w, const struct xc_value *value, const struct xc_member *members,
		     size_t count)
{
	json_t *json = json_array();
	for (size_t i = 0; i < count && w->left > 0; i++) {
		struct xc_value field;
		xc_value_field(value, &members[i], &field);
		size_t len = xc_json_descend_index(w, i);
		json_array_append_new(json, xc_json_any(w, &field));
		xc_json_ascend(w, len);
	}
	return json;
}

static json_t *fields(struct xc_json_walker *w, const struct xc_value *value, const struct xc_type *type)
{
	size_t count;
	const struct xc_member *members = xc_type_members(type, &count);
	if (type->is_rust && is_tuple(members, count))
		return tuple(w, value, members, count);
	json_t *json = json_object();
	add_members(w, json, value, members, count, 0);
	return json;
}

/* {"Some": [5]}; members of variants in Ada are listed with the other members. */
static json_t *variants(struct xc_json_walker *w, const struct xc_value *value, const struct xc_type *type)
{
	struct xc_text why = {0};
	const struct xc_member *rust = type->is_rust ? xc_variant_member(value, &why) : NULL;
	const struct xc_variant *variant = type->is_rust ? NULL : xc_variant_of(value, &why);
	json_t *json;
	if (rust) {
		struct xc_value payload;
		xc_value_field(value, rust, &payload);
		json = json_object();
		size_t len = xc_json_descend(w, rust->name ? rust->name : "");
		xc_jsonvalue_set(json, rust->name ? rust->name : "", fields(w, &payload, xc_type_strip(rust->type)));
		xc_json_ascend(w, len);
	} else if (variant) {
		json = fields(w, value, type);
		add_members(w, json, value, variant->members, variant->count, 0);
	} else {
		json = xc_json_unknown(w, xc_text_string(&why));
	}
	xc_text_fini(&why);
	return json;
}

/* ---- containers ---- */

static json_t *view_list(struct xc_json_walker *w, struct xc_view *view)
{
	struct xc_view_child child;
	json_t *json = json_array();
	for (uint64_t i = 0; xc_view_next(view, &child); i++) {
		if (i >= w->options->elements || w->left == 0) {
			w->out->truncated = true;
			break;
		}
		size_t len = xc_json_descend_index(w, i);
		if (view->kind == XC_VIEW_MAP) {
			json_t *pair = json_object();
			xc_jsonvalue_set(pair, "key", xc_json_any(w, &child.key));
			xc_jsonvalue_set(pair, "value", xc_json_any(w, &child.value));
			json_array_append_new(json, pair);
		} else {
			json_array_append_new(json, xc_json_any(w, &child.value));
		}
		xc_json_ascend(w, len);
	}
	return json;
}

static json_t *view_record(struct xc_json_walker *w, struct xc_view *view)
{
	struct xc_view_child child;
	json_t *json = json_object();
	while (xc_view_next(view, &child) && w->left > 0) {
		const char *name = child.name ? child.name : "";
		size_t len = xc_json_descend(w, name);
		set_member(json, name, xc_json_any(w, &child.value));
		xc_json_ascend(w, len);
	}
	return json;
}

static json_t *view_summary(struct xc_json_walker *w, struct xc_view *view)
{
	struct xc_text text = {0};
	xc_view_summary(view, &text);
	json_t *json = w->options->redact ? xc_json_redacted() : xc_jsonvalue_text(xc_text_string(&text));
	xc_text_fini(&text);
	return json;
}

static json_t *view_json(struct xc_json_walker *w, struct xc_view *view)
{
	struct xc_view_child child;
	unsigned width;
	switch (view->kind) {
	case XC_VIEW_TEXT:
		if (!xc_format_textual(view->elements.type, &width) && width != 1)
			return json_null(); /* bytes of Rust and Go are numbers in other places */
		return xc_json_characters(w, &view->elements, view->count, width, true);
	case XC_VIEW_LIST:
	case XC_VIEW_MAP:
		return view_list(w, view);
	case XC_VIEW_RECORD:
		return view_record(w, view);
	case XC_VIEW_WRAPPER:
		return xc_view_next(view, &child) ? xc_json_any(w, &child.value) : json_null();
	case XC_VIEW_EMPTY:
		return json_null();
	case XC_VIEW_PLAIN:
		break;
	}
	return view_summary(w, view);
}

/* NULL when the value is not a container, or is damaged. Beyond the depth limit only texts are shown. */
static json_t *container(struct xc_json_walker *w, const struct xc_value *value, bool deep)
{
	struct xc_view view;
	enum xc_view_result result = xc_view_open(value, &view);
	if (result == XC_VIEW_INVALID)
		json_decref(xc_json_unknown(w, view.why)); /* its members follow */
	if (result != XC_VIEW_FOUND)
		return NULL;
	bool parts = view.kind == XC_VIEW_LIST || view.kind == XC_VIEW_MAP || view.kind == XC_VIEW_RECORD;
	json_t *json = deep && parts ? xc_json_truncated(w) : view_json(w, &view);
	if (view.why[0])
		json_decref(xc_json_unknown(w, view.why));
	return json;
}

json_t *xc_json_record(struct xc_json_walker *w, const struct xc_value *value, const struct xc_type *type)
{
	type = xc_type_complete(type);
	if (type->is_declaration)
		return xc_json_unknown(w, "its type is only declared");
	if (xc_json_is_gone(value, type->size))
		return xc_json_unreadable(w, value);
	if (xc_format_holds_itself(w->around, value, type))
		return xc_json_unknown(w, XC_FORMAT_HOLDS_ITSELF);
	const struct xc_format_around around = {w->around, type, value->addr};
	if (value->kind == XC_VALUE_MEMORY)
		w->around = &around;
	bool deep = w->records > w->options->depth;
	w->records++;
	json_t *json = w->options->raw ? NULL : container(w, value, deep);
	if (!json)
		json = deep                 ? xc_json_truncated(w)
		       : type->has_variants ? variants(w, value, type)
					    : fields(w, value, type);
	w->records--;
	w->around = around.outer;
	return json;
}
