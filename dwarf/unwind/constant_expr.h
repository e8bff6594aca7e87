/* constant_expr: DWARF expressions of constants alone, which need neither registers nor memory. */
#ifndef XC_CONSTANT_EXPR_H
#define XC_CONSTANT_EXPR_H

#include <elfutils/libdw.h>

#include "core/process/process.h"

/* The value of an attribute that is a constant expression: operators lit*, const*, addr, addrx, constx, and those
 * that compute with the values pushed. Addresses are those in memory. False for other operators, and for addresses of
 * a module whose bias is unknown. */
bool xc_constant_expr(const struct xc_process *process, const struct xc_module *module, Dwarf_Attribute *attr,
		      uint64_t *value_out);

#endif
