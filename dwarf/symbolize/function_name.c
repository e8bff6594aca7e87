/* function_name: the linkage name where there is one, since it has the scope of the function; else the name of the
 * DIE with the names around it. */
#include "dwarf/symbolize/function_name.h"

#include <dwarf.h>
#include <string.h>

#include "core/base/text.h"
#include "dwarf/elf/demangle.h"
#include "dwarf/module/die.h"
#include "dwarf/types/scope.h"

enum {
	MAX_DEPTH = 64, /* namespaces and classes around a function, and chained origins */
	NESTED = 8,     /* lambdas in lambdas */
};

int xc_function_language(const Dwarf_Die *die)
{
	Dwarf_Die at = *die, unit;
	int language = at.cu && dwarf_diecu(&at, &unit, NULL, NULL) ? dwarf_srclang(&unit) : 0;
	return language > 0 ? language : 0;
}

static bool mangles(Dwarf_Die *die)
{
	switch (xc_function_language(die)) {
	case DW_LANG_C:
	case DW_LANG_C89:
	case DW_LANG_C99:
	case DW_LANG_C11:
		return false;
	default:
		return true;
	}
}

Dwarf_Die xc_function_declaration(const Dwarf_Die *die)
{
	Dwarf_Die at = *die;
	for (unsigned i = 0; i < MAX_DEPTH &&
			     (xc_die_ref(&at, DW_AT_abstract_origin, &at) || xc_die_ref(&at, DW_AT_specification, &at));
	     i++)
		;
	return at;
}

static const char *demangled(struct xc_arena *arena, Dwarf_Die *die)
{
	Dwarf_Attribute attr;
	if (!xc_die_attr(die, DW_AT_linkage_name, &attr) && !xc_die_attr(die, DW_AT_MIPS_linkage_name, &attr))
		return NULL;
	const char *linkage = dwarf_formstring(&attr);
	xc_auto(xc_freep) char *name = linkage ? xc_demangle(linkage, false) : NULL;
	return name ? xc_arena_strdup(arena, name) : NULL;
}

/* Is the first parameter a closure object? Types may precede it. */
static bool has_closure(Dwarf_Die *die)
{
	Dwarf_Die child;
	bool found = xc_die_child(die, &child);
	while (found && dwarf_tag(&child) != DW_TAG_formal_parameter)
		found = xc_die_next(&child);
	const char *name = found ? xc_die_name(&child) : NULL;
	return name && !strcmp(name, "__closure");
}

/* Is it one of the two functions that gcc makes of a lambda? The other is used where a plain function pointer is
 * needed. */
static bool is_lambda(Dwarf_Die *die)
{
	const char *name = xc_die_name(die);
	return name && (!strcmp(name, "_FUN") || (xc_begins_with(name, "operator()") && has_closure(die)));
}

/* The function that holds a DIE, also when the DIE is part of a class without a name. */
static bool enclosing_function(struct xc_types *types, const Dwarf_Die *die, Dwarf_Die *function_out)
{
	Dwarf_Die at = *die;
	for (unsigned i = 0; i < MAX_DEPTH && xc_scope_parent(types, &at, function_out); i++) {
		if (dwarf_tag(function_out) == DW_TAG_subprogram)
			return true;
		at = *function_out;
	}
	return false;
}

static const char *function_name(const struct xc_process *process, Dwarf_Die *die, unsigned depth);

/* gcc gives a lambda no linkage name, and its class no name: "f::{lambda}::operator()" shows which function it is in.
 */
static const char *lambda_name(const struct xc_process *process, Dwarf_Die *die, unsigned depth)
{
	struct xc_arena *arena = &((struct xc_process *)(uintptr_t)process)->arena;
	struct xc_types *types = xc_types_of(process);
	Dwarf_Die function;
	const char *in = depth < NESTED && enclosing_function(types, die, &function)
				 ? function_name(process, &function, depth + 1)
				 : xc_scope_prefix(types, die);
	return xc_arena_printf(arena, "%s%s{lambda}::%s", in ? in : "", in && *in ? "::" : "", xc_die_name(die));
}

static bool is_member(struct xc_types *types, const Dwarf_Die *die)
{
	Dwarf_Die at = *die, parent;
	if (!xc_scope_parent(types, &at, &parent))
		return false;
	int tag = dwarf_tag(&parent);
	return tag == DW_TAG_structure_type || tag == DW_TAG_class_type || tag == DW_TAG_union_type;
}

/* gcc gives no linkage names to members of a class inside a function either, and several functions may have a class
 * of that name. */
static const char *member_name(const struct xc_process *process, Dwarf_Die *die, unsigned depth)
{
	struct xc_arena *arena = &((struct xc_process *)(uintptr_t)process)->arena;
	struct xc_types *types = xc_types_of(process);
	const char *name = xc_scope_name(types, die);
	Dwarf_Die function;
	if (!name || depth >= NESTED || !is_member(types, die) || !enclosing_function(types, die, &function))
		return name;
	const char *in = function_name(process, &function, depth + 1);
	return in ? xc_arena_printf(arena, "%s::%s", in, name) : name;
}

/* A function without linkage name (anonymous namespaces, lambdas, Rust) is named by its scope. */
static const char *scoped_name(const struct xc_process *process, Dwarf_Die *die, unsigned depth)
{
	Dwarf_Die declaration = xc_function_declaration(die);
	return is_lambda(&declaration) ? lambda_name(process, &declaration, depth)
				       : member_name(process, &declaration, depth);
}

static const char *function_name(const struct xc_process *process, Dwarf_Die *die, unsigned depth)
{
	struct xc_arena *arena = &((struct xc_process *)(uintptr_t)process)->arena;
	Dwarf_Attribute attr;
	const char *name = NULL;
	if (mangles(die) && !(name = demangled(arena, die)))
		name = scoped_name(process, die, depth);
	if (name)
		return name;
	return xc_die_attr(die, DW_AT_name, &attr) ? dwarf_formstring(&attr) : NULL;
}

const char *xc_function_name(const struct xc_process *process, Dwarf_Die *die)
{
	return function_name(process, die, 0);
}
