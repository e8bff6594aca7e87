/* type_die: types from DIEs, each made once.
 *
 * A type enters the cache before its target is read, so recursive types close on themselves. Targets are followed at
 * once (every reader needs them), members only on demand; a chain longer than XC_TYPE_DEPTH ends in the unknown type.
 * A `struct xc_type` never changes after it was made; what is computed later is kept in its detail. */
#include "dwarf/types/type_die.h"

#include <dwarf.h>
#include <string.h>

#include "dwarf/module/debugfile.h"
#include "dwarf/line/unit_cache.h"
#include "dwarf/module/die.h"
#include "dwarf/types/scope.h"
#include "dwarf/types/type_impl.h"
#include "dwarf/types/type_make.h"

enum { FIRST_UNITS = 16 };

/* Languages in which tags are names by themselves, so that "struct" is not written. */
static bool names_tags(int language)
{
	switch (language) {
	case DW_LANG_C_plus_plus:
	case DW_LANG_C_plus_plus_03:
	case DW_LANG_C_plus_plus_11:
	case DW_LANG_C_plus_plus_14:
	case 0x2a: /* C++17 and C++20 (dwarfstd.org): newer than this dwarf.h */
	case 0x2b:
	case DW_LANG_ObjC_plus_plus:
	case DW_LANG_Rust:
	case DW_LANG_D:
	case DW_LANG_Go:
	case DW_LANG_Swift:
		return true;
	default:
		return false;
	}
}

/* The language of most of a file, judged by its first units. */
static int first_language(struct xc_types *types, Dwarf *dwarf)
{
	struct xc_module *module = xc_unit_cache_module(types->process, dwarf);
	Dwarf *whole = module && module->debug ? xc_debugfile_dwarf(module->debug) : dwarf;
	Dwarf_CU *unit = NULL;
	Dwarf_Die die;
	int language = -1;
	for (int i = 0; i < FIRST_UNITS && language < 0 && whole; i++) {
		if (dwarf_get_units(whole, unit, &unit, NULL, NULL, &die, NULL) != 0)
			break;
		language = dwarf_srclang(&die);
	}
	return language;
}

/* dwz's partial units have no language: they get that of the unit that refers to them. */
static int language_of(struct xc_types *types, Dwarf_Die *die)
{
	Dwarf_Die unit;
	int language = dwarf_cu_die(die->cu, &unit, NULL, NULL, NULL, NULL, NULL, NULL) ? dwarf_srclang(&unit) : 0;
	if (language >= 0)
		return language;
	void **known = xc_pointer_map_at(&types->languages, types->arena, die->cu, NULL);
	if (!*known) {
		language = types->from_language > 0 ? types->from_language
						    : first_language(types, dwarf_cu_getdwarf(die->cu));
		known = xc_pointer_map_at(&types->languages, types->arena, die->cu, NULL);
		*known = (void *)(uintptr_t)(language > 0 ? language + 1 : 1);
	}
	return (int)(uintptr_t)*known - 1;
}

/* Languages in which a character is never an integer type; C has no other integer of one byte. */
static bool has_bytes(int language)
{
	switch (language) {
	case DW_LANG_Ada83:
	case DW_LANG_Ada95:
	case DW_LANG_Fortran77:
	case DW_LANG_Fortran90:
	case DW_LANG_Fortran95:
	case DW_LANG_Fortran03:
	case DW_LANG_Fortran08:
	case DW_LANG_Pascal83:
	case DW_LANG_Modula2:
	case DW_LANG_Modula3:
		return true;
	default:
		return false;
	}
}

static void know_unit(struct xc_types *types, Dwarf_Die *die)
{
	if (types->unit == die->cu)
		return;
	int language = language_of(types, die);
	types->unit = die->cu;
	types->unit_is_c = !names_tags(language);
	types->unit_is_rust = language == DW_LANG_Rust;
	types->unit_is_go = language == DW_LANG_Go;
	types->unit_language = language;
}

static bool unit_is_c(struct xc_types *types, Dwarf_Die *die)
{
	know_unit(types, die);
	return types->unit_is_c;
}

