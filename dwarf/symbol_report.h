/* symbol_report: addresses and names as people write them, and what stands there. */
#ifndef XC_SYMBOL_REPORT_H
#define XC_SYMBOL_REPORT_H

#include "../core/process.h"
#include "../core/report.h"

/* The address that `text` means: a number (decimal, or hexadecimal after 0x), a symbol, `module!symbol` for one of
 * a certain module, or a register of the crashed (else the first) thread as `$rsp`; then any `+N` or `-N`.
 * Errors: XC_ERR_NOT_FOUND, and XC_ERR_FORMAT when it is written wrong. */
XC_MUST_CHECK struct xc_error *xc_symbol_address(const struct xc_process *process, const char *text, xc_addr *addr_out);

/* A section `symbol`: where the address lies, its symbol, function, line and inlined functions. */
void xc_symbol_report(struct xc_report *report, const struct xc_process *process, xc_addr addr);

#endif
