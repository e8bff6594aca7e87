/* report_diff: two reports of the same making side by side: which of their numbers changed. */
#ifndef XC_REPORT_DIFF_H
#define XC_REPORT_DIFF_H

#include "core/report/report.h"

/* Add to a section a table for the byte counts and one for the other counts that differ, largest growth first, at most `limit` rows each;
 * nothing when nothing does. Fields are told apart by section and label, cells of tables by section, the texts of their row and the column:
 * "redis: clients", "redis: expires, db0: keys". What stands in one report only counts from or to 0. O(n log n). */
void xc_report_compare(struct xc_section *into, const struct xc_report *old, const struct xc_report *new, size_t limit);

#endif
