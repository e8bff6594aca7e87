#include "dwarf/types/field.h"

enum { EMPTIES = 64 }; /* empty classes nested in each other */

static bool holds(const struct xc_type *type, uint64_t offset, bool is_last)
{
	uint64_t size;
	const struct xc_type *plain = xc_type_strip(type);
	if (xc_type_size(type, &size) && size > 0)
		return offset < size;
	return is_last && plain->kind == XC_TYPE_ARRAY; /* a flexible array member */
}

/* The number of steps left: types that contain themselves exist only in hostile debug information. */
struct walk {
	unsigned steps;
};

static const struct xc_type *walk_down(struct walk *walk, struct xc_text *text, const struct xc_type *type,
				       uint64_t *offset);

/* Ranks of a union's members: best one with a pointer that begins at the offset, then one with anything that begins
 * there. */
enum rank { REACHES, BEGINS, POINTER };

static enum rank rank_of(struct walk *walk, const struct xc_type *type, uint64_t offset)
{
	const struct xc_type *found = xc_type_strip(walk_down(walk, NULL, type, &offset));
	if (offset)
		return REACHES;
	return found->kind == XC_TYPE_POINTER || found->kind == XC_TYPE_REFERENCE ? POINTER : BEGINS;
}

/* A class without members takes a byte that another part may use as well: an empty base, [[no_unique_address]]. Looks
 * at most at *left members. */
static bool is_empty(const struct xc_type *type, unsigned *left)
{
	size_t count;
	uint64_t size;
	type = xc_type_complete(xc_type_strip(type));
	if ((type->kind != XC_TYPE_STRUCT && type->kind != XC_TYPE_CLASS) || !xc_type_size(type, &size) || size > 1)
		return false;
	const struct xc_member *members = xc_type_members(type, &count);
	for (size_t i = 0; i < count; i++)
		if (!*left || !(*left)-- || members[i].bit_size || !is_empty(members[i].type, left))
			return false;
	return true;
}

static bool into_record(struct walk *walk, const struct xc_type *type, uint64_t offset, struct xc_field_step *out)
{
	size_t count;
	const struct xc_member *members = xc_type_members(type, &count);
	bool is_union = type->kind == XC_TYPE_UNION, found = false;
	enum rank best = REACHES;
	for (size_t i = 0; i < count; i++) {
		unsigned left = EMPTIES;
		const struct xc_member *m = &members[i];
		if (m->bit_size || m->dynamic || m->offset > offset ||
		    !holds(m->type, offset - m->offset, i + 1 == count))
			continue;
		enum rank rank = is_union                   ? rank_of(walk, m->type, offset - m->offset)
				 : is_empty(m->type, &left) ? REACHES
							    : POINTER;
		if (!found || rank > best) {
			*out = (struct xc_field_step){
				.type = m->type, .offset = offset - m->offset, .name = m->base ? NULL : m->name};
			best = rank;
		}
		found = true;
		if (best == POINTER)
			break;
	}
	return found;
}

static bool into_array(const struct xc_type *type, uint64_t offset, struct xc_field_step *out)
{
	uint64_t size;
	if (!type->target || !xc_type_size(type->target, &size) || size == 0)
		return false;
	*out = (struct xc_field_step){
		.type = type->target, .offset = offset % size, .is_element = true, .index = offset / size};
	return !type->count_known || out->index < type->count;
}

static bool step_into(struct walk *walk, const struct xc_type *type, uint64_t offset, struct xc_field_step *out)
{
	if (walk->steps == 0)
		return false;
	walk->steps--;
	type = xc_type_complete(xc_type_strip(type));
	switch (type->kind) {
	case XC_TYPE_STRUCT:
	case XC_TYPE_CLASS:
	case XC_TYPE_UNION:
		return into_record(walk, type, offset, out);
	case XC_TYPE_ARRAY:
		return into_array(type, offset, out);
	default:
		return false;
	}
}

static const struct xc_type *walk_down(struct walk *walk, struct xc_text *text, const struct xc_type *type,
				       uint64_t *offset)
{
	struct xc_field_step step;
	while (step_into(walk, type, *offset, &step)) {
		if (text && step.is_element)
			xc_text_printf(text, "[%llu]", (unsigned long long)step.index);
		else if (text && step.name)
			xc_text_printf(text, ".%s", step.name);
		type = step.type;
		*offset = step.offset;
	}
	return type;
}

const struct xc_type *xc_field_path(struct xc_text *text, const struct xc_type *type, uint64_t offset,
				    uint64_t *rest_out)
{
	struct walk walk = {.steps = XC_FIELD_STEPS};
	type = walk_down(&walk, text, type, &offset);
	if (rest_out)
		*rest_out = offset;
	return type;
}

bool xc_field_step(const struct xc_type *type, uint64_t offset, struct xc_field_step *out)
{
	struct walk walk = {.steps = XC_FIELD_STEPS};
	return step_into(&walk, type, offset, out);
}
