/* profile_report: a profile as sections of a report: first how it was taken and what is missing, then the values of the
 * dimension by which samples are told apart, what was waited for, the hottest functions, the hottest stacks, the
 * threads. */
#ifndef XC_PROFILE_REPORT_H
#define XC_PROFILE_REPORT_H

#include "core/report/report.h"
#include "core/report/stacktree.h"
#include "profile/data/profile_data.h"

/* tree: the profile's, finished. rows: of each table; 0: 20, and of stacks 10. */
void xc_profile_report(struct xc_report *report, const struct xc_profile_data *data, const struct xc_stacktree *tree,
		       size_t rows);

/* The hottest functions of what runs, and what is waited for, of `rows` rows each. */
void xc_profile_report_hottest(struct xc_report *report, struct xc_profile_data *data, size_t rows);

/* The facts of the target, as they were when the profile was taken. */
void xc_profile_report_target(struct xc_report *report, const struct xc_profile_data *data);

#endif
