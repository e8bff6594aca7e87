/* variant: reads variant parts, and selects the variant of a value.
 *
 * Discriminants are compared as bits: for a discriminant of one byte, compilers write -3 as 253 in DW_FORM_data1, and
 * as -3 in DW_FORM_sdata. Only ranges (DW_AT_discr_list) depend on its signedness.
 *
 *     DW_AT_discr_list, a block:  DW_DSC_label (0) value | DW_DSC_range (1) low high, … all LEB128 */
#include "dwarf/value/variant.h"

#include <dwarf.h>
#include <string.h>

#include "dwarf/module/die.h"
#include "dwarf/types/type_die.h"

enum { MAX_VARIANTS = 1 << 14, MAX_RANGES = 1 << 12 };

struct reader {
	const struct xc_type *owner;
	struct xc_arena *arena;
	unsigned bits; /* of the discriminant */
	bool is_signed;
};

static unsigned __int128 mask(unsigned __int128 value, unsigned bits)
{
	return bits >= 128 ? value : value & (((unsigned __int128)1 << bits) - 1);
}

static bool read_leb(const uint8_t **at, const uint8_t *end, bool is_signed, unsigned __int128 *out)
{
	unsigned __int128 value = 0;
	unsigned shift = 0;
	uint8_t byte;
	do {
		if (*at == end || shift > 127)
			return false;
		byte = *(*at)++;
		value |= (unsigned __int128)(byte & 127) << shift;
		shift += 7;
	} while (byte & 128);
	if (is_signed && (byte & 64) && shift < 128)
		value |= ~(unsigned __int128)0 << shift;
	*out = value;
	return true;
}

/* DW_FORM_data16 and blocks: discriminants of 128 bits. */
static bool read_block(Dwarf_Attribute *attr, unsigned __int128 *out)
{
	Dwarf_Block block;
	if (dwarf_formblock(attr, &block) != 0 || block.length == 0 || block.length > sizeof *out)
		return false;
	*out = 0;
	memcpy(out, block.data, block.length); /* little-endian, as all machines whose values we read are */
	return true;
}

static bool read_single(const struct reader *r, Dwarf_Attribute *attr, struct xc_variant_range *range)
{
	uint64_t word;
	if (xc_die_constant(attr, &word)) {
		range->lo = word;
		if (dwarf_whatform(attr) == DW_FORM_sdata && (int64_t)word < 0)
			range->lo |= ~(unsigned __int128)0 << 64;
	} else if (!read_block(attr, &range->lo)) {
		return false;
	}
	range->lo = range->hi = mask(range->lo, r->bits);
	return true;
}

static size_t read_list(const struct reader *r, const Dwarf_Block *block, struct xc_variant_range *ranges, size_t max)
{
	const uint8_t *at = block->data, *end = at + block->length;
	size_t count = 0;
	while (at < end && count < max) {
		struct xc_variant_range one;
		uint8_t kind = *at++;
		if (kind > DW_DSC_range || !read_leb(&at, end, r->is_signed, &one.lo))
			return 0;
		one.hi = one.lo;
		if (kind == DW_DSC_range && !read_leb(&at, end, r->is_signed, &one.hi))
			return 0;
		ranges[count++] = (struct xc_variant_range){mask(one.lo, r->bits), mask(one.hi, r->bits)};
	}
	return at == end ? count : 0;
}

static void read_ranges(const struct reader *r, Dwarf_Die *die, struct xc_variant *variant)
{
	Dwarf_Attribute attr;
	Dwarf_Block block;
	if (dwarf_attr(die, DW_AT_discr_value, &attr)) {
		struct xc_variant_range *one = xc_arena_alloc(r->arena, sizeof *one);
		variant->range_count = read_single(r, &attr, one);
		variant->ranges = one;
	} else if (dwarf_attr(die, DW_AT_discr_list, &attr)) {
		if (dwarf_formblock(&attr, &block) == 0 && block.length > 0) { /* two bytes a range at least */
			size_t max = block.length / 2 < MAX_RANGES ? block.length / 2 : MAX_RANGES;
			struct xc_variant_range *list = xc_arena_alloc(r->arena, (max + 1) * sizeof *list);
			variant->range_count = read_list(r, &block, list, max);
			variant->ranges = list;
		}
	} else {
		variant->is_default = true;
	}
	variant->is_unknown = !variant->is_default && variant->range_count == 0;
}

static void read_variant(const struct reader *r, Dwarf_Die *die, struct xc_variant *variant)
{
	xc_auto(xc_freep) struct xc_member *members = NULL;
	size_t capacity = 0, count = 0;
	Dwarf_Die child;
	read_ranges(r, die, variant);
	for (bool more = xc_die_child(die, &child); more && count < MAX_VARIANTS; more = xc_die_next(&child)) {
		if (dwarf_tag(&child) != DW_TAG_member)
			continue;
		members = xc_grow(members, count, &capacity, sizeof *members);
		members[count++] = xc_type_read_member(r->owner, &child);
	}
	struct xc_member *kept = xc_arena_alloc(r->arena, count * sizeof *kept + 1);
	if (count > 0)
		memcpy(kept, members, count * sizeof *kept);
	variant->members = kept;
	variant->count = count;
}

