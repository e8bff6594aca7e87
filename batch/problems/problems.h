/* problems: groups records into clusters, each with its state against the baseline. Merging produces this, and every
 * export reads it.
 *
 * The result does not depend on the order of the records, byte for byte. */
#ifndef XC_PROBLEMS_H
#define XC_PROBLEMS_H

#include "batch/problems/baseline.h"
#include "batch/problems/problem.h"

struct xc_problem_options {
	const struct xc_framerules *rules;  /* required */
	const struct xc_policy *policy;     /* or NULL */
	const struct xc_baseline *baseline; /* or NULL */
	double cut;                         /* distance below which clusters are joined; 0: 0.3 */
	const char *today;                  /* "2026-11-22", compared with expiry dates */
	const char *partial; /* what was not examined, besides cores without a verdict, as clean text; or NULL */
};

/* Groups records. They and the baseline are borrowed and must outlive the result. Never fails. */
struct xc_problems *xc_problems_find(const struct xc_record *const *records, size_t count,
				     const struct xc_problem_options *options);
void xc_problems_free(struct xc_problems *problems);
void xc_problems_freep(struct xc_problems **problems);

#endif
