#include "dwarf/types/type_make.h"

#include "dwarf/types/type_impl.h"

struct xc_type *xc_type_new(struct xc_types *types, enum xc_type_kind kind)
{
	struct xc_type *type = xc_arena_alloc(types->arena, sizeof *type);
	type->kind = kind;
	type->detail = xc_arena_alloc(types->arena, sizeof *type->detail);
	type->detail->types = types;
	return type;
}

void xc_type_set_items(struct xc_type *type, void *items, size_t count)
{
	type->detail->items = items;
	type->detail->item_count = count;
	type->detail->items_read = true;
}

void xc_type_classify_enum(struct xc_type *type)
{
	const struct xc_enumerator *items = type->detail->items;
	size_t count = type->detail->item_count;
	type->is_flags = count > 0;
	for (size_t i = 0; i < count; i++) {
		bool negative = (int64_t)items[i].value < 0;
		if (negative && !type->target)
			type->is_signed = true; /* the compiler does not state the integer type */
		/* as gdb: negative values or values of several bits are no flags */
		if ((negative && type->is_signed) || __builtin_popcountll(items[i].value) > 1)
			type->is_flags = false;
	}
}

void xc_type_set_alignment(struct xc_type *type, uint32_t alignment, bool asked)
{
	type->detail->alignment = alignment;
	type->detail->alignment_asked = asked;
}

uint32_t xc_type_made_alignment(const struct xc_type *type, bool *asked_out)
{
	if (asked_out)
		*asked_out = type->detail->alignment_asked;
	return type->detail->alignment;
}

void xc_type_undefine(struct xc_type *type)
{
	type->is_declaration = true;
	type->size_known = false;
	xc_type_set_items(type, NULL, 0);
}

void xc_type_define(struct xc_type *type, const struct xc_type *definition)
{
	type->is_declaration = false;
	type->is_signed = definition->is_signed;
	type->is_flags = definition->is_flags;
	type->size = definition->size;
	type->size_known = definition->size_known;
	type->target = definition->target;
	xc_type_set_items(type, definition->detail->items, definition->detail->item_count);
	xc_type_set_alignment(type, definition->detail->alignment, definition->detail->alignment_asked);
}
