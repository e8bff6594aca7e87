/* evidence: the facts behind a verdict: the instruction and its registers, the variables that these hold, and the
 * position of the fault address among the mappings. */
#ifndef XC_EVIDENCE_H
#define XC_EVIDENCE_H

#include "triage/crash/crash_context.h"

/* Add the facts of the fault to the verdict. Numbers and names only, no text of the target's memory. */
void xc_evidence_add(struct xc_crash_context *crash);

#endif
