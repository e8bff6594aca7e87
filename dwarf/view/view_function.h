/* view_function: types that a function's debug information names.
 *
 * Type-erased containers (std::function, std::any, trait objects) hold pointers to functions that were compiled for the
 * type of their content: its name is in their template arguments, parameters or variables. NULL when the debug
 * information does not name it. */
#ifndef XC_VIEW_FUNCTION_H
#define XC_VIEW_FUNCTION_H

#include "dwarf/types/type.h"

/* The first template argument of the function at an address. */
const struct xc_type *xc_view_function_argument(const struct xc_process *process, xc_addr function);

/* The type that the parameter `self` (Rust), or `this` (C++), of the function points to. */
const struct xc_type *xc_view_function_self(const struct xc_process *process, xc_addr function);
const struct xc_type *xc_view_function_this(const struct xc_process *process, xc_addr function);

/* The type of a variable of the function at an address, in any of its blocks; NULL when it has none of that name. */
const struct xc_type *xc_view_function_local(const struct xc_process *process, xc_addr function, const char *name);

/* The qualified name of the function, or of the symbol, at an address; NULL when there is none. */
const char *xc_view_function_name(const struct xc_process *process, xc_addr function);

#endif
