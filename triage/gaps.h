/* gaps: what a verdict would have rested on, had it been there. */
#ifndef XC_GAPS_H
#define XC_GAPS_H

#include "triage/crash/inquiry.h"

/* Add to the evidence what of the crashed place could not be read: the code, the debug information, the stack, the heap. */
void xc_gaps_tell(struct xc_inquiry *q);

#endif
