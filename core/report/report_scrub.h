/* report_scrub: removes the user's data from all texts of a report that redaction keeps; see scrub.h. */
#ifndef XC_REPORT_SCRUB_H
#define XC_REPORT_SCRUB_H

#include "core/report/report.h"
#include "core/report/scrub.h"

/* For a report that is rendered with redaction on. In names of functions, types and variables, and in trees, only
 * what is recognized in code. Does not change class and kind. Addresses that are letters become secret. */
void xc_report_scrub(struct xc_report *report, const struct xc_scrub *scrub);

#endif