static unsigned address_size(Dwarf_Die *die)
{
	Dwarf_Die unit;
	uint8_t size;
	if (!dwarf_cu_die(die->cu, &unit, NULL, NULL, &size, NULL, NULL, NULL) || size == 0)
		return 8;
	return size;
}

static void fill_unknown(struct xc_type *type, Dwarf_Die *die)
{
	const char *name = xc_die_name(die);
	type->kind = XC_TYPE_UNKNOWN;
	type->name = name ? name : "<unknown type>";
}

/* gcc's scalar_storage_order attribute, and similar features of other languages (DWARF 5, 5.1.1.2). */
static bool is_swapped(struct xc_type *type, Dwarf_Die *die)
{
	uint64_t order;
	bool big = type->detail->types->process->arch->big_endian;
	return xc_die_number(die, DW_AT_endianity, &order) &&
	       ((order == DW_END_big && !big) || (order == DW_END_little && big));
}

static void fill_base(struct xc_type *type, Dwarf_Die *die)
{
	uint64_t encoding = 0;
	xc_die_number(die, DW_AT_encoding, &encoding);
	type->encoding = (uint8_t)encoding;
	type->is_swapped = is_swapped(type, die);
	type->name = xc_scope_canonical(type->detail->types->arena, xc_die_name(die));
	switch (encoding) {
	case DW_ATE_boolean:
		type->kind = XC_TYPE_BOOL;
		break;
	case DW_ATE_float:
		type->kind = XC_TYPE_FLOAT;
		break;
	case DW_ATE_complex_float:
		type->kind = XC_TYPE_COMPLEX;
		break;
	case DW_ATE_lo_user: /* gcc's for complex integers (dwarf2out.cc, base_type_die) */
		if (type->name && strncmp(type->name, "complex ", 8) == 0)
			type->kind = XC_TYPE_COMPLEX;
		type->is_signed = type->name && !strstr(type->name, "unsigned");
		break;
	case DW_ATE_signed_char:
	case DW_ATE_unsigned_char:
	case DW_ATE_UTF:
	case DW_ATE_ASCII:
	case DW_ATE_UCS:
		type->kind = XC_TYPE_CHAR;
		type->is_signed = encoding == DW_ATE_signed_char;
		break;
	case DW_ATE_signed:
	case DW_ATE_unsigned:
	case DW_ATE_address:
		type->kind = XC_TYPE_INT;
		type->is_signed = encoding == DW_ATE_signed;
		type->is_byte = type->size == 1 && has_bytes(language_of(type->detail->types, die));
		break;
	default:
		type->kind = XC_TYPE_UNKNOWN; /* decimal floats, fixed point: named, not read */
	}
}

static void fill_enum(struct xc_types *types, struct xc_type *type, Dwarf_Die *die)
{
	type->kind = XC_TYPE_ENUM;
	type->name = unit_is_c(types, die) ? xc_die_name(die) : xc_scope_name(types, die);
	Dwarf_Die to;
	if (xc_die_ref(die, DW_AT_type, &to)) {
		type->target = xc_type_get(types, &to);
		type->is_signed = xc_type_strip(type->target)->is_signed;
		type->is_swapped = xc_type_strip(type->target)->is_swapped;
	}
	type->is_swapped |= is_swapped(type, die);
}

static void fill_record(struct xc_types *types, struct xc_type *type, Dwarf_Die *die, enum xc_type_kind kind)
{
	type->kind = kind;
	type->name = unit_is_c(types, die) ? xc_die_name(die) : xc_scope_name(types, die);
	/* for a struct with a variable length array gcc states no size */
	type->is_dynamic = !type->is_declaration && !type->size_known && dwarf_haschildren(die) == 1;
	Dwarf_Die child;
	for (bool more = xc_die_child(die, &child); more; more = xc_die_next(&child)) {
		if (dwarf_tag(&child) == DW_TAG_variant_part) {
			type->has_variants = true;
			break;
		}
	}
}

