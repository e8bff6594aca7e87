/* problems: the result of a batch: records grouped into clusters, each with its state against the baseline. What merging makes and what
 * every export reads.
 *
 * The same records in any order give the same result, byte for byte. */
#ifndef XC_PROBLEMS_H
#define XC_PROBLEMS_H

#include "batch/problems/baseline.h"
#include "batch/problems/problem.h"

struct xc_problem_options {
	const struct xc_framerules *rules;  /* required */
	const struct xc_policy *policy;     /* or NULL */
	const struct xc_baseline *baseline; /* or NULL */
	double cut;                         /* distance below which clusters are joined; 0: 0.3 */
	const char *today;                  /* "2026-11-22": what expiry is compared with */
	const char *partial; /* what was not looked at beside cores without a verdict, clean text; or NULL */
};

/* Group records; they and the baseline are borrowed and must outlive the result. Never fails. */
struct xc_problems *xc_problems_find(const struct xc_record *const *records, size_t count,
				     const struct xc_problem_options *options);
void xc_problems_free(struct xc_problems *problems);
void xc_problems_freep(struct xc_problems **problems);

#endif
