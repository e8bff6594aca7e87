/* type_parts: parts of a class other than its members: template arguments, static members, methods, nested types.
 *
 * All are read together on first use: few callers need any, and the children are walked once. A static member is a
 * DW_TAG_variable in DWARF 5 and a DW_TAG_member with DW_AT_external or DW_AT_declaration before (DWARF 5, 5.7.7). A
 * method whose first parameter is artificial has a `this` (5.7.8; clang before 14 leaves DW_AT_object_pointer out of
 * declarations). Packs (DW_TAG_GNU_template_parameter_pack) are flattened. */
#include <dwarf.h>
#include <string.h>

#include "dwarf/line/unit_cache.h"
#include "dwarf/module/die.h"
#include "dwarf/module/exprcode.h"
#include "dwarf/types/template.h"
#include "dwarf/types/type_impl.h"

enum { MAX_PARTS = 1 << 16 };

struct list {
	void *items; /* in the arena */
	size_t count, capacity;
};

struct xc_type_parts {
	struct list templates, statics, methods, nested;
};

/* Room for one more item of `size` bytes. */
static void *add(struct xc_types *types, struct list *list, size_t size)
{
	if (list->count == list->capacity) {
		size_t capacity = list->capacity ? list->capacity * 2 : 4;
		void *items = xc_arena_alloc(types->arena, capacity * size);
		if (list->count > 0)
			memcpy(items, list->items, list->count * size);
		list->items = items;
		list->capacity = capacity;
	}
	return (char *)list->items + list->count++ * size;
}

enum xc_member_access xc_type_access(const struct xc_type *owner, Dwarf_Die *die)
{
	uint64_t access;
	if (!xc_die_number(die, DW_AT_accessibility, &access))
		return owner->kind == XC_TYPE_CLASS ? XC_ACCESS_PRIVATE : XC_ACCESS_PUBLIC;
	if (access == DW_ACCESS_private)
		return XC_ACCESS_PRIVATE;
	return access == DW_ACCESS_protected ? XC_ACCESS_PROTECTED : XC_ACCESS_PUBLIC;
}

static const char *link_name(Dwarf_Die *die)
{
	Dwarf_Attribute attr;
	if (!xc_die_attr(die, DW_AT_linkage_name, &attr) && !xc_die_attr(die, DW_AT_MIPS_linkage_name, &attr))
		return NULL;
	return dwarf_formstring(&attr);
}

static void add_template(struct xc_types *types, struct xc_type_parts *parts, Dwarf_Die *die, const char *name,
			 bool is_pack)
{
	struct xc_template one = xc_template_read(types, die, name, is_pack);
	*(struct xc_template *)add(types, &parts->templates, sizeof one) = one;
}

static void add_pack(struct xc_types *types, struct xc_type_parts *parts, Dwarf_Die *pack)
{
	const char *name = xc_die_name(pack);
	size_t before = parts->templates.count;
	Dwarf_Die die;
	for (bool more = xc_die_child(pack, &die); more && parts->templates.count < MAX_PARTS;
	     more = xc_die_next(&die)) {
		if (xc_template_is_argument(dwarf_tag(&die)))
			add_template(types, parts, &die, name, true);
	}
	if (parts->templates.count == before)
		*(struct xc_template *)add(types, &parts->templates, sizeof(struct xc_template)) =
			(struct xc_template){.name = name, .is_pack = true};
}

static void add_static(const struct xc_type *owner, struct xc_type_parts *parts, Dwarf_Die *die)
{
	struct xc_types *types = owner->detail->types;
	struct xc_static *one = add(types, &parts->statics, sizeof *one);
	*one = (struct xc_static){.name = xc_die_identifier(die, types->arena),
				  .type = xc_type_of(types, die),
				  .access = (uint8_t)xc_type_access(owner, die),
				  .die = *die};
}

static bool has_object(Dwarf_Die *method)
{
	Dwarf_Die die;
	for (bool more = xc_die_child(method, &die); more; more = xc_die_next(&die)) {
		if (dwarf_tag(&die) == DW_TAG_formal_parameter)
			return xc_die_flag(&die, DW_AT_artificial);
	}
	return false;
}

/* DW_OP_constu N, or a constant: gcc and clang write the former. */
static uint64_t vtable_slot(Dwarf_Die *die)
{
	Dwarf_Attribute attr;
	Dwarf_Op op;
	uint64_t slot;
	if (!xc_die_attr(die, DW_AT_vtable_elem_location, &attr))
		return UINT64_MAX;
	if (xc_die_constant(&attr, &slot))
		return slot;
	if (!xc_exprcode_sole(&attr, &op))
		return UINT64_MAX;
	if (op.atom >= DW_OP_lit0 && op.atom <= DW_OP_lit31)
		return op.atom - DW_OP_lit0;
	return op.atom == DW_OP_constu ? op.number : UINT64_MAX;
}

static void add_method(const struct xc_type *owner, struct xc_type_parts *parts, Dwarf_Die *die)
{
	struct xc_types *types = owner->detail->types;
	struct xc_method *one = add(types, &parts->methods, sizeof *one);
	uint64_t number = 0;
	*one = (struct xc_method){.name = xc_die_name(die),
				  .linkage_name = link_name(die),
				  .type = xc_type_get(types, die),
				  .access = (uint8_t)xc_type_access(owner, die),
				  .artificial = xc_die_flag(die, DW_AT_artificial),
				  .is_explicit = xc_die_flag(die, DW_AT_explicit),
				  .is_deleted = xc_die_flag(die, DW_AT_deleted),
				  .is_static = !has_object(die),
				  .die = *die};
	if (xc_die_number(die, DW_AT_virtuality, &number)) {
		one->is_virtual = number == DW_VIRTUALITY_virtual || number == DW_VIRTUALITY_pure_virtual;
		one->slot = vtable_slot(die);
		one->is_pure = number == DW_VIRTUALITY_pure_virtual;
	}
	number = 0;
	one->is_defaulted = xc_die_number(die, DW_AT_defaulted, &number) && number != DW_DEFAULTED_no;
}

