/* missing_evidence: what a verdict would have rested on, had it been there. */
#ifndef XC_MISSING_EVIDENCE_H
#define XC_MISSING_EVIDENCE_H

#include "triage/crash/crash_context.h"

/* Add to the evidence what of the crashed place could not be read: the code, the debug information, the stack, the heap. */
void xc_missing_evidence_report(struct xc_crash_context *crash);

#endif
