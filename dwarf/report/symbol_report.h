/* symbol_report: the meaning of an address. */
#ifndef XC_SYMBOL_REPORT_H
#define XC_SYMBOL_REPORT_H

#include "core/process/process.h"
#include "core/report/report.h"

/* A section `symbol`: the mapping of the address, its symbol, function, line and inlined functions. */
void xc_symbol_report(struct xc_report *report, const struct xc_process *process, xc_addr addr);

#endif
