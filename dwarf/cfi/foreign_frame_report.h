/* foreign_frame_report: foreign frames as tables of a report, in which they are sent from the process that a plugin
 * runs in. */
#ifndef XC_FOREIGN_FRAME_REPORT_H
#define XC_FOREIGN_FRAME_REPORT_H

#include "core/report/report.h"
#include "dwarf/cfi/foreign_frame.h"

/* Write everything that was added into a section. Failures are not written. */
void xc_foreign_report(struct xc_section *section, const struct xc_process *process);

/* Add the contents of such a section. Errors: those of adding; XC_ERR_FORMAT for tables that xc_foreign_report does
 * not write. What precedes the error is added. */
XC_MUST_CHECK struct xc_error *xc_foreign_load(struct xc_process *process, const struct xc_section *section);

#endif
