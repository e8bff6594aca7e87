/* function_static: static variables of functions, which the name index does not have. They are found by a scan of all
 * of a file's debug information (die_scan.h). */
#ifndef XC_FUNCTION_STATIC_H
#define XC_FUNCTION_STATIC_H

#include "dwarf/module/debugfile.h"

/* Call `each` with every variable in a function, or in a block of one, that has a fixed place in memory; in the order
 * of the file. Skips functions in classes, and inlined ones. Does nothing when .debug_info has more than `most`
 * bytes. */
typedef void xc_function_static_fn(void *context, Dwarf_Die *variable, Dwarf_Die *function);
void xc_function_static_each(struct xc_debugfile *file, uint64_t most, xc_function_static_fn *each, void *context);

#endif
