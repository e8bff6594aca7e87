/* layout_json: the rows of a layout as nested objects. */
#include "dwarf/layout/layout_json.h"

#include <string.h>

#include "core/text/jsonvalue.h"

static void set_text(json_t *object, const char *key, const char *text)
{
	xc_jsonvalue_set(object, key, xc_jsonvalue_text(text));
}

static void set_count(json_t *object, const char *key, uint64_t count)
{
	xc_jsonvalue_set(object, key, xc_jsonvalue_count(count));
}

static void set_some(json_t *object, const char *key, uint64_t count)
{
	if (count)
		set_count(object, key, count);
}

static void set_true(json_t *object, const char *key, bool value)
{
	if (value)
		xc_jsonvalue_set(object, key, json_true());
}

/* The values of the discriminant that select the variant: numbers, and [first, last] for ranges. */
static json_t *variant_object(const struct xc_variant *variant)
{
	json_t *object = json_object(), *values = json_array();
	for (size_t i = 0; i < variant->range_count; i++) {
		const struct xc_variant_range *range = &variant->ranges[i];
		json_t *lo = xc_jsonvalue_count((uint64_t)range->lo);
		if (range->lo != range->hi)
			lo = json_pack("[o, o]", lo, xc_jsonvalue_count((uint64_t)range->hi));
		json_array_append_new(values, lo);
	}
	xc_jsonvalue_set(object, "values", values);
	set_true(object, "default", variant->is_default);
	return object;
}

static json_t *member_object(const struct xc_layout_row *row)
{
	const struct xc_member *member = row->member;
	bool flexible = !row->size_known && xc_layout_is_flexible(member->type), known = row->size_known || flexible;
	json_t *object = json_object();
	set_text(object, "name", member->name);
	set_text(object, "type", xc_type_name(member->type));
	xc_jsonvalue_set(object, "offset", row->placed ? xc_jsonvalue_count(row->offset) : json_null());
	xc_jsonvalue_set(object, "size", known ? xc_jsonvalue_count(row->size) : json_null());
	if (member->bit_size) {
		set_count(object, "bit_offset", member->bit_offset);
		set_count(object, "bit_size", member->bit_size);
	}
	set_some(object, "hole_before", row->hole.bytes);
	set_some(object, "hole_before_bits", row->hole.bits);
	set_some(object, "alignment", member->alignment);
	set_true(object, "flexible", flexible);
	set_true(object, "base", member->base);
	set_true(object, "virtual", member->is_virtual);
	set_true(object, "artificial", member->artificial);
	set_true(object, "discriminant", row->is_discriminant);
	if (row->variant)
		xc_jsonvalue_set(object, "variant", variant_object(row->variant));
	return object;
}

/* The members at the depth of rows[*at], up to and including their END row. */
static json_t *members_array(const struct xc_layout *layout, size_t *at, unsigned depth)
{
	json_t *array = json_array();
	while (*at < layout->row_count) {
		const struct xc_layout_row *row = &layout->rows[(*at)++];
		if (row->kind == XC_LAYOUT_END || depth > XC_LAYOUT_DEPTH)
			break;
		json_t *object = member_object(row);
		if (row->opens)
			xc_jsonvalue_set(object, "members", members_array(layout, at, depth + 1));
		json_array_append_new(array, object);
	}
	return array;
}

static void add_statics(json_t *object, const struct xc_type *record)
{
	size_t count;
	const struct xc_static *items = xc_type_statics(record, &count);
	json_t *array = json_array();
	for (size_t i = 0; i < count; i++) {
		json_t *one = json_object();
		set_text(one, "name", items[i].name);
		set_text(one, "type", xc_type_name(items[i].type));
		json_array_append_new(array, one);
	}
	if (count)
		xc_jsonvalue_set(object, "static_members", array);
	else
		json_decref(array);
}

