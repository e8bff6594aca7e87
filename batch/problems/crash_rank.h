/* crash_rank: which of two deaths tells more. Orders of members: below 0 where the first is the better one. Each ends with the path, which no two
 * share. */
#ifndef XC_CRASH_RANK_H
#define XC_CRASH_RANK_H

#include "batch/problems/problem.h"

/* Of two numbers, each looked at twice: below 0 where a is the smaller one, above 0 where b is. */
#define XC_ORDER(a, b) (((a) > (b)) - ((a) < (b)))

/* To stand for both: whose stack is whole, of which least is missing, with the best trace, the smaller core. */
int xc_crash_rank(const struct xc_problem_member *a, const struct xc_problem_member *b);

/* To be shown: the worse death, then as above: a mild one must not hide a worse one whose stack is the same. */
int xc_crash_rank_shown(const struct xc_problem_member *a, const struct xc_problem_member *b);

/* Of one core's copies: which has more of the stack. What was zeroed has all its bytes, too. */
int xc_crash_rank_stack(const struct xc_problem_member *a, const struct xc_problem_member *b);

#endif
