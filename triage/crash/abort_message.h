/* abort_message: the message that a library stored before it aborted the program. */
#ifndef XC_ABORT_MESSAGE_H
#define XC_ABORT_MESSAGE_H

#include "triage/crash/crash_context.h"

/* Set verdict->message when the program aborted and left a message. Needs no debug information. */
void xc_abort_message_read(struct xc_crash_context *crash);

/* The same for a thread that hangs in a handler of the SIGABRT that it raised by abort(). False, and nothing is set,
 * when its stack does not show that. */
bool xc_abort_message_handled(struct xc_crash_context *crash, const struct xc_thread *thread);

#endif
