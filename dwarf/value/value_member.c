/* value_member: members of a value, by their description in the type and by name.
 *
 * A virtual base class has no fixed offset: a DWARF expression computes it from the object. The members of a variant
 * depend on the discriminant. */
#include "dwarf/value/value.h"

#include <dwarf.h>
#include <string.h>

#include "core/text/suggest.h"
#include "dwarf/module/exprcode.h"
#include "dwarf/value/expr.h"
#include "dwarf/value/variant.h"

enum { MAX_NESTING = 16, MAX_STEPS = 1 << 18 };

/* The offset of a virtual base is computed from the object (Itanium C++ ABI 2.4: through its vtable). */
static bool dynamic_offset(const struct xc_value *value, const struct xc_member *member, struct xc_value *out)
{
	struct xc_arena scratch = {0};
	struct xc_expr_context context = {
		.process = value->process, .scratch = &scratch, .has_object = true, .object = value->addr};
	struct xc_expr expr = {.attr = member->location};
	struct xc_exprcode code;
	uint64_t addr;
	bool found = value->kind == XC_VALUE_MEMORY &&
		     xc_exprcode_of(&xc_types_of(value->process)->codes, &expr.attr, &code);
	if (found) {
		struct xc_location location;
		expr.ops = code.ops;
		expr.count = code.count;
		expr.size = code.size;
		xc_expr_locate(&context, &expr, &value->addr, &location);
		found = location.kind == XC_LOCATION_MEMORY;
		addr = location.number;
	}
	xc_arena_fini(&scratch);
	if (found)
		out->addr = addr;
	return found;
}

void xc_value_field(const struct xc_value *value, const struct xc_member *member, struct xc_value *out)
{
	struct xc_value field = *value;
	field.type = member->type;
	field.bit_size = member->bit_size;
	field.bit_offset = member->bit_offset;
	if (member->dynamic) {
		if (!dynamic_offset(value, member, &field))
			field = xc_value_absent(value->process, member->type,
						member->base ? "virtual base not found"
							     : "its offset is computed at run time");
	} else {
		field.addr += member->offset;
		field.at += member->offset;
	}
	*out = field;
}

static const struct xc_type *record_of(const struct xc_type *type)
{
	type = xc_type_strip(type);
	return type->is_declaration ? xc_type_complete(type) : type;
}

/* One search for a member. Steps are limited, so that types that contain themselves end it. */
struct search {
	const char *name;
	unsigned nesting, steps;
};

static bool find_member(const struct xc_value *value, struct search *search, struct xc_value *out);

static bool find_within(const struct xc_value *value, const struct xc_member *member, struct search *search,
			struct xc_value *out)
{
	struct xc_value inner;
	if (search->nesting >= MAX_NESTING || search->steps == 0)
		return false;
	xc_value_field(value, member, &inner);
	search->nesting++;
	bool found = find_member(&inner, search, out);
	search->nesting--;
	return found;
}

/* Members of the variant that the value has. rustc describes a variant as one member; its fields are searched too. */
static bool find_in_variant(const struct xc_value *value, struct search *search, struct xc_value *out)
{
	const struct xc_variant *variant = xc_variant_of(value, NULL);
	for (size_t i = 0; variant && i < variant->count; i++) {
		const struct xc_member *member = &variant->members[i];
		if (member->name && strcmp(member->name, search->name) == 0) {
			xc_value_field(value, member, out);
			return true;
		}
		if (xc_type_strip(value->type)->is_rust && find_within(value, member, search, out))
			return true;
	}
	return false;
}

/* Own members hide those of base classes. */
static bool find_member(const struct xc_value *value, struct search *search, struct xc_value *out)
{
	size_t count;
	const struct xc_type *type = record_of(value->type);
	const struct xc_member *members = xc_type_members(type, &count);
	search->steps = search->steps > count ? search->steps - (unsigned)count : 0;
	for (size_t i = 0; i < count; i++) {
		if (members[i].name && !members[i].base && strcmp(members[i].name, search->name) == 0) {
			xc_value_field(value, &members[i], out);
			return true;
		}
	}
	for (size_t i = 0; i < count; i++) {
		if ((!members[i].name || members[i].base) && find_within(value, &members[i], search, out))
			return true;
	}
	return type->has_variants && find_in_variant(value, search, out);
}

struct xc_error *xc_value_member(const struct xc_value *value, const char *name, struct xc_value *out)
{
	struct xc_value at = *value;
	struct xc_error *err;
	if (xc_type_is_pointer(at.type) && (err = xc_value_deref(&at, &at)))
		return err;
	if (!xc_type_is_record(at.type))
		return xc_error_new(XC_ERR_USAGE, "%s has no members", xc_type_name(value->type));
	if (record_of(at.type)->is_declaration)
		return xc_error_new(XC_ERR_NOT_FOUND, "%s is declared, but not defined here", xc_type_name(at.type));
	struct search search = {.name = name, .steps = MAX_STEPS};
	if (!find_member(&at, &search, out))
		return xc_error_new(XC_ERR_NOT_FOUND, "no member %s in %s", name, xc_type_name(at.type));
	return NULL;
}

static void consider_members(struct xc_suggestion *near, const struct xc_type *type, struct search *search)
{
	size_t count;
	const struct xc_member *members = xc_type_members(record_of(type), &count);
	search->steps = search->steps > count ? search->steps - (unsigned)count : 0;
	for (size_t i = 0; i < count; i++) {
		if (members[i].name && !members[i].base) {
			xc_suggest_consider(near, members[i].name);
		} else if (search->nesting < MAX_NESTING && search->steps > 0) {
			search->nesting++;
			consider_members(near, members[i].type, search);
			search->nesting--;
		}
	}
}

const char *xc_value_near_member(const struct xc_type *type, const char *name)
{
	struct xc_suggestion near = xc_suggest(name);
	struct search search = {.steps = MAX_STEPS};
	consider_members(&near, type, &search);
	return near.best;
}
