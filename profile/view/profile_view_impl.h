/* profile_view_impl: the sections of a profile's report; private to profile/view. */
#ifndef XC_PROFILE_VIEW_IMPL_H
#define XC_PROFILE_VIEW_IMPL_H

#include "core/report/report.h"
#include "core/report/stacktree.h"
#include "profile/data/profile_data.h"

static inline double xc_profile_share(uint64_t part, uint64_t whole)
{
	return whole ? (double)part / (double)whole : 0;
}

/* What samples stand for: seconds, or a count of events. And the column for it: the key and label are those of time. */
struct xc_cell xc_profile_amount(const struct xc_profile_data *data, uint64_t samples);
struct xc_column xc_profile_amount_column(const struct xc_profile_data *data, const char *key, const char *label);

/* A message below a table that has fewer rows than there are: "12 more functions". what: of one row. */
void xc_profile_more(struct xc_section *section, size_t count, size_t rows, const char *what);

/* Sections, of `rows` rows each. */
struct xc_section *xc_profile_functions(struct xc_report *report, const struct xc_profile_data *data, size_t rows);
void xc_profile_stacks(struct xc_report *report, const struct xc_stacktree *tree, size_t rows);
struct xc_section *xc_profile_waits(struct xc_report *report, const struct xc_profile_data *data, size_t rows);
void xc_profile_values(struct xc_report *report, const struct xc_profile_data *data, size_t rows);
void xc_profile_threads(struct xc_report *report, const struct xc_profile_data *data, size_t rows);

#endif
