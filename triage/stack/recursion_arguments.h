/* recursion_arguments: how the arguments of a recursive function change, in the first rounds and in the last. */
#ifndef XC_RECURSION_ARGUMENTS_H
#define XC_RECURSION_ARGUMENTS_H

#include "triage/stack/stack_usage.h"

/* Report how the arguments change of the function whose frames in the cycle have the numbers first, first + period,
 * …: constant, growing or shrinking by the same amount, following a pointer of their target, or returning to the
 * same objects. Nothing about arguments whose values are lost. */
void xc_recursion_arguments_report(const struct xc_crash_context *crash, const struct xc_stack_usage *use,
				   uint64_t first);

#endif
