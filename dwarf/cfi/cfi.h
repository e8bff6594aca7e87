/* cfi: call frame information of a process: the row for a code address, and the caller's registers computed from it. */
#ifndef XC_CFI_H
#define XC_CFI_H

#include "dwarf/cfi/cfi_row.h"

struct xc_cfi;

struct xc_cfi *xc_cfi_new(const struct xc_process *process);
void xc_cfi_free(struct xc_cfi *cfi);

/* The row for a code address in memory: the module's, or what somebody told of it (foreign_frame.h); kept until xc_cfi_free. Never NULL. A
 * miss costs some microseconds. */
const struct xc_cfi_row *xc_cfi_row(struct xc_cfi *cfi, xc_addr addr);

/* Compute the CFA, and the caller's value of a register, from the registers of a frame. False when something that
 * is needed is unknown or unreadable; *missing_out then says what, as an address (register numbers as -1). */
bool xc_cfi_cfa(const struct xc_process *process, const struct xc_cfi_row *row, const struct xc_regs *regs,
		xc_addr *cfa_out, xc_addr *missing_out);
bool xc_cfi_register(const struct xc_process *process, const struct xc_cfi_row *row, int number,
		     const struct xc_regs *regs, xc_addr cfa, uint64_t *value_out, xc_addr *missing_out);

#endif
