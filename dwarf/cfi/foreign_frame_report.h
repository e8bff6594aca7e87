/* foreign_frame_report: what was told of guests as tables of a report, by which it comes home from the process that a plugin runs in. */
#ifndef XC_FOREIGN_FRAME_REPORT_H
#define XC_FOREIGN_FRAME_REPORT_H

#include "core/report/report.h"
#include "dwarf/cfi/foreign_frame.h"

/* Write all that was told into a section. Failures stay. */
void xc_foreign_report(struct xc_section *section, const struct xc_process *process);

/* Add what such a section tells. Errors: those of adding; XC_ERR_FORMAT for tables that are none of xc_foreign_report's. What came before
 * the error is added. */
XC_MUST_CHECK struct xc_error *xc_foreign_load(struct xc_process *process, const struct xc_section *section);

#endif
