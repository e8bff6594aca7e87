/* type: types from DIEs, each made once.
 *
 * A type enters the cache before its target is looked at, so recursive types close on themselves. Targets are
 * followed at once (they are one pointer away for every reader), members only on demand; a chain longer than
 * XC_TYPE_DEPTH ends in the unknown type. `xc_type` itself never changes after it was made; what comes later is kept in
 * its detail. */
#include "dwarf/types/type.h"

#include <dwarf.h>
#include <string.h>

#include "dwarf/module/debugfile.h"
#include "dwarf/symbolize/debuginfo.h"
#include "dwarf/module/die.h"
#include "dwarf/lookup/lookup.h"
#include "dwarf/types/scope.h"
#include "dwarf/types/type_impl.h"

struct xc_types *xc_types_of(const struct xc_process *process)
{
	/* The facts of a process are const once it is open; its caches are not facts. */
	struct xc_process *owner = (struct xc_process *)process;
	if (!owner->types) {
		struct xc_types *types = xc_arena_alloc(&owner->arena, sizeof *types);
		types->process = process;
		types->arena = &owner->arena;
		types->unknown = (struct xc_type){.kind = XC_TYPE_UNKNOWN, .name = "<unknown type>"};
		types->void_type = (struct xc_type){.kind = XC_TYPE_VOID, .name = "void"};
		types->unknown.detail = xc_arena_alloc(types->arena, sizeof(struct xc_type_detail));
		types->unknown.detail->types = types;
		types->void_type.detail = xc_arena_alloc(types->arena, sizeof(struct xc_type_detail));
		types->void_type.detail->types = types;
		owner->types = types;
	}
	return owner->types;
}

struct xc_type *xc_type_new(struct xc_types *types, enum xc_type_kind kind)
{
	struct xc_type *type = xc_arena_alloc(types->arena, sizeof *type);
	type->kind = kind;
	type->detail = xc_arena_alloc(types->arena, sizeof *type->detail);
	type->detail->types = types;
	return type;
}

enum { FIRST_UNITS = 16 };

/* Languages whose tags are names of their own, so that "struct" is not written. */
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

