/* cfi_row: one row of call frame information: where the caller's registers are when execution is at some code
 * address.
 *
 * A row holds the rules of .eh_frame, .debug_frame or .ARM.exidx for the address, in a form that can be kept and
 * applied to the registers of any thread. */
#ifndef XC_CFI_ROW_H
#define XC_CFI_ROW_H

#include "core/process/process.h"

enum xc_cfi_kind {
	XC_CFI_LOST,       /* the caller's value is not recoverable */
	XC_CFI_SAME,       /* still in the register */
	XC_CFI_AT_CFA,     /* stored in memory at CFA + offset */
	XC_CFI_CFA_PLUS,   /* is CFA + offset */
	XC_CFI_REGISTER,   /* in another register */
	XC_CFI_EXPRESSION, /* an expression yields the address, or the value */
};

struct xc_cfi_rule {
	enum xc_cfi_kind kind;
	int32_t reg;         /* for XC_CFI_REGISTER */
	int64_t offset;      /* for the CFA kinds */
	const uint8_t *expr; /* for XC_CFI_EXPRESSION; bytes of the module's file */
	size_t expr_size;
	bool expr_is_value;
};

struct xc_cfi_row {
	bool found;    /* false: no call frame information covers the address */
	bool signal;   /* the frame is a signal trampoline */
	bool told;     /* from a plugin, not from the module (foreign_frame.h) */
	bool at_calls; /* valid at the function's calls, but perhaps not in its first and last instructions */
	int cfa_reg;   /* CFA = cfa_reg + cfa_offset, or, when -1, the expression */
	int64_t cfa_offset;
	const uint8_t *cfa_expr;
	size_t cfa_expr_size;
	int return_reg; /* whose rule gives the return address */
	uint16_t rule_count;
	struct xc_cfi_rule rules[]; /* by DWARF number */
};

#endif