static void fill_pointer(struct xc_types *types, struct xc_type *type, Dwarf_Die *die, enum xc_type_kind kind)
{
	type->kind = kind;
	bool told = type->size_known;
	if (!told)
		type->size = address_size(die);
	type->size_known = true;
	type->target = xc_type_of(types, die);
	type->is_dynamic = type->target->is_dynamic; /* int (*)[n] */
	if (type->is_rust)
		type->name = xc_die_name(die); /* "&mut [u8]", "*const i32": the kind of pointer */
	Dwarf_Die container;
	if (kind == XC_TYPE_MEMBER_POINTER) {
		if (xc_die_ref(die, DW_AT_containing_type, &container))
			type->container = xc_type_get(types, &container);
		if (!told && xc_type_strip(type->target)->kind == XC_TYPE_FUNCTION)
			type->size *= 2; /* Itanium C++ ABI 2.3: {ptr, adj} */
	}
}

static void fill_alias(struct xc_types *types, struct xc_type *type, Dwarf_Die *die, enum xc_type_kind kind)
{
	type->kind = kind;
	if (kind == XC_TYPE_TYPEDEF)
		type->name = unit_is_c(types, die) ? xc_die_name(die) : xc_scope_name(types, die);
	type->target = xc_type_of(types, die);
	type->is_dynamic = type->target->is_dynamic;
}

/* A range of another type is that type. Values that are stored relative to a bias are not read. */
static void fill_subrange(struct xc_types *types, struct xc_type *type, Dwarf_Die *die)
{
	if (dwarf_hasattr(die, DW_AT_type) && !dwarf_hasattr(die, DW_AT_GNU_bias)) {
		fill_alias(types, type, die, XC_TYPE_TYPEDEF);
		return;
	}
	fill_unknown(type, die);
	/* DWARF 5, 5.13: the language chooses the type */
	if (!dwarf_hasattr(die, DW_AT_GNU_bias) && type->size_known) {
		type->kind = XC_TYPE_INT;
		type->is_signed = true;
	}
}

static void fill_function(struct xc_types *types, struct xc_type *type, Dwarf_Die *die)
{
	type->kind = XC_TYPE_FUNCTION;
	type->target = xc_type_of(types, die);
	type->is_prototyped = xc_die_flag(die, DW_AT_prototyped) || !unit_is_c(types, die);
	Dwarf_Die child;
	for (bool more = xc_die_child(die, &child); more; more = xc_die_next(&child))
		type->is_variadic |= dwarf_tag(&child) == DW_TAG_unspecified_parameters;
}

static void fill(struct xc_types *types, struct xc_type *type, Dwarf_Die *die)
{
	switch (dwarf_tag(die)) {
	case DW_TAG_base_type:
		fill_base(type, die);
		break;
	case DW_TAG_pointer_type:
		fill_pointer(types, type, die, XC_TYPE_POINTER);
		break;
	case DW_TAG_reference_type:
		fill_pointer(types, type, die, XC_TYPE_REFERENCE);
		break;
	case DW_TAG_rvalue_reference_type:
		fill_pointer(types, type, die, XC_TYPE_RVALUE_REFERENCE);
		break;
	case DW_TAG_ptr_to_member_type:
		fill_pointer(types, type, die, XC_TYPE_MEMBER_POINTER);
		break;
	case DW_TAG_structure_type:
		fill_record(types, type, die, XC_TYPE_STRUCT);
		break;
	case DW_TAG_class_type:
	case DW_TAG_interface_type:
		fill_record(types, type, die, XC_TYPE_CLASS);
		break;
	case DW_TAG_union_type:
		fill_record(types, type, die, XC_TYPE_UNION);
		break;
	case DW_TAG_enumeration_type:
		fill_enum(types, type, die);
		break;
	case DW_TAG_array_type:
		xc_type_fill_array(types, type, die, types->unit_language);
		break;
	case DW_TAG_string_type:
		xc_type_fill_string(types, type, die);
		break;
	case DW_TAG_subroutine_type:
	case DW_TAG_subprogram:
	case DW_TAG_inlined_subroutine:
		fill_function(types, type, die);
		break;
	case DW_TAG_typedef:
	case DW_TAG_template_alias:
	case DW_TAG_packed_type: /* adds nothing to the type's own attributes */
	case DW_TAG_shared_type:
		fill_alias(types, type, die, XC_TYPE_TYPEDEF);
		break;
	case DW_TAG_subrange_type:
		fill_subrange(types, type, die);
		break;
	case DW_TAG_const_type:
	case DW_TAG_immutable_type:
		fill_alias(types, type, die, XC_TYPE_CONST);
		break;
	case DW_TAG_volatile_type:
		fill_alias(types, type, die, XC_TYPE_VOLATILE);
		break;
	case DW_TAG_restrict_type:
		fill_alias(types, type, die, XC_TYPE_RESTRICT);
		break;
	case DW_TAG_atomic_type:
		fill_alias(types, type, die, XC_TYPE_ATOMIC);
		break;
	default:
		fill_unknown(type, die);
	}
}

