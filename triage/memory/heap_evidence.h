/* heap_evidence: evidence from the heap: pointers into freed blocks, pointers that are text, damage next to a block
 * that was written past its end. */
#ifndef XC_HEAP_EVIDENCE_H
#define XC_HEAP_EVIDENCE_H

#include "heap/report/overrun.h"
#include "triage/crash/crash_context.h"

/* Add evidence to the verdict, and raise an abort in a damaged heap to high. crash->heap must not be NULL. Checks
 * the registers of the faulting operand and the damage that the heap walk found. Where one of them hits a block,
 * types are inferred (block_types.h). */
void xc_heap_evidence_add(struct xc_crash_context *crash);

/* The damage alone: what is damaged first, the block before it, and what was written there. */
void xc_heap_evidence_damage(struct xc_crash_context *crash);

/* Evidence: the text, or the repeated byte, that begins in the block and goes on past its end; its length and that of
 * the block. Nothing when the bytes have no such form: then it is not known where they begin. The block must not be
 * XC_NO_BLOCK. */
void xc_overrun_bytes_report(const struct xc_crash_context *crash, const struct xc_overrun *overrun);

#endif
