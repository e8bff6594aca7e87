/* type_member: parts of types: members, enumerators, parameters.
 *
 * The place of a bit-field has three spellings: DW_AT_data_bit_offset (DWARF 4 and 5: bits from the start of the
 * struct), DW_AT_bit_offset with DW_AT_byte_size (DWARF 2 and 3, and gcc for DWARF 4: bits from the most significant
 * end of a storage unit), and none, for unions. All become a byte offset and a bit offset from its low end. */
#include <dwarf.h>
#include <string.h>

#include "dwarf/elf/budget.h"
#include "dwarf/module/die.h"
#include "dwarf/module/exprcode.h"
#include "dwarf/types/scope.h"
#include "dwarf/types/type_die.h"
#include "dwarf/types/type_impl.h"
#include "dwarf/types/type_make.h"

enum { MAX_ITEMS = 1 << 16, PAID_ENUMERATORS = 32 /* for one step of the budget */ };

static bool is_static(Dwarf_Die *die)
{
	return xc_die_flag(die, DW_AT_external) || xc_die_flag(die, DW_AT_declaration);
}

/* Read the offset of a member. False when it must be computed for each object. */
static bool read_offset(Dwarf_Die *die, struct xc_member *member)
{
	Dwarf_Attribute attr;
	Dwarf_Op op;
	if (!xc_die_attr(die, DW_AT_data_member_location, &attr) || xc_die_constant(&attr, &member->offset))
		return true;
	if (xc_exprcode_sole(&attr, &op) && op.atom == DW_OP_plus_uconst) {
		member->offset = op.number;
		return true;
	}
	member->location = attr;
	return false;
}

static void read_bits(Dwarf_Die *die, struct xc_member *member)
{
	uint64_t size, at, storage;
	if (!xc_die_number(die, DW_AT_bit_size, &size) || size == 0 || size > 128)
		return;
	if (xc_die_number(die, DW_AT_data_bit_offset, &at)) {
		member->offset = at / 8;
		member->bit_offset = (uint8_t)(at % 8);
	} else if (xc_die_number(die, DW_AT_bit_offset, &at)) {
		if (!xc_die_number(die, DW_AT_byte_size, &storage) && !xc_type_size(member->type, &storage))
			return;
		/* negative where a packed field ends after its storage unit */
		int64_t low = (int64_t)(storage * 8) - (int64_t)at - (int64_t)size;
		if (storage > 16 || (int64_t)at < -1024 || low < 0)
			return;
		member->offset += (uint64_t)low / 8;
		member->bit_offset = (uint8_t)(low % 8);
	}
	member->bit_size = (uint16_t)size;
}

struct xc_member xc_type_read_member(const struct xc_type *owner, Dwarf_Die *die)
{
	struct xc_types *types = owner->detail->types;
	uint64_t number;
	struct xc_member member = {.name = xc_die_identifier(die, types->arena), .type = xc_type_of(types, die)};
	member.base = dwarf_tag(die) == DW_TAG_inheritance;
	if (member.base)
		member.name = xc_type_strip(member.type)->name;
	if (member.name && !*member.name)
		member.name = NULL;
	member.artificial = xc_die_flag(die, DW_AT_artificial);
	member.dynamic = !read_offset(die, &member);
	read_bits(die, &member);
	member.is_virtual =
		member.base &&
		(member.dynamic || (xc_die_number(die, DW_AT_virtuality, &number) && number != DW_VIRTUALITY_none));
	member.access = (uint8_t)xc_type_access(owner, die);
	if (xc_die_number(die, DW_AT_alignment, &number) && number <= UINT32_MAX)
		member.alignment = (uint32_t)number;
	return member;
}

static void keep(struct xc_type_detail *detail, const void *items, size_t count, size_t size)
{
	detail->items_read = true;
	detail->item_count = count;
	if (count == 0)
		return;
	detail->items = xc_arena_alloc(detail->types->arena, count * size);
	memcpy(detail->items, items, count * size);
}

static void read_members(const struct xc_type *type)
{
	struct xc_type_detail *detail = type->detail;
	xc_auto(xc_freep) struct xc_member *members = NULL;
	size_t count = 0, capacity = 0;
	Dwarf_Die die;
	bool more = xc_die_child(&detail->die, &die);
	for (; more && count < MAX_ITEMS; more = xc_die_next(&die)) {
		int tag = dwarf_tag(&die);
		if (tag != DW_TAG_inheritance && (tag != DW_TAG_member || is_static(&die)))
			continue;
		members = xc_grow(members, count, &capacity, sizeof *members);
		members[count++] = xc_type_read_member(type, &die);
	}
	keep(detail, members, count, sizeof *members);
}

