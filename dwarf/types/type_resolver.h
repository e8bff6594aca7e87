/* type_resolver: finds the definition of a type by name.
 *
 * dwarf/lookup finds definitions, but is built on dwarf/types: template arguments in names are types. So types call
 * it through this table, which dwarf/lookup/type_resolver.c defines. It is bound when the program is linked, because
 * types are made in many places and no place runs first. */
#ifndef XC_TYPE_RESOLVER_H
#define XC_TYPE_RESOLVER_H

#include <elfutils/libdw.h>

#include "core/process/process.h"

/* The type that is looked for: the fields of the same names in struct xc_query (dwarf/lookup/query.h). */
struct xc_type_query {
	const char *name;
	int tag;
	struct xc_module *module;
	Dwarf_Die *near;
	bool small_only;
};

struct xc_type_resolver {
	/* The best definition, as xc_lookup_one ranks them. False when there is none. */
	bool (*find)(const struct xc_process *process, const struct xc_type_query *query, Dwarf_Die *found_out);
};

extern const struct xc_type_resolver xc_type_resolver;

#endif
