/* missing_evidence: evidence that a verdict lacks. */
#ifndef XC_MISSING_EVIDENCE_H
#define XC_MISSING_EVIDENCE_H

#include "triage/crash/crash_context.h"

/* Report what could not be read at the place of the crash: code, debug information, stack, heap. */
void xc_missing_evidence_report(struct xc_crash_context *crash);

#endif
