/* gohang: Go programs that hang although their runtime does not notice: a goroutine that sleeps, or waits for a client
 * or a signal, is enough for that. */
#ifndef XC_GOHANG_H
#define XC_GOHANG_H

#include "triage/crash/crash_context.h"

/* Do goroutines wait for each other? Set the class deadlock (kind "goroutines"; likely, where two wait for each other's
 * mutex, else a guess) or hang (kind "goroutines", a guess: goroutines wait for a mutex while others run), and blame
 * one that waits. It is a hang when none runs or does input and output, and
 *
 *	one cannot send to a channel, or waits for a mutex;
 *	or one waits for a WaitGroup, or main's for anything that only another one does, and none serves clients or
 *	awaits a signal: such programs rest like this.
 *
 * A guess does not replace a class that the verdict has (a core was asked for), but is evidence; unless one waits for a
 * mutex while none goes on: programs do not rest like this. A mutex that is locked, while no stack shows who has it, is
 * evidence, too.
 *
 * It is likely when goroutines, main's among them, wait for what no goroutine that goes on leads to (goreach.h): to
 * send, for a mutex, or main's for what another of them has. Others that wait so may be idle workers: that is told.
 *
 * False, with nothing changed, when the program is none of Go's, or seems to be well. Looks at 2,000 goroutines. */
bool xc_gohang_classify(struct xc_crash_context *crash);

#endif
