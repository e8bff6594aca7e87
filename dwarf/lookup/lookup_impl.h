/* lookup_impl: shared by the files of lookup. */
#ifndef XC_LOOKUP_IMPL_H
#define XC_LOOKUP_IMPL_H

#include "dwarf/index/index.h"
#include "dwarf/lookup/lookup.h"

/* The index of a module, opened on first use but not yet built; NULL when the module has no debug information. */
struct xc_index *xc_lookup_index(const struct xc_process *process, struct xc_module *module);

/* Open the DIE of an entry, or its macro. False when it does not exist. */
bool xc_lookup_open(const struct xc_process *process, struct xc_module *module, struct xc_index *index,
		    const struct xc_index_entry *entry, struct xc_definition *out);

/* For qsort: entries in the order of the file. */
int xc_lookup_by_place(const void *a, const void *b);

#endif
