/* overrun_bytes: what was written past the end of a block of the heap, and by how much it was too long. */
#ifndef XC_OVERRUN_BYTES_H
#define XC_OVERRUN_BYTES_H

#include "heap/report/overrun.h"
#include "triage/crash/crash_context.h"

/* Evidence: the text, or the repeated byte, that begins in the block and goes on past its end; its length and that of
 * the block. Nothing when the bytes have no such form: then it is not known where they begin. The block must not be
 * XC_NO_BLOCK. */
void xc_overrun_bytes_report(const struct xc_crash_context *crash, const struct xc_overrun *overrun);

#endif
