/* report_scrub: a report without what is the user's in texts that redaction shows all the same; see scrub.h. */
#ifndef XC_REPORT_SCRUB_H
#define XC_REPORT_SCRUB_H

#include "core/report/report.h"
#include "core/report/scrub.h"

/* For a report that is rendered with redaction on. Class, kind, names of functions and types, and trees stay as they are;
 * addresses that are letters become secret. */
void xc_report_scrub(struct xc_report *report, const struct xc_scrub *scrub);

#endif
