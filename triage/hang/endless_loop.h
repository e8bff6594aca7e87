/* endless_loop: a thread that runs in a loop which will never end, or of which only others could end it; or just
 * runs. */
#ifndef XC_ENDLESS_LOOP_H
#define XC_ENDLESS_LOOP_H

#include "triage/crash/crash_context.h"

enum xc_endless_loop {
	XC_ENDLESS_LOOP_NONE,
	XC_ENDLESS_LOOP_BUSY,   /* a thread runs in a loop, of which nothing is wrong, as far as is known */
	XC_ENDLESS_LOOP_GUESS,  /* perhaps the loop never ends: another thread would have to change what it reads */
	XC_ENDLESS_LOOP_LIKELY, /* it never ends: nobody is left that could end it */
};

/* For a process that another one killed, that a time limit ended, or that has no signal at all: is a thread that runs,
 * in no system call, in a loop that does not end? Along a list that leads back to itself (linked_loop.h); without a way
 * out, or waiting for what it does not change (busy_loop.h); or doing the same again and again, or counting past its
 * end (forecast.h).
 *
 * Sets the class hang (kinds "cyclic list", "busy wait", "no progress", "counter"), or, for a process that lives, the
 * class busy, when what was found is at least `least`. Else, of a killed one, reports as evidence the loop in which it
 * ran. Returns what the class says. What a scan of the stack led to is a guess. Looks at 64 threads, and 8 frames of
 * each. */
enum xc_endless_loop xc_endless_loop_classify(struct xc_crash_context *crash, enum xc_endless_loop least);

#endif
