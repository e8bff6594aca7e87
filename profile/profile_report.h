/* profile_report: a profile as sections of a report: first how it was taken and what is missing, then the hottest
 * functions, the hottest stacks, the threads. */
#ifndef XC_PROFILE_REPORT_H
#define XC_PROFILE_REPORT_H

#include "core/report/report.h"
#include "core/report/stacktree.h"
#include "profile/frame_names.h"
#include "profile/profile.h"

/* tree: the profile's, finished. rows: of each table; 0: 20. */
void xc_profile_report(struct xc_report *report, const struct xc_profile *profile, const struct xc_frame_names *names,
		       const struct xc_stacktree *tree, size_t rows);

/* One line that accounts for the samples, for output that is no report: "1,203 samples in 10.0 s, 3 cut". Malloc'ed. */
char *xc_profile_account(const struct xc_profile *profile);

#endif
