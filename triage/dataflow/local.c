/* local: variables in memory; those of a frame's inlined functions first. */
#include "triage/dataflow/local.h"

#include <stdint.h>
#include <string.h>

#include "dwarf/types/field.h"

enum { MEMBERS = 1000 }; /* members of a type, and of its members' types, to visit at most */

/* Without the trailing index: the array, not the element. */
static void drop_index(struct xc_text *text, size_t from)
{
	if (text->len > from && text->bytes[text->len - 1] == ']') {
		while (text->len > from && text->bytes[text->len - 1] != '[')
			text->len--;
		text->bytes[--text->len] = '\0';
	}
}

/* The path below `name` to the part that contains the byte at offset. */
static void add_path(struct xc_text *text, const char *name, bool pointer, const struct xc_type *type, uint64_t offset)
{
	struct xc_text path = {0};
	xc_field_path(&path, type, offset, NULL);
	drop_index(&path, 0);
	const char *below = xc_text_string(&path);
	bool arrow = pointer && *below == '.';
	xc_text_printf(text, "%s%s%s", name, arrow ? "->" : "", arrow ? below + 1 : below);
	xc_text_fini(&path);
}

static bool holds(const struct xc_named_value *v, xc_addr addr, uint64_t *offset_out)
{
	uint64_t size = xc_value_size(&v->value);
	*offset_out = addr - v->value.addr;
	return v->value.kind == XC_VALUE_MEMORY && size && addr - v->value.addr < size;
}

/* A pointer into its target, one object of it; a plain pointer to exactly this address. */
static bool leads_to(const struct xc_named_value *v, xc_addr addr, const struct xc_type **type_out,
		     uint64_t *offset_out)
{
	const struct xc_type *type = xc_type_strip(v->value.type);
	uint64_t value, size = 0;
	if (type->kind != XC_TYPE_POINTER || !type->target || !xc_value_load(&v->value, &value) || !value)
		return false;
	*type_out = xc_type_complete(xc_type_strip(type->target));
	*offset_out = addr - value;
	bool record = (*type_out)->kind == XC_TYPE_STRUCT || (*type_out)->kind == XC_TYPE_CLASS;
	return record ? xc_type_size(*type_out, &size) && addr - value < size : addr == value;
}

static bool in_values(const struct xc_named_value *values, size_t count, xc_addr addr, struct xc_text *text)
{
	const struct xc_type *type;
	uint64_t offset;
	for (size_t i = 0; i < count; i++)
		if (values[i].name && holds(&values[i], addr, &offset)) {
			add_path(text, values[i].name, false, values[i].value.type, offset);
			return true;
		}
	for (size_t i = 0; i < count; i++)
		if (values[i].name && leads_to(&values[i], addr, &type, &offset)) {
			bool record = type->kind == XC_TYPE_STRUCT || type->kind == XC_TYPE_CLASS;
			if (record)
				add_path(text, values[i].name, true, type, offset);
			else
				xc_text_add(text, values[i].name);
			return true;
		}
	return false;
}

bool xc_local_at(const struct xc_crash_context *crash, size_t index, xc_addr addr, struct xc_text *text)
{
	struct xc_frame_context context = xc_crash_context_frame(crash, index);
	struct xc_named_value *values;
	if (context.place->line_only)
		return false;
	/* inlined wrappers of the library have their own names for their arguments */
	for (size_t l = index == crash->blamed ? crash->blame.level : 0; l < context.place->level_count; l++)
		for (int locals = 1; locals >= 0; locals--) {
			size_t count = xc_variable_values(&context, l, locals, &crash->report->arena, &values);
			if (in_values(values, count, addr, text))
				return true;
		}
	return false;
}

bool xc_local_held(const struct xc_crash_context *crash, size_t frames, xc_addr addr, struct xc_held *out)
{
	for (size_t i = 0; i < crash->frame_count && i < frames; i++) {
		const struct xc_frame_context context = xc_crash_context_frame(crash, i);
		for (size_t l = 0; !context.place->line_only && l < context.place->level_count; l++)
			if (xc_variable_held(&context, l, -1, addr, out) && out->type)
				return true;
	}
	return false;
}

/* ---- arrays ---- */

/* A recursive type, or a deep nesting of structs, is visited until `left` is used up. */
static bool has_array(const struct xc_type *type, unsigned depth, unsigned *left)
{
	type = xc_type_complete(xc_type_strip(type));
	size_t count = 0;
	if (type->kind == XC_TYPE_ARRAY)
		return true;
	if (depth > 8 || (type->kind != XC_TYPE_STRUCT && type->kind != XC_TYPE_CLASS && type->kind != XC_TYPE_UNION))
		return false;
	const struct xc_member *members = xc_type_members(type, &count);
	for (size_t i = 0; i < count && *left; i++) {
		--*left;
		if (has_array(members[i].type, depth + 1, left))
			return true;
	}
	return false;
}

size_t xc_local_array_below(const struct xc_crash_context *crash, size_t index, xc_addr addr, struct xc_text *text,
			    xc_addr *addr_out, uint64_t *size_out)
{
	struct xc_frame_context context = xc_crash_context_frame(crash, index);
	struct xc_named_value *values, best = {.name = NULL};
	size_t found = 0;
	if (context.place->line_only)
		return SIZE_MAX;
	for (size_t l = 0; l < context.place->level_count; l++) {
		size_t count = xc_variable_values(&context, l, true, &crash->report->arena, &values);
		for (size_t i = 0; i < count; i++) {
			uint64_t size = xc_value_size(&values[i].value);
			unsigned left = MEMBERS;
			if (values[i].value.kind != XC_VALUE_MEMORY || !size || values[i].value.addr >= addr ||
			    addr - values[i].value.addr < size || !has_array(values[i].value.type, 0, &left))
				continue;
			found++;
			if (!best.name || values[i].value.addr > best.value.addr)
				best = values[i];
		}
	}
	if (!best.name)
		return SIZE_MAX;
	*size_out = xc_value_size(&best.value);
	*addr_out = best.value.addr;
	add_path(text, best.name, false, best.value.type, *size_out - 1);
	return found - 1;
}
