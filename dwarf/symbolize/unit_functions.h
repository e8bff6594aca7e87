/* unit_functions: the functions of units by address. */
#ifndef XC_UNIT_FUNCTIONS_H
#define XC_UNIT_FUNCTIONS_H

#include <elfutils/libdw.h>

#include "core/process/process.h"

struct xc_unit_functions;

struct xc_unit_functions *xc_unit_functions_new(void);
void xc_unit_functions_free(struct xc_unit_functions *functions); /* NULL is fine */

/* The innermost function (DW_TAG_subprogram) in a unit of a module that holds an address; false when there is none.
 * Cost: reads the top level of the unit on first use, the whole unit when the function is not there; then O(log n). */
bool xc_unit_functions_at(struct xc_unit_functions *functions, const struct xc_module *module, Dwarf_Die *unit,
			  uint64_t file_addr, Dwarf_Die *function_out);

#endif
