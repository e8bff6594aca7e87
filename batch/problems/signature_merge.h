/* signature_merge: which signatures are one problem though their keys differ. */
#ifndef XC_SIGNATURE_MERGE_H
#define XC_SIGNATURE_MERGE_H

#include "batch/problems/problem.h"

/* Members of one sig. */
struct xc_signature_group {
	const struct xc_problem_member *best;           /* that stands for them */
	const struct xc_problem_member *const *members; /* all of them */
	size_t count;
};

/* For each of some groups, sorted by sig, the index of the first of its cluster. Only those of one class group are ever put together, and none
 * for which no frame of theirs stands (signature.h). cut: problems.h. */
void xc_signature_merge(const struct xc_signature_group *groups, size_t count, double cut, size_t *firsts_out);

#endif
