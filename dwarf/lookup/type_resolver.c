/* type_resolver: look-ups by name for dwarf/types. */
#include "dwarf/types/type_resolver.h"

#include "dwarf/lookup/lookup.h"

static bool find(const struct xc_process *process, const struct xc_type_query *query, Dwarf_Die *found_out)
{
	struct xc_definition found;
	const struct xc_query by_name = {.name = query->name,
					 .kinds = XC_NAME_TYPE,
					 .tag = query->tag,
					 .module = query->module,
					 .near = query->near,
					 .agreed = query->near != NULL,
					 .small_only = query->small_only};
	if (!xc_lookup_one(process, &by_name, &found))
		return false;
	*found_out = found.die;
	return true;
}

const struct xc_type_resolver xc_type_resolver = {.find = find};
