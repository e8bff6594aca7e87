/* abort_message: the message that a library stored before it aborted the program. */
#ifndef XC_ABORT_MESSAGE_H
#define XC_ABORT_MESSAGE_H

#include "triage/crash/crash_context.h"

/* Set verdict->message when the program aborted and left a message. Needs no debug information. */
void xc_abort_message_read(struct xc_crash_context *crash);

#endif
