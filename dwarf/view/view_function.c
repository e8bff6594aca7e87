/* view_function: searches for the DIE that names a type: a template argument, a parameter or a variable.
 *
 * An instance of an inlined function leaves out what its abstract origin has, so the search continues there. */
#include "dwarf/view/view_function.h"

#include <dwarf.h>
#include <string.h>

#include "dwarf/symbolize/debuginfo.h"
#include "dwarf/module/die.h"

enum { MAX_NESTING = 8 };

static bool function_at(const struct xc_process *process, xc_addr function, Dwarf_Die *die_out)
{
	const struct xc_place *place = function ? xc_debuginfo_place(process, function) : NULL;
	if (!place || place->level_count == 0 || place->line_only)
		return false;
	*die_out = place->levels[place->level_count - 1].die;
	return true;
}

/* The first child of that tag and name, in the DIE, its blocks, or its abstract origin or specification. */
static bool find_child(Dwarf_Die *parent, int tag, const char *name, unsigned nesting, Dwarf_Die *out)
{
	Dwarf_Die origin;
	for (bool more = xc_die_child(parent, out); more; more = xc_die_next(out)) {
		const char *have = xc_die_name(out);
		if (dwarf_tag(out) == tag && (!name || (have && strcmp(have, name) == 0)))
			return true;
		Dwarf_Die inner;
		if (dwarf_tag(out) == DW_TAG_lexical_block && nesting < MAX_NESTING &&
		    find_child(out, tag, name, nesting + 1, &inner)) {
			*out = inner;
			return true;
		}
	}
	return nesting < MAX_NESTING &&
	       (xc_die_ref(parent, DW_AT_abstract_origin, &origin) ||
		xc_die_ref(parent, DW_AT_specification, &origin)) &&
	       origin.addr != parent->addr && find_child(&origin, tag, name, nesting + 1, out);
}

static const struct xc_type *type_of_child(const struct xc_process *process, xc_addr function, int tag,
					   const char *name)
{
	Dwarf_Die die, child;
	if (!function_at(process, function, &die) || !find_child(&die, tag, name, 0, &child))
		return NULL;
	if (!dwarf_hasattr(&child, DW_AT_type)) { /* a concrete variable has its type in its origin */
		Dwarf_Die origin;
		if (!xc_die_ref(&child, DW_AT_abstract_origin, &origin))
			return NULL;
		child = origin;
	}
	return xc_type_of(xc_types_of(process), &child);
}

const struct xc_type *xc_view_function_argument(const struct xc_process *process, xc_addr function)
{
	return type_of_child(process, function, DW_TAG_template_type_parameter, NULL);
}

/* The type that the parameter of that name points to. */
static const struct xc_type *pointed_by(const struct xc_process *process, xc_addr function, const char *name)
{
	const struct xc_type *type = type_of_child(process, function, DW_TAG_formal_parameter, name);
	type = type ? xc_type_strip(type) : NULL;
	return type && type->kind == XC_TYPE_POINTER ? type->target : NULL;
}

const struct xc_type *xc_view_function_self(const struct xc_process *process, xc_addr function)
{
	return pointed_by(process, function, "self");
}

const struct xc_type *xc_view_function_this(const struct xc_process *process, xc_addr function)
{
	return pointed_by(process, function, "this");
}

const struct xc_type *xc_view_function_local(const struct xc_process *process, xc_addr function, const char *name)
{
	return type_of_child(process, function, DW_TAG_variable, name);
}

const char *xc_view_function_name(const struct xc_process *process, xc_addr function)
{
	const struct xc_place *place = function ? xc_debuginfo_place(process, function) : NULL;
	if (!place)
		return NULL;
	if (place->symbol)
		return place->symbol;
	return place->level_count > 0 ? place->levels[place->level_count - 1].function : NULL;
}
