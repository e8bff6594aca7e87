/* cfi: call frame information of a process: the row for a code address, and the caller's registers computed from it. */
#ifndef XC_CFI_H
#define XC_CFI_H

#include "dwarf/cfi/cfi_row.h"

struct xc_cfi;

struct xc_cfi *xc_cfi_new(const struct xc_process *process);
void xc_cfi_free(struct xc_cfi *cfi);

/* The row for a code address in memory: the module's, or that of foreign code (foreign_frame.h); valid until
 * xc_cfi_free. Never NULL. A miss costs some microseconds. */
const struct xc_cfi_row *xc_cfi_row(struct xc_cfi *cfi, xc_addr addr);

/* Compute the CFA, and the caller's value of a register, from the registers of a frame. False when something needed
 * is unknown or unreadable; *missing_out is then the unreadable address, or -1 when a register is unknown. */
bool xc_cfi_cfa(const struct xc_process *process, const struct xc_cfi_row *row, const struct xc_regs *regs,
		xc_addr *cfa_out, xc_addr *missing_out);
bool xc_cfi_register(const struct xc_process *process, const struct xc_cfi_row *row, int number,
		     const struct xc_regs *regs, xc_addr cfa, uint64_t *value_out, xc_addr *missing_out);

#endif
