/* handled_signal: the signal handler in which a program sent the signal that ended it, and what that handler ran for.
 *
 * Handlers reset a signal and send it again, or give up with abort(). Who sent the first signal is told to handlers
 * with SA_SIGINFO alone (fault.h, first_signal); every handler has the number as its argument. */
#ifndef XC_HANDLED_SIGNAL_H
#define XC_HANDLED_SIGNAL_H

#include "triage/crash/crash_context.h"

struct xc_handled_signal {
	bool in_handler; /* the crashed stack has one that no fault explains */
	int signal;      /* that it ran for; 0: not known */
	bool again;      /* that is the one that ended the program */
	bool kernel;     /* the kernel sent it: a timer, a limit, a child that ended */
};

/* By the first argument of the handler, where the debug information has it, and by the siginfo. */
struct xc_handled_signal xc_handled_signal_find(const struct xc_crash_context *crash);

/* "in its handler of SIGALRM: from where that came is not known"; NULL when it was in no handler. In the report's
 * arena. */
const char *xc_handled_signal_words(const struct xc_crash_context *crash, const struct xc_handled_signal *handled);

#endif
