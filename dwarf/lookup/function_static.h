/* function_static: static variables of functions. No index of names knows them: they are found by reading through all of a file's debug
 * information, at the speed of die_scan.h. */
#ifndef XC_FUNCTION_STATIC_H
#define XC_FUNCTION_STATIC_H

#include "dwarf/module/debugfile.h"

/* Call `each` with every variable that stands in a function, or in a block of one, and has a place of its own in memory; in the order of the
 * file. Functions in classes are not looked into, nor is what is inlined. Does nothing when .debug_info has more than `most` bytes. */
typedef void xc_function_static_fn(void *context, Dwarf_Die *variable, Dwarf_Die *function);
void xc_function_static_each(struct xc_debugfile *file, uint64_t most, xc_function_static_fn *each, void *context);

#endif
