/* lastwords: the text that a library kept of why it aborted the program. */
#ifndef XC_LASTWORDS_H
#define XC_LASTWORDS_H

#include "triage/crash/inquiry.h"

/* Set verdict->message when the program aborted and left a text. Needs no debug information. */
void xc_lastwords_read(struct xc_inquiry *q);

#endif
