/* division: why an integer division of x86 had no result: both reasons raise the same signal, with the same code. */
#ifndef XC_DIVISION_H
#define XC_DIVISION_H

#include "core/process/process.h"

enum xc_division_error {
	XC_DIVISION_UNKNOWN,  /* no division of x86, or an operand is not known */
	XC_DIVISION_ZERO,     /* the divisor was 0 */
	XC_DIVISION_OVERFLOW, /* the quotient does not fit into its register: INT_MIN / -1 */
};

struct xc_division {
	enum xc_division_error error;
	uint32_t size; /* of the divisor, in bytes */
	bool is_signed;
	int64_t divisor; /* meaningful on overflow; sign-extended when is_signed */
};

/* The division that is at the pc of the registers, which are those before it. */
struct xc_division xc_division_find(const struct xc_process *process, const struct xc_regs *regs);

#endif