static void add_methods(json_t *object, const struct xc_type *record)
{
	size_t count;
	const struct xc_method *items = xc_type_methods(record, &count);
	json_t *array = json_array();
	for (size_t i = 0; i < count; i++) {
		json_t *one = json_object();
		set_text(one, "name", items[i].name);
		set_text(one, "type", xc_type_name(items[i].type));
		set_text(one, "linkage_name", items[i].linkage_name);
		set_true(one, "static", items[i].is_static);
		set_true(one, "virtual", items[i].is_virtual);
		set_true(one, "pure", items[i].is_pure);
		set_true(one, "artificial", items[i].artificial);
		json_array_append_new(array, one);
	}
	xc_jsonvalue_set(object, "methods", array);
}

static void add_record(json_t *object, const struct xc_type *type, const struct xc_layout_shown *shown)
{
	struct xc_layout layout;
	size_t at = 0;
	if (!xc_layout_read(&layout, type, &shown->layout))
		return;
	xc_jsonvalue_set(object, "members", members_array(&layout, &at, 0));
	add_statics(object, layout.type);
	if (shown->methods)
		add_methods(object, layout.type);
	set_count(object, "member_bytes", layout.member_bytes);
	set_some(object, "member_bits", layout.member_bits);
	set_some(object, "holes", layout.hole_count);
	set_some(object, "hole_bytes", layout.hole_bytes);
	set_some(object, "bit_holes", layout.bit_hole_count);
	set_some(object, "hole_bits", layout.bit_hole_bits);
	set_some(object, "padding", layout.padding.bytes);
	set_some(object, "padding_bits", layout.padding.bits);
	set_some(object, "alignment", xc_type_alignment(layout.type));
	set_true(object, "cut", layout.cut);
	xc_layout_fini(&layout);
}

static void add_enum(json_t *object, const struct xc_type *type)
{
	size_t count;
	const struct xc_enumerator *items = xc_type_enumerators(type, &count);
	json_t *array = json_array();
	for (size_t i = 0; i < count; i++) {
		json_t *one = json_object();
		set_text(one, "name", items[i].name);
		xc_jsonvalue_set(one, "value",
				 type->is_signed ? xc_jsonvalue_integer((int64_t)items[i].value)
						 : xc_jsonvalue_count(items[i].value));
		json_array_append_new(array, one);
	}
	xc_jsonvalue_set(object, "enumerators", array);
	if (type->target)
		set_text(object, "type", xc_type_name(type->target));
	set_true(object, "flags", type->is_flags);
}

/* The typedefs on top of a type. */
static size_t add_typedefs(json_t *object, const struct xc_type *type)
{
	json_t *array = json_array();
	for (int i = 0; i < XC_TYPE_DEPTH && type->kind == XC_TYPE_TYPEDEF && type->target; i++) {
		json_array_append_new(array, xc_jsonvalue_text(type->name));
		type = type->target;
	}
	size_t count = json_array_size(array);
	if (count)
		xc_jsonvalue_set(object, "typedefs", array);
	else
		json_decref(array);
	return count;
}

static void add_body(json_t *object, const struct xc_type *plain, const struct xc_layout_shown *shown)
{
	const struct xc_type *body = xc_layout_body(plain);
	if (plain->kind == XC_TYPE_ENUM)
		add_enum(object, plain);
	else if (xc_type_is_record(plain))
		add_record(object, plain, shown);
	else if (body)
		xc_jsonvalue_set(object, "target", xc_layout_json(body, shown));
}

json_t *xc_layout_json(const struct xc_type *type, const struct xc_layout_shown *shown)
{
	uint64_t size;
	json_t *object = json_object();
	const struct xc_type *plain = xc_type_complete(xc_type_strip(type));
	bool has_body = xc_type_is_record(plain) || plain->kind == XC_TYPE_ENUM;
	set_text(object, "name", has_body ? plain->name : xc_type_name(plain));
	set_text(object, "kind", plain->has_variants ? "enum" : xc_layout_kind_name(plain));
	bool known = plain->kind != XC_TYPE_FUNCTION && plain->kind != XC_TYPE_VOID && xc_type_size(plain, &size);
	xc_jsonvalue_set(object, "size", known ? xc_jsonvalue_count(size) : json_null());
	size_t typedefs = add_typedefs(object, type);
	set_true(object, "declaration", plain->is_declaration);
	if (!shown->brief || !typedefs || !plain->name)
		add_body(object, plain, shown);
	return object;
}
