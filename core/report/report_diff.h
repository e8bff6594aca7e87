/* report_diff: compares the numbers of two reports of the same command. */
#ifndef XC_REPORT_DIFF_H
#define XC_REPORT_DIFF_H

#include "core/report/report.h"

/* Add to a section a table of the byte counts that differ and one of the other counts, largest growth first, at most
 * `limit` rows each; nothing when none differ. Fields are identified by section and label, table cells by section, the
 * texts of their row and the column: "redis: clients", "redis: expires, db0: keys". A number that is in one report only
 * is 0 in the other. O(n log n). */
void xc_report_compare(struct xc_section *into, const struct xc_report *old, const struct xc_report *new, size_t limit);

#endif
