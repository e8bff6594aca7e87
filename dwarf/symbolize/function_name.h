/* function_name: what a function of the debug information is called. */
#ifndef XC_FUNCTION_NAME_H
#define XC_FUNCTION_NAME_H

#include <elfutils/libdw.h>

#include "core/process/process.h"

/* The name of a function DIE (following abstract origin and specification), qualified by its namespaces and classes, without
 * parameters; a lambda is "f::{lambda}::operator()" of the function that it stands in, also gcc's, which say no more than "operator()".
 * NULL when it has none. Lives as long as the process. */
const char *xc_function_name(const struct xc_process *process, Dwarf_Die *die);

/* The DIE that it is an instance or the definition of; itself when there is none. */
Dwarf_Die xc_function_declaration(const Dwarf_Die *die);

/* DW_LANG_… of the unit that a DIE is in; 0 when it does not say, or there is none. */
int xc_function_language(const Dwarf_Die *die);

#endif
