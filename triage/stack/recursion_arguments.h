/* recursion_arguments: what goes from round to round of a recursion: the arguments of one of its functions, in the first rounds and in the last. */
#ifndef XC_RECURSION_ARGUMENTS_H
#define XC_RECURSION_ARGUMENTS_H

#include "triage/stack/stack_usage.h"

/* Add to the evidence what the arguments of the function do whose frames in the cycle have the numbers first, first + period, …: stay as
 * they are, grow or shrink by the same each round, follow a pointer of what they point to, come back to the same objects. Says nothing
 * of those whose values are lost. */
void xc_recursion_arguments_report(const struct xc_crash_context *crash, const struct xc_stack_usage *use,
				   uint64_t first);

#endif
