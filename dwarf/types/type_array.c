/* type_array: arrays and strings, of C and of languages with more kinds of them.
 *
 * int m[2][3] is one DIE with two subranges; it becomes an array of arrays, and the DIE's type is the outermost.
 * Where the first index varies fastest (Fortran, DW_AT_ordering) the last subrange is the outermost, so that elements
 * are in memory order, as gdb shows them. Indexes that start at 1 are counted from there. Arrays that are described
 * by a descriptor (DW_AT_data_location), and those with gaps between their elements, have a name but are not read:
 * their bytes are not the elements. */
#include <dwarf.h>
#include <string.h>

#include "dwarf/module/die.h"
#include "dwarf/types/type_impl.h"
#include "dwarf/types/type_make.h"

enum { MAX_DIMENSIONS = 16 };

static bool is_fortran(int language)
{
	switch (language) {
	case DW_LANG_Fortran77:
	case DW_LANG_Fortran90:
	case DW_LANG_Fortran95:
	case DW_LANG_Fortran03:
	case DW_LANG_Fortran08:
		return true;
	default:
		return false;
	}
}

/* The first index. False when it is computed at run time. */
static bool lower_bound(Dwarf_Die *range, int language, uint64_t *lower_out)
{
	Dwarf_Attribute attr;
	Dwarf_Sword lower = 0;
	if (xc_die_attr(range, DW_AT_lower_bound, &attr))
		return xc_die_constant(&attr, lower_out);
	if (dwarf_default_lower_bound(language, &lower) != 0)
		lower = 0;
	*lower_out = (uint64_t)lower;
	return true;
}

/* The count of one dimension, from its subrange. */
static void fill_count(struct xc_type *type, Dwarf_Die *range, int language)
{
	Dwarf_Attribute attr;
	uint64_t lower, value;
	bool is_bound = false;
	if (!xc_die_attr(range, DW_AT_count, &attr)) {
		if (!xc_die_attr(range, DW_AT_upper_bound, &attr))
			return; /* int d[] */
		is_bound = true;
	}
	bool from_zero = lower_bound(range, language, &lower) && lower == 0;
	if (!xc_die_constant(&attr, &value)) {
		type->is_dynamic = true;
		type->detail->dimension = attr;
		type->detail->has_dimension = !is_bound || from_zero;
		type->detail->is_bound = is_bound;
		return;
	}
	if (is_bound && !lower_bound(range, language, &lower)) {
		type->is_dynamic = true;
		return;
	}
	if (is_bound && value == UINT32_MAX && lower == 0)
		return; /* old compilers wrote int d[] this way in 64-bit code */
	type->count = is_bound ? value - lower + 1 : value;
	type->count_known = true;
	if ((int64_t)type->count < 0)
		type->count = 0;
}

/* The children that describe the dimensions, outermost first; Pascal and Ada may use an enum as an index. */
static size_t read_ranges(Dwarf_Die *die, int language, Dwarf_Die ranges[MAX_DIMENSIONS], bool *more_out)
{
	Dwarf_Die child;
	size_t count = 0;
	uint64_t ordering;
	bool reverse = is_fortran(language);
	*more_out = false;
	if (xc_die_number(die, DW_AT_ordering, &ordering))
		reverse = ordering == DW_ORD_col_major;
	for (bool more = xc_die_child(die, &child); more; more = xc_die_next(&child)) {
		int tag = dwarf_tag(&child);
		if (tag != DW_TAG_subrange_type && tag != DW_TAG_generic_subrange && tag != DW_TAG_enumeration_type)
			continue;
		*more_out |= count == MAX_DIMENSIONS;
		if (count < MAX_DIMENSIONS)
			ranges[count++] = child;
	}
	for (size_t i = 0; reverse && i < count / 2; i++) {
		Dwarf_Die swap = ranges[i];
		ranges[i] = ranges[count - 1 - i];
		ranges[count - 1 - i] = swap;
	}
	return count;
}

static bool has_stride(Dwarf_Die *die, const struct xc_type *element)
{
	Dwarf_Attribute attr;
	uint64_t size, stride;
	bool bits = xc_die_attr(die, DW_AT_bit_stride, &attr);
	if (!bits && !xc_die_attr(die, DW_AT_byte_stride, &attr))
		return false;
	return !xc_die_constant(&attr, &stride) || !xc_type_size(element, &size) || stride != (bits ? size * 8 : size);
}

static const char *why_unreadable(Dwarf_Die *die, const Dwarf_Die *ranges, size_t count, const struct xc_type *element)
{
	if (dwarf_hasattr(die, DW_AT_data_location) || dwarf_hasattr(die, DW_AT_allocated) ||
	    dwarf_hasattr(die, DW_AT_associated) || dwarf_hasattr(die, DW_AT_rank))
		return "an array with a descriptor";
	bool gaps = has_stride(die, element);
	for (size_t i = 0; i < count; i++) {
		Dwarf_Die range = ranges[i];
		gaps |= has_stride(&range, element);
	}
	return gaps ? "an array with gaps between its elements" : NULL;
}

static void fill_dimension(struct xc_types *types, struct xc_type *array, Dwarf_Die *range, int language)
{
	size_t count;
	if (dwarf_tag(range) != DW_TAG_enumeration_type) {
		fill_count(array, range, language);
		return;
	}
	xc_type_enumerators(xc_type_get(types, range), &count);
	array->count = count;
	array->count_known = true;
}

void xc_type_fill_array(struct xc_types *types, struct xc_type *type, Dwarf_Die *die, int language)
{
	Dwarf_Die ranges[MAX_DIMENSIONS];
	bool more;
	size_t count = read_ranges(die, language, ranges, &more);
	const struct xc_type *element = xc_type_of(types, die);
	const char *unreadable = more ? "an array of too many dimensions" : why_unreadable(die, ranges, count, element);
	type->size_known = false;
	for (size_t i = count ? count : 1; i-- > 0;) {
		struct xc_type *array = i == 0 ? type : xc_type_new(types, XC_TYPE_ARRAY);
		array->kind = XC_TYPE_ARRAY;
		array->target = element;
		array->is_dynamic = element->is_dynamic;
		array->is_c = type->is_c;
		array->is_rust = type->is_rust;
		array->is_go = type->is_go;
		array->is_vector = xc_die_flag(die, DW_AT_GNU_vector);
		array->unreadable = unreadable;
		if (unreadable)
			array->is_dynamic = true;
		else if (count > 0)
			fill_dimension(types, array, &ranges[i], language);
		element = array;
	}
}

/* CHARACTER(10) of Fortran is an array of characters; a string whose length is stored elsewhere is not read. */
void xc_type_fill_string(struct xc_types *types, struct xc_type *type, Dwarf_Die *die)
{
	struct xc_type *element = xc_type_new(types, XC_TYPE_CHAR);
	element->name = "character";
	element->size = 1;
	element->size_known = true;
	element->encoding = DW_ATE_unsigned_char;
	type->kind = XC_TYPE_ARRAY;
	type->target = element;
	if (dwarf_hasattr(die, DW_AT_string_length) || dwarf_hasattr(die, DW_AT_data_location) || !type->size_known) {
		type->unreadable = "a string whose length is kept elsewhere";
		type->is_dynamic = true;
	} else {
		type->count = type->size;
		type->count_known = true;
	}
	type->size_known = false;
}