/* The language that most of a file is in, as far as its first units tell. */
static int first_language(struct xc_types *types, Dwarf *dwarf)
{
	struct xc_module *module = xc_debuginfo_module(types->process, dwarf);
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

/* dwz's partial units have no language: it is that of the unit that led there. */
static int language_of(struct xc_types *types, Dwarf_Die *die)
{
	Dwarf_Die unit;
	int language = dwarf_cu_die(die->cu, &unit, NULL, NULL, NULL, NULL, NULL, NULL) ? dwarf_srclang(&unit) : 0;
	if (language >= 0)
		return language;
	void **known = xc_memo_at(&types->languages, types->arena, die->cu, NULL);
	if (!*known) {
		language = types->from_language > 0 ? types->from_language
						    : first_language(types, dwarf_cu_getdwarf(die->cu));
		known = xc_memo_at(&types->languages, types->arena, die->cu, NULL);
		*known = (void *)(uintptr_t)(language > 0 ? language + 1 : 1);
	}
	return (int)(uintptr_t)*known - 1;
}

static void know_unit(struct xc_types *types, Dwarf_Die *die)
{
	if (types->unit == die->cu)
		return;
	int language = language_of(types, die);
	types->unit = die->cu;
	types->unit_is_c = !names_tags(language);
	types->unit_is_rust = language == DW_LANG_Rust;
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

/* Numbers of gcc's scalar_storage_order attribute, and of languages that have its like (DWARF 5, 5.1.1.2). */
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
	/* of a struct with a variable length array gcc tells no size */
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
		type->name = xc_die_name(die); /* "&mut [u8]", "*const i32": what kind of pointer it is */
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

/* A range of another type is that type. Values that are stored as their distance from a bias are not read. */
static void fill_subrange(struct xc_types *types, struct xc_type *type, Dwarf_Die *die)
{
	if (dwarf_hasattr(die, DW_AT_type) && !dwarf_hasattr(die, DW_AT_GNU_bias)) {
		fill_alias(types, type, die, XC_TYPE_TYPEDEF);
		return;
	}
	fill_unknown(type, die);
	if (!dwarf_hasattr(die, DW_AT_GNU_bias) && type->size_known) { /* DWARF 5, 5.13: of the language's own choice */
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
	case DW_TAG_packed_type: /* says nothing that the type's own attributes do not */
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

/* What stands in a unit for a type that has a unit of its own (DWARF 5, 3.1.4): gcc writes no more than DW_AT_signature,
 * clang a declaration. */
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

/* Of the DIE itself: in type units a definition has its declaration as DW_AT_specification. */
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
	void **slot = xc_memo_at(&types->by_die, types->arena, die->addr, NULL);
	if (*slot)
		return *slot;
	if (in_type_unit(die, &definition)) {
		types->depth++;
		const struct xc_type *there = xc_type_get(types, &definition);
		types->depth--;
		*xc_memo_at(&types->by_die, types->arena, die->addr, NULL) = (void *)there;
		return there;
	}
	struct xc_type *type = xc_type_new(types, XC_TYPE_UNKNOWN);
	*slot = type;
	type->detail->die = *die;
	type->is_c = unit_is_c(types, die);
	type->is_rust = types->unit_is_rust;
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

const struct xc_type *xc_type_strip(const struct xc_type *type)
{
	static const struct xc_type circular = {.kind = XC_TYPE_UNKNOWN, .name = "<circular type>"};
	for (int i = 0; i < XC_TYPE_DEPTH; i++) {
		if (type->kind < XC_TYPE_TYPEDEF || type->kind > XC_TYPE_ATOMIC || !type->target)
			return type;
		type = type->target;
	}
	return &circular;
}

bool xc_type_is_record(const struct xc_type *type)
{
	type = xc_type_strip(type);
	return type->kind == XC_TYPE_STRUCT || type->kind == XC_TYPE_CLASS || type->kind == XC_TYPE_UNION;
}

bool xc_type_is_pointer(const struct xc_type *type)
{
	type = xc_type_strip(type);
	return type->kind == XC_TYPE_POINTER || type->kind == XC_TYPE_REFERENCE ||
	       type->kind == XC_TYPE_RVALUE_REFERENCE;
}

bool xc_type_size(const struct xc_type *type, uint64_t *size_out)
{
	uint64_t count = 1;
	for (int i = 0; i < XC_TYPE_DEPTH; i++) {
		type = xc_type_strip(type);
		if (type->kind != XC_TYPE_ARRAY) {
			type = type->is_declaration ? xc_type_complete(type) : type;
			if (!type->size_known || __builtin_mul_overflow(count, type->size, &count))
				return false;
			*size_out = count;
			return true;
		}
		if (!type->count_known || __builtin_mul_overflow(count, type->count, &count))
			return false;
		type = type->target;
	}
	return false;
}

static struct xc_module *module_of(const struct xc_type_detail *detail)
{
	Dwarf_Die die = detail->die;
	return xc_debuginfo_module(detail->types->process, dwarf_cu_getdwarf(die.cu));
}

/* In a type unit, or by name: what stands in the same unit or module first, then in any. */
static bool find_definition(const struct xc_type *wanted, Dwarf_Die *found_out)
{
	struct xc_type_detail *detail = wanted->detail;
	struct xc_definition found;
	Dwarf_Attribute attr;
	if (dwarf_attr(&detail->die, DW_AT_signature, &attr) && xc_die_follow(&attr, found_out))
		return true;
	const char *name = xc_scope_name(detail->types, &detail->die);
	const struct xc_query query = {.name = name,
				       .kinds = XC_NAME_TYPE,
				       .tag = dwarf_tag(&detail->die),
				       .module = detail->types->thorough ? NULL : module_of(detail),
				       .near = &detail->die,
				       .small_only = !detail->types->thorough};
	if (!name || !xc_lookup_one(detail->types->process, &query, &found))
		return false;
	*found_out = found.die;
	return true;
}

/* What a script declares without a definition may be a type that the program has. */
static bool find_named(const struct xc_type *wanted, Dwarf_Die *found_out)
{
	struct xc_definition found;
	const struct xc_query query = {.name = wanted->name,
				       .kinds = XC_NAME_TYPE,
				       .tag = wanted->kind == XC_TYPE_ENUM    ? DW_TAG_enumeration_type
					      : wanted->kind == XC_TYPE_UNION ? DW_TAG_union_type
									      : DW_TAG_structure_type};
	if (!xc_lookup_one(wanted->detail->types->process, &query, &found))
		return false;
	*found_out = found.die;
	return true;
}

const struct xc_type *xc_type_complete(const struct xc_type *type)
{
	struct xc_type_detail *detail = type->detail;
	if (!type->is_declaration || !detail || !type->name)
		return type;
	if (!detail->complete) {
		Dwarf_Die found;
		bool has = detail->die.addr ? find_definition(type, &found) : find_named(type, &found);
		detail->complete = has ? xc_type_get(detail->types, &found) : type;
	}
	return detail->complete;
}
