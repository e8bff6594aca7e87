/* entry_value: the value of a register at the entry of a frame's function, from the call site in its caller. */
#ifndef XC_ENTRY_VALUE_H
#define XC_ENTRY_VALUE_H

#include "dwarf/value/expr.h"

/* The bits of DWARF register `reg` at entry, at most 16 bytes. With deref, those of the memory that it pointed to then
 * (DW_AT_call_data_value). NULL, or the reason why they are not known. */
const char *xc_entry_value_register(struct xc_expr_context *context, unsigned reg, bool deref,
				    unsigned __int128 *bits_out);

/* The bits that the frame's own unfinished call passed in a register, from the call site of that call. NULL, or the
 * reason why they are not known. */
const char *xc_entry_value_argument(struct xc_expr_context *context, unsigned reg, unsigned __int128 *bits_out);

/* The entry value of a parameter that an operator names by its DIE (DW_OP_GNU_parameter_ref). */
const char *xc_entry_value_parameter(struct xc_expr_context *context, Dwarf_Die *parameter,
				     unsigned __int128 *bits_out);

/* The value at entry of an argument whose location there is the expression, if that is a register; it is marked as
 * guessed. False when it is not known; then *out is not changed. The current value may be another. */
bool xc_entry_value_variable(struct xc_expr_context *context, const struct xc_expr *at_entry,
			     const struct xc_type *type, struct xc_value *out);

#endif
