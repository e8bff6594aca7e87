/* signature_merge: decides which signatures are one problem although their keys differ. */
#ifndef XC_SIGNATURE_MERGE_H
#define XC_SIGNATURE_MERGE_H

#include "batch/problems/problem.h"

/* Members with the same sig. */
struct xc_signature_group {
	const struct xc_problem_member *best;           /* their representative */
	const struct xc_problem_member *const *members; /* all of them, `count` */
	size_t count;
};

/* For groups sorted by sig: the index of the first group in each group's cluster. Only groups of one class group are
 * ever merged, and none whose signature is weak (signature.h). cut: problems.h. */
void xc_signature_merge(const struct xc_signature_group *groups, size_t count, double cut, size_t *firsts_out);

#endif
