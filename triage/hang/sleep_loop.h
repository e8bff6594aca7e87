/* sleep_loop: a thread that asks again and again, with sleeps between, for what no thread is left to do. */
#ifndef XC_SLEEP_LOOP_H
#define XC_SLEEP_LOOP_H

#include "triage/crash/crash_context.h"

/* Does a thread sleep in a loop whose rounds change nothing, until a variable changes that only another thread could
 * change, while none is left that runs: there is no other, or all wait for others? Sets the class hang (kind "busy
 * wait", likely). Not where a signal's handler could change it, nor another process, and not of a program that died
 * otherwise than by a signal that was sent. False, with nothing changed, when there is none. */
bool xc_sleep_loop_classify(struct xc_crash_context *crash);

#endif
