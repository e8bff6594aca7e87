/* type_instance: types derived from others: pointers, and instances of types whose size is computed per frame
 * (variable length arrays, and GNU C's structs that hold them).
 *
 * Instances are kept with the type they are derived from; equal ones are made once. There are at most MAX_INSTANCES
 * of one type: beyond that the type itself is returned, whose size is unknown. */
#include <dwarf.h>
#include <string.h>

#include "dwarf/types/type_impl.h"
#include "dwarf/types/type_make.h"

enum { MAX_INSTANCES = 256 };

bool xc_type_dimension(const struct xc_type *array, Dwarf_Attribute *attr_out, bool *is_bound_out)
{
	if (!array->detail || !array->detail->has_dimension)
		return false;
	*attr_out = array->detail->dimension;
	*is_bound_out = array->detail->is_bound;
	return true;
}

bool xc_type_dynamic_size(const struct xc_type *record, Dwarf_Attribute *attr_out)
{
	struct xc_type_detail *detail = record->detail;
	return record->is_dynamic && detail && detail->die.addr &&
	       dwarf_attr(&detail->die, DW_AT_byte_size, attr_out) != NULL;
}

/* A new instance of the type, or NULL when there are too many. */
static struct xc_type *instance(const struct xc_type *of)
{
	struct xc_type_detail *detail = of->detail;
	if (detail->instance_count >= MAX_INSTANCES)
		return NULL;
	detail->instance_count++;
	struct xc_type *type = xc_type_new(detail->types, of->kind);
	struct xc_type_instance *one = xc_arena_alloc(detail->types->arena, sizeof *one);
	*one = (struct xc_type_instance){.next = detail->instances, .type = type};
	detail->instances = one;
	type->name = of->name;
	type->is_vector = of->is_vector;
	type->is_c = of->is_c;
	type->is_rust = of->is_rust;
	type->is_go = of->is_go;
	return type;
}

const struct xc_type *xc_type_counted(const struct xc_type *array, const struct xc_type *element, uint64_t count)
{
	for (struct xc_type_instance *one = array->detail->instances; one; one = one->next) {
		if (one->type->count == count && one->type->target == element)
			return one->type;
	}
	struct xc_type *type = instance(array);
	if (!type)
		return array;
	type->target = element;
	type->count = count;
	type->count_known = true;
	return type;
}

static bool same_members(const struct xc_type *type, const struct xc_member *members, size_t count)
{
	const struct xc_member *have = type->detail->items;
	if (type->detail->item_count != count)
		return false;
	for (size_t i = 0; i < count; i++) {
		if (have[i].type != members[i].type || have[i].offset != members[i].offset)
			return false;
	}
	return true;
}

const struct xc_type *xc_type_laid(const struct xc_type *record, const struct xc_member *members, size_t count,
				   const uint64_t *size)
{
	for (struct xc_type_instance *one = record->detail->instances; one; one = one->next) {
		if (one->type->size == (size ? *size : 0) && same_members(one->type, members, count))
			return one->type;
	}
	struct xc_type *type = instance(record);
	if (!type)
		return record;
	type->size = size ? *size : 0;
	type->size_known = size != NULL;
	type->detail->items_read = true;
	type->detail->item_count = count;
	type->detail->items = xc_arena_alloc(type->detail->types->arena, count * sizeof *members + 1);
	if (count > 0)
		memcpy(type->detail->items, members, count * sizeof *members);
	type->has_variants = record->has_variants;
	if (type->has_variants) /* they are read from there */
		type->detail->die = record->detail->die;
	return type;
}

const struct xc_type *xc_type_pointer(const struct xc_type *type, unsigned size)
{
	struct xc_type_detail *detail = type->detail;
	if (detail->pointer)
		return detail->pointer;
	struct xc_type *pointer = xc_type_new(detail->types, XC_TYPE_POINTER);
	pointer->target = type;
	pointer->size = size;
	pointer->size_known = true;
	pointer->is_c = type->is_c;
	pointer->is_rust = type->is_rust;
	pointer->is_go = type->is_go;
	detail->pointer = pointer;
	return pointer;
}