/* The bits of the discriminant; an unknown size compares all of them. */
static void read_discriminant(struct reader *r, Dwarf_Die *die, struct xc_variant_part *part)
{
	Dwarf_Die member;
	uint64_t size;
	r->bits = 128;
	if (!xc_die_ref(die, DW_AT_discr, &member))
		return;
	part->has_discriminant = true;
	part->discriminant = xc_type_read_member(r->owner, &member);
	const struct xc_type *type = xc_type_strip(part->discriminant.type);
	r->is_signed = type->is_signed;
	if (part->discriminant.bit_size > 0)
		r->bits = part->discriminant.bit_size;
	else if (xc_type_size(type, &size) && size <= 16)
		r->bits = (unsigned)size * 8;
}

static const struct xc_variant_part *read_part(const struct xc_type *owner, Dwarf_Die *die)
{
	struct reader r = {.owner = owner, .arena = xc_type_arena(owner)};
	struct xc_variant_part *part = xc_arena_alloc(r.arena, sizeof *part);
	xc_auto(xc_freep) struct xc_variant *variants = NULL;
	size_t capacity = 0;
	Dwarf_Die child;
	read_discriminant(&r, die, part);
	for (bool more = xc_die_child(die, &child); more && part->count < MAX_VARIANTS; more = xc_die_next(&child)) {
		if (dwarf_tag(&child) != DW_TAG_variant)
			continue;
		struct xc_variant one = {.ranges = NULL};
		read_variant(&r, &child, &one);
		variants = xc_grow(variants, part->count, &capacity, sizeof *variants);
		variants[part->count++] = one;
	}
	struct xc_variant *kept = xc_arena_alloc(r.arena, part->count * sizeof *kept + 1);
	if (part->count > 0)
		memcpy(kept, variants, part->count * sizeof *kept);
	part->variants = kept;
	return part;
}

const struct xc_variant_part *xc_variant_part_of(const struct xc_type *type)
{
	Dwarf_Die owner, die;
	if (!type->has_variants || !xc_type_die_of(type, &owner))
		return NULL;
	const struct xc_variant_part **known = xc_type_variants(type);
	if (*known)
		return *known;
	for (bool more = xc_die_child(&owner, &die); more; more = xc_die_next(&die)) {
		if (dwarf_tag(&die) == DW_TAG_variant_part)
			return *known = read_part(type, &die);
	}
	return NULL;
}

/* Is lo <= bits <= hi in the discriminant's own order? */
static bool within(const struct xc_variant_range *range, unsigned __int128 bits, const struct xc_type *type)
{
	if (!type->is_signed || range->lo == range->hi)
		return range->lo <= bits && bits <= range->hi;
	unsigned __int128 top = (unsigned __int128)1 << (type->size > 0 && type->size <= 16 ? type->size * 8 - 1 : 127);
	return (range->lo ^ top) <= (bits ^ top) && (bits ^ top) <= (range->hi ^ top);
}

static bool fits(const struct xc_variant *variant, unsigned __int128 bits, const struct xc_type *type)
{
	for (size_t i = 0; i < variant->range_count; i++) {
		if (within(&variant->ranges[i], bits, type))
			return true;
	}
	return false;
}

static const struct xc_variant *choose(const struct xc_variant_part *part, unsigned __int128 bits,
				       const struct xc_type *type)
{
	const struct xc_variant *otherwise = NULL;
	bool sure = true;
	for (size_t i = 0; i < part->count; i++) {
		const struct xc_variant *one = &part->variants[i];
		if (fits(one, bits, type))
			return one;
		if (one->is_default)
			otherwise = one;
		sure &= !one->is_unknown;
	}
	return sure ? otherwise : NULL;
}

static const struct xc_variant *chosen_by(const struct xc_value *value, const struct xc_variant_part *part,
					  struct xc_text *why)
{
	struct xc_value discriminant;
	unsigned __int128 bits;
	xc_value_field(value, &part->discriminant, &discriminant);
	const struct xc_type *type = xc_type_strip(discriminant.type);
	if (!xc_value_load_wide(&discriminant, &bits)) {
		if (why && !xc_value_why(&discriminant, 0, type->size, why))
			xc_text_add(why, "its discriminant is not an integer");
		return NULL;
	}
	unsigned width = discriminant.bit_size ? discriminant.bit_size : (unsigned)type->size * 8;
	const struct xc_variant *found = choose(part, mask(bits, width), type);
	if (!found && why)
		xc_text_printf(why,
			       type->is_signed ? "no variant has the discriminant %lld"
					       : "no variant has the discriminant %llu",
			       (long long)bits);
	return found;
}

const struct xc_variant *xc_variant_of(const struct xc_value *value, struct xc_text *why)
{
	const struct xc_variant_part *part = xc_variant_part_of(xc_type_strip(value->type));
	if (part && part->has_discriminant)
		return chosen_by(value, part, why);
	if (part && part->count == 1)
		return &part->variants[0];
	if (why)
		xc_text_add(why, part && part->count == 0 ? "a type without variants" : "its variant is not known");
	return NULL;
}

const struct xc_member *xc_variant_member(const struct xc_value *value, struct xc_text *why)
{
	const struct xc_variant *variant = xc_variant_of(value, why);
	if (!variant)
		return NULL;
	if (variant->count == 1 && variant->members[0].name && xc_type_strip(value->type)->is_rust)
		return &variant->members[0];
	if (why)
		xc_text_add(why, "not an enum of Rust");
	return NULL;
}
