/* crash_rank: comparators that rank crashes by how informative they are. Negative: the first one is better. The last
 * criterion is the path, which is unique. */
#ifndef XC_CRASH_RANK_H
#define XC_CRASH_RANK_H

#include "batch/problems/problem.h"

/* Three-way comparison of two numbers. Evaluates each argument twice. */
#define XC_ORDER(a, b) (((a) > (b)) - ((a) < (b)))

/* For the representative of equal signatures: a complete stack, then the fewest missing bytes, the best trace, the
 * smallest core. */
int xc_crash_rank(const struct xc_problem_member *a, const struct xc_problem_member *b);

/* For the member that is shown: the worse severity, then as above. A mild crash must not hide a worse one with the same
 * stack. */
int xc_crash_rank_shown(const struct xc_problem_member *a, const struct xc_problem_member *b);

/* For copies of one core: the one with more of the stack. A zeroed copy has all its bytes, too, so the number of bytes
 * decides late. */
int xc_crash_rank_stack(const struct xc_problem_member *a, const struct xc_problem_member *b);

#endif
