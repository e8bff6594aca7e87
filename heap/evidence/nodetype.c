/* nodetype: names as gcc writes them, "std::_List_node<std::pair<int, int> >". */
#include "heap/evidence/nodetype.h"

#include <string.h>

#include "dwarf/types/ctype.h"
#include "dwarf/types/type_make.h"
#include "dwarf/view/view_part.h"

enum { WORD = 8, MAX_LINKS = 8, MAX_SIZE = 1 << 24 };

static const char links_name[] = "links";
static const char value_name[] = "value";

static const char *name_of(struct xc_types *types, const struct xc_view_shape *shape)
{
	const char *element = xc_type_name(shape->stored ? shape->stored : shape->element), *rest = shape->nodes->rest;
	size_t len = strlen(element);
	bool space = !*rest && len > 0 && element[len - 1] == '>';
	return xc_arena_printf(types->arena, "%s<%s%s%s>", shape->nodes->name, element, rest, space ? " " : "");
}

static const struct xc_type *make(struct xc_types *types, const struct xc_view_shape *shape, const char *name,
				  uint64_t size)
{
	struct xc_type *type = xc_type_new(types, XC_TYPE_STRUCT);
	struct xc_member *members = xc_arena_alloc(types->arena, 2 * sizeof *members);
	type->name = name;
	type->size = size;
	type->size_known = true;
	members[0].name = links_name;
	members[0].type = xc_ctype_array(
		types->process, xc_ctype_derive(types->process, XC_TYPE_POINTER, xc_ctype(types->process, XC_C_VOID)),
		shape->offset / WORD);
	members[1].name = value_name;
	members[1].type = shape->element;
	members[1].offset = shape->offset;
	xc_type_set_items(type, members, 2);
	return type;
}

const struct xc_type *xc_nodetype(struct xc_typing *typing, const struct xc_view_shape *shape)
{
	struct xc_types *types = xc_types_of(typing->heap->process);
	uint64_t size;
	if (!xc_type_size(shape->element, &size) || size > MAX_SIZE || shape->offset > MAX_LINKS * WORD)
		return NULL;
	size = ((shape->offset + size + WORD - 1) & ~(uint64_t)(WORD - 1)) + shape->nodes->behind;
	uint64_t mask = xc_view_alignment(shape->element) - 1;
	size = (size + mask) & ~mask;
	const char *name = name_of(types, shape);
	const struct xc_type *known = xc_typing_find_type(typing, name, size);
	return known ? known : make(types, shape, name, size);
}

const struct xc_type *xc_nodetype_value(const struct xc_type *type, uint64_t *offset_out)
{
	size_t count;
	const struct xc_member *members = xc_type_members(type, &count);
	if (count != 2 || members[0].name != links_name || members[1].name != value_name)
		return NULL;
	*offset_out = members[1].offset;
	return members[1].type;
}