static void add_nested(const struct xc_type *owner, struct xc_type_parts *parts, Dwarf_Die *die)
{
	struct xc_types *types = owner->detail->types;
	if (xc_die_name(die)) /* anonymous ones are shown where they are members */
		*(const struct xc_type **)add(types, &parts->nested, sizeof(void *)) = xc_type_get(types, die);
}

static void add_part(const struct xc_type *owner, struct xc_type_parts *parts, Dwarf_Die *die)
{
	switch (dwarf_tag(die)) {
	case DW_TAG_template_type_parameter:
	case DW_TAG_template_value_parameter:
	case DW_TAG_GNU_template_template_param:
		add_template(owner->detail->types, parts, die, xc_die_name(die), false);
		break;
	case DW_TAG_GNU_template_parameter_pack:
		add_pack(owner->detail->types, parts, die);
		break;
	case DW_TAG_variable:
		add_static(owner, parts, die);
		break;
	case DW_TAG_member:
		if (xc_die_flag(die, DW_AT_external) || xc_die_flag(die, DW_AT_declaration))
			add_static(owner, parts, die);
		break;
	case DW_TAG_subprogram:
		add_method(owner, parts, die);
		break;
	case DW_TAG_structure_type:
	case DW_TAG_class_type:
	case DW_TAG_union_type:
	case DW_TAG_enumeration_type:
	case DW_TAG_typedef:
		add_nested(owner, parts, die);
		break;
	default:
		break;
	}
}

static bool is_record(const struct xc_type *type)
{
	return type->kind == XC_TYPE_STRUCT || type->kind == XC_TYPE_CLASS || type->kind == XC_TYPE_UNION;
}

static struct xc_type_parts *parts_of(const struct xc_type *type)
{
	static struct xc_type_parts none;
	struct xc_type_detail *detail = type->detail;
	Dwarf_Die die;
	if (!detail || !detail->die.addr || !is_record(type))
		return &none;
	if (detail->parts)
		return detail->parts;
	struct xc_type_parts *parts = xc_arena_alloc(detail->types->arena, sizeof *parts);
	size_t count = 0;
	detail->parts = parts; /* set before the children are read, since they may ask for it */
	for (bool more = xc_die_child(&detail->die, &die); more && count++ < MAX_PARTS; more = xc_die_next(&die))
		add_part(type, parts, &die);
	return parts;
}

const struct xc_template *xc_type_templates(const struct xc_type *type, size_t *count_out)
{
	const struct list *list = &parts_of(type)->templates;
	*count_out = list->count;
	return list->items;
}

const struct xc_static *xc_type_statics(const struct xc_type *type, size_t *count_out)
{
	const struct list *list = &parts_of(type)->statics;
	*count_out = list->count;
	return list->items;
}

const struct xc_method *xc_type_methods(const struct xc_type *type, size_t *count_out)
{
	const struct list *list = &parts_of(type)->methods;
	*count_out = list->count;
	return list->items;
}

const struct xc_type *const *xc_type_nested(const struct xc_type *type, size_t *count_out)
{
	const struct list *list = &parts_of(type)->nested;
	*count_out = list->count;
	return list->items;
}

const struct xc_template *xc_type_template(const struct xc_type *type, const char *name, size_t position)
{
	size_t count;
	const struct xc_template *items = xc_type_templates(type, &count);
	for (size_t i = 0; name && i < count; i++) {
		if (items[i].name && strcmp(items[i].name, name) == 0)
			return &items[i];
	}
	return position < count ? &items[position] : NULL;
}

uint64_t xc_type_alignment(const struct xc_type *type)
{
	for (int i = 0; i < XC_TYPE_DEPTH && type; i++) { /* a typedef may ask for more than its target */
		uint64_t alignment;
		if (type->detail && type->detail->die.addr &&
		    xc_die_number(&type->detail->die, DW_AT_alignment, &alignment))
			return alignment;
		if (type->detail && type->detail->alignment_asked)
			return type->detail->alignment;
		if (type->kind < XC_TYPE_TYPEDEF || type->kind > XC_TYPE_ATOMIC)
			break;
		type = type->target;
	}
	return 0;
}

bool xc_type_place(const struct xc_type *type, const char **file_out, unsigned *line_out)
{
	struct xc_type_detail *detail = type->detail;
	Dwarf_Attribute attr;
	uint64_t line, file;
	if (!detail || !detail->die.addr || !xc_die_number(&detail->die, DW_AT_decl_line, &line) || line > UINT32_MAX)
		return false;
	*line_out = (unsigned)line;
	*file_out = NULL;
	if (xc_die_attr(&detail->die, DW_AT_decl_file, &attr) && xc_die_constant(&attr, &file)) {
		Dwarf_Die told = {
			/* the attribute may be that of a declaration in another unit, which numbers files differently
			 */
			.cu = attr.cu};
		*file_out = xc_unit_cache_file(detail->types->process, &told, file);
	}
	return true;
}