const struct xc_member *xc_type_members(const struct xc_type *type, size_t *count_out)
{
	struct xc_type_detail *detail = type->detail;
	*count_out = 0;
	if (!detail || (type->kind != XC_TYPE_STRUCT && type->kind != XC_TYPE_CLASS && type->kind != XC_TYPE_UNION))
		return NULL;
	if (!detail->items_read && detail->die.addr)
		read_members(type);
	*count_out = detail->item_count;
	return detail->items;
}

static uint64_t sign_extend(uint64_t value, uint64_t size)
{
	return size == 0 || size >= 8 ? value : xc_sign_extend(value, (unsigned)size * 8);
}

void xc_type_read_enumerators(struct xc_type *type)
{
	struct xc_type_detail *detail = type->detail;
	struct xc_types *types = detail->types;
	const char *prefix = "";
	Dwarf_Die die;
	if (!type->is_c)
		prefix = xc_die_flag(&detail->die, DW_AT_enum_class) && type->name
				 ? type->name
				 : xc_scope_prefix(types, &detail->die);
	xc_auto(xc_freep) struct xc_enumerator *items = NULL;
	size_t count = 0, capacity = 0;
	for (bool more = xc_die_child(&detail->die, &die); more && count < MAX_ITEMS; more = xc_die_next(&die)) {
		uint64_t value;
		const char *name = xc_die_identifier(&die, types->arena);
		if (dwarf_tag(&die) != DW_TAG_enumerator || !name || !xc_die_number(&die, DW_AT_const_value, &value))
			continue;
		items = xc_grow(items, count, &capacity, sizeof *items);
		items[count++] =
			(struct xc_enumerator){*prefix ? xc_arena_printf(types->arena, "%s::%s", prefix, name) : name,
					       type->is_signed ? sign_extend(value, type->size) : value};
	}
	keep(detail, items, count, sizeof *items);
	xc_type_classify_enum(type);
}

const struct xc_enumerator *xc_type_enumerators(const struct xc_type *type, size_t *count_out)
{
	bool has = type->kind == XC_TYPE_ENUM && type->detail;
	*count_out = has ? type->detail->item_count : 0;
	return has ? type->detail->items : NULL;
}

const struct xc_enumerator *xc_type_search_enumerators(const struct xc_type *type, size_t *count_out)
{
	const struct xc_enumerator *items = xc_type_enumerators(type, count_out);
	if (xc_budget_spend(1 + *count_out / PAID_ENUMERATORS))
		return items;
	*count_out = 0;
	return NULL;
}

/* gcc marks `this` as const in definitions, not in declarations and types (GCC PR 43053); it always is. */
static const struct xc_type *parameter_type(struct xc_types *types, Dwarf_Die *die)
{
	const struct xc_type *type = xc_type_of(types, die);
	if (type->kind != XC_TYPE_POINTER || !xc_die_flag(die, DW_AT_artificial))
		return type;
	struct xc_type *constant = xc_type_new(types, XC_TYPE_CONST);
	constant->target = type;
	constant->is_c = type->is_c;
	return constant;
}

static void read_parameters(struct xc_type_detail *detail)
{
	xc_auto(xc_freep) const struct xc_type **items = NULL;
	size_t count = 0, capacity = 0;
	Dwarf_Die die;
	for (bool more = xc_die_child(&detail->die, &die); more && count < MAX_ITEMS; more = xc_die_next(&die)) {
		if (dwarf_tag(&die) != DW_TAG_formal_parameter)
			continue;
		items = xc_grow(items, count, &capacity, sizeof *items);
		items[count++] = parameter_type(detail->types, &die);
	}
	keep(detail, items, count, sizeof *items);
}

const struct xc_type *const *xc_type_parameters(const struct xc_type *type, size_t *count_out)
{
	*count_out = 0;
	if (type->kind != XC_TYPE_FUNCTION || !type->detail)
		return NULL;
	if (!type->detail->items_read && type->detail->die.addr)
		read_parameters(type->detail);
	*count_out = type->detail->item_count;
	return type->detail->items;
}
