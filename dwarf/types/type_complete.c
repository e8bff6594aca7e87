/* type_complete: from the declaration of a type to its definition. */
#include <dwarf.h>

#include "dwarf/line/unit_cache.h"
#include "dwarf/module/die.h"
#include "dwarf/types/scope.h"
#include "dwarf/types/type_impl.h"
#include "dwarf/types/type_resolver.h"

static struct xc_module *module_of(const struct xc_type_detail *detail)
{
	Dwarf_Die die = detail->die;
	return xc_unit_cache_module(detail->types->process, dwarf_cu_getdwarf(die.cu));
}

/* Search in the type unit, or by name: the same unit or module first, then any. None where those that are as near are
 * different. */
static bool find_definition(const struct xc_type *wanted, Dwarf_Die *found_out)
{
	struct xc_type_detail *detail = wanted->detail;
	Dwarf_Attribute attr;
	if (dwarf_attr(&detail->die, DW_AT_signature, &attr) && xc_die_follow(&attr, found_out))
		return true;
	const char *name = xc_scope_name(detail->types, &detail->die);
	const struct xc_type_query query = {.name = name,
					    .tag = dwarf_tag(&detail->die),
					    .module = detail->types->thorough ? NULL : module_of(detail),
					    .near = &detail->die,
					    .small_only = !detail->types->thorough};
	return name && xc_type_resolver.find(detail->types->process, &query, found_out);
}

/* A type that a script declares without defining it may be defined by the program. */
static bool find_named(const struct xc_type *wanted, Dwarf_Die *found_out)
{
	const struct xc_type_query query = {.name = wanted->name,
					    .tag = wanted->kind == XC_TYPE_ENUM    ? DW_TAG_enumeration_type
						   : wanted->kind == XC_TYPE_UNION ? DW_TAG_union_type
										   : DW_TAG_structure_type};
	return xc_type_resolver.find(wanted->detail->types->process, &query, found_out);
}

const struct xc_type *xc_type_complete(const struct xc_type *type)
{
	struct xc_type_detail *detail = type->detail;
	if (!type->is_declaration || !detail || !type->name)
		return type;
	/* what a cursory search has not found, a thorough one may find: the order of the questions must not matter */
	bool again = detail->complete == type && detail->types->thorough && !detail->thorough;
	if (!detail->complete || again) {
		Dwarf_Die found;
		bool has = detail->die.addr ? find_definition(type, &found) : find_named(type, &found);
		detail->complete = has ? xc_type_get(detail->types, &found) : type;
		detail->thorough = detail->types->thorough;
	}
	return detail->complete;
}
