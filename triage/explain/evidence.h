/* evidence: the facts behind a verdict: what the instruction did with which register, whose value that is, and how the
 * fault address lies to the mappings. */
#ifndef XC_EVIDENCE_H
#define XC_EVIDENCE_H

#include "triage/crash/crash_context.h"

/* Add what is known of the fault to the report's verdict. Numbers and names only: no text of the target's memory. */
void xc_evidence_add(struct xc_crash_context *crash);

#endif
