/* null_member: the functions that set a member to NULL, or a divisor to 0, and the threads that are in one of them
 * now. */
#ifndef XC_NULL_MEMBER_H
#define XC_NULL_MEMBER_H

#include "triage/crash/crash_context.h"

/* For classes of NULL and divisions by 0: when the NULL or 0 is still in a member, or in a variable with a fixed place,
 * add evidence of the functions that set it to NULL; where none is found, and of a number, of those that write it. When
 * another thread is in such a function, of the same object as far as is known, between the instructions that set it to
 * NULL and that set it again, the kind of the class is "race". Costs what writers.h says, up to 18 times, and up to 64
 * stacks. */
void xc_null_member_report(struct xc_crash_context *crash);

#endif
