/* goroutine: its number, its position, the reason of its wait; and which function of its stack is the user's. */
#ifndef XC_GOROUTINE_H
#define XC_GOROUTINE_H

#include "dwarf/unwind/goruntime.h"
#include "triage/crash/crash_context.h"

/* Blame the innermost function from frames[index] outward that is neither the runtime's nor the standard library's
 * (by gopackage.h, and by the directory of the runtime's sources on that stack); else the innermost one that is not
 * the runtime's. False when there is neither: xc_crash_context_blame() has then chosen. */
bool xc_goroutine_blame(struct xc_crash_context *crash, size_t index);

/* Report the number of the goroutine, its first function, and the place of its go statement. Only the number for
 * goroutines of the runtime, main's included; nothing when it is not known. */
void xc_goroutine_report(const struct xc_crash_context *crash, const struct xc_goruntime *go, xc_addr g);

/* Report waiting goroutines, without those of the runtime: wait reason and function of the first five, the number of
 * the others, and any missing data. The first one, usually main's, becomes that of the crash: its frames, and its
 * function is blamed. Nobody is blamed when there is none, or its stack is not known. Reads at most a million
 * goroutines: 100,000 take 20 ms. */
void xc_goroutine_report_all(struct xc_crash_context *crash, const struct xc_goruntime *go);

/* Drop the frames before frames[index]; index < crash->frame_count. The blamed place is kept; crash->blamed becomes
 * its new index, or 0 when its frame was dropped. */
void xc_goroutine_begin_at(struct xc_crash_context *crash, size_t index);

#endif
