/* fortify: C library calls that checked the size of their destination and ended the program. */
#ifndef XC_FORTIFY_H
#define XC_FORTIFY_H

#include "triage/crash/crash_context.h"

/* Class fortify: the call, its destination as verdict->expression, the size of that, and the size of the write.
 * False when no such check ended the program. */
bool xc_fortify_classify(struct xc_crash_context *crash);

#endif
