/* entry: what a register held when the function of a frame was entered, from the call site in its caller. */
#ifndef XC_ENTRY_VALUE_H
#define XC_ENTRY_VALUE_H

#include "dwarf/value/expr.h"

/* The bits of DWARF register `reg` at entry, at most 16 bytes; deref: what it pointed to then (DW_AT_call_data_value).
 * NULL, or why it is not known. */
const char *xc_entry_value_register(struct xc_expr_context *context, unsigned reg, bool deref,
				    unsigned __int128 *bits_out);

/* The bits that the frame's own call, the one it has not returned from, passed in a register: its call site tells. NULL,
 * or why they are not known. */
const char *xc_entry_value_argument(struct xc_expr_context *context, unsigned reg, unsigned __int128 *bits_out);

/* The value of the parameter that an entry-value operator names by its DIE (DW_OP_GNU_parameter_ref). */
const char *xc_entry_value_parameter(struct xc_expr_context *context, Dwarf_Die *parameter,
				     unsigned __int128 *bits_out);

#endif
