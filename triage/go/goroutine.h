/* goroutine: which one it is, where it stands, what it waits for; and which function of its stack is the program's. */
#ifndef XC_GOROUTINE_H
#define XC_GOROUTINE_H

#include "dwarf/unwind/goruntime.h"
#include "triage/crash/crash_context.h"

/* Blame the innermost function from frames[index] outward that is neither the run-time's nor the standard library's (gopackage.h tells, and where
 * the sources of the run-time on that stack are); without one the innermost that is not the run-time's. False when there is neither: then
 * xc_crash_context_blame() has chosen. */
bool xc_goroutine_blame(struct xc_crash_context *crash, size_t index);

/* Evidence: the number of the goroutine, the function that it began with, and where the go statement is. Of those that the run-time began, main's too,
 * only the number; nothing when that is not known. */
void xc_goroutine_report(const struct xc_crash_context *crash, const struct xc_goruntime *go, xc_addr g);

/* Evidence of goroutines that wait and that the run-time did not begin for itself: of the first five what for, and in which function; how many others
 * there are; what is missing. The first of them, mostly main's, becomes the inquiry's: its frames, and its function is blamed. Nobody is blamed when
 * none is found, or its stack is not known. Asks
 * each of at most a million: 100,000 take 20 ms. */
void xc_goroutine_report_all(struct xc_crash_context *crash, const struct xc_goruntime *go);

/* Go on with the frames from frames[index] outward; index < crash->frame_count. Who is blamed stays, and crash->blamed is its new place, 0 when it was among
 * those that are gone. */
void xc_goroutine_begin_at(struct xc_crash_context *crash, size_t index);

#endif
