/* heap_evidence: what the heap says about a crash: pointers that lead into freed blocks, pointers that are text, damage beside the block
 * that was written past its end. */
#ifndef XC_HEAP_EVIDENCE_H
#define XC_HEAP_EVIDENCE_H

#include "triage/crash/crash_context.h"

/* Add to the evidence of the verdict, and raise that of an abort in a damaged heap to high. crash->heap must be there. Looks at the faulting operand's registers and the damages that
 * the walk found; where one of them hits a block, the types are inferred (block_types.h). */
void xc_heap_evidence_add(struct xc_crash_context *crash);

#endif