/* A unit's entry for a type that is in a type unit (DWARF 5, 3.1.4): gcc writes no more than DW_AT_signature, clang a
 * declaration. */
static bool in_type_unit(Dwarf_Die *die, Dwarf_Die *found_out)
{
	Dwarf_Attribute attr;
	switch (dwarf_tag(die)) {
	case DW_TAG_structure_type:
	case DW_TAG_class_type:
	case DW_TAG_union_type:
	case DW_TAG_enumeration_type:
		return dwarf_attr(die, DW_AT_signature, &attr) && xc_die_follow(&attr, found_out) &&
		       dwarf_tag(found_out) == dwarf_tag(die) && found_out->addr != die->addr;
	default:
		return false;
	}
}

/* Checks the DIE itself: in type units a definition refers to its declaration by DW_AT_specification. */
static bool is_declaration(Dwarf_Die *die)
{
	Dwarf_Attribute attr;
	bool set = false;
	return dwarf_attr(die, DW_AT_declaration, &attr) && dwarf_formflag(&attr, &set) == 0 && set;
}

const struct xc_type *xc_type_get(struct xc_types *types, Dwarf_Die *die)
{
	Dwarf_Die definition;
	if (types->depth >= XC_TYPE_DEPTH)
		return &types->unknown;
	void **slot = xc_pointer_map_at(&types->by_die, types->arena, die->addr, NULL);
	if (*slot)
		return *slot;
	if (in_type_unit(die, &definition)) {
		types->depth++;
		const struct xc_type *there = xc_type_get(types, &definition);
		types->depth--;
		*xc_pointer_map_at(&types->by_die, types->arena, die->addr, NULL) = (void *)there;
		return there;
	}
	struct xc_type *type = xc_type_new(types, XC_TYPE_UNKNOWN);
	*slot = type;
	type->detail->die = *die;
	type->is_c = unit_is_c(types, die);
	type->is_rust = types->unit_is_rust;
	type->is_go = types->unit_is_go;
	type->is_declaration = is_declaration(die);
	type->size_known = !type->is_declaration && xc_die_number(die, DW_AT_byte_size, &type->size);
	types->depth++;
	fill(types, type, die);
	types->depth--;
	if (type->kind == XC_TYPE_ENUM)
		xc_type_read_enumerators(type);
	return type;
}

const struct xc_type *xc_type_of(struct xc_types *types, Dwarf_Die *die)
{
	Dwarf_Attribute attr;
	Dwarf_Die to;
	if (!xc_die_attr(die, DW_AT_type, &attr))
		return &types->void_type;
	if (!xc_die_follow(&attr, &to))
		return &types->unknown; /* in a file that is missing */
	int from = types->from_language;
	know_unit(types, die);
	types->from_language = types->unit_language;
	const struct xc_type *type = xc_type_get(types, &to);
	types->from_language = from;
	return type;
}

bool xc_type_die_of(const struct xc_type *type, Dwarf_Die *die_out)
{
	if (!type->detail || !type->detail->die.addr)
		return false;
	*die_out = type->detail->die;
	return true;
}

const struct xc_variant_part **xc_type_variants(const struct xc_type *type)
{
	return &type->detail->variants;
}

struct xc_arena *xc_type_arena(const struct xc_type *type)
{
	return type->detail->types->arena;
}
