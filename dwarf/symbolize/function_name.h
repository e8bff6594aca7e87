/* function_name: names of functions from debug information. */
#ifndef XC_FUNCTION_NAME_H
#define XC_FUNCTION_NAME_H

#include <elfutils/libdw.h>

#include "core/process/process.h"

/* The name of a function DIE (following abstract origin and specification), qualified by its namespaces and classes,
 * without parameters. A lambda is "f::{lambda}::operator()" of the function that holds it, also for gcc, which
 * records only "operator()". NULL when it has none. Lives as long as the process. */
const char *xc_function_name(const struct xc_process *process, Dwarf_Die *die);

/* The declaration or abstract instance of a function DIE; the DIE itself when there is none. */
Dwarf_Die xc_function_declaration(const Dwarf_Die *die);

/* DW_LANG_… of the unit that a DIE is in; 0 when the unit does not state it. */
int xc_function_language(const Dwarf_Die *die);

#endif
