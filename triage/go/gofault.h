/* gofault: the fault behind a panic or a fatal error of Go. Private to go*.c. */
#ifndef XC_GOFAULT_H
#define XC_GOFAULT_H

#include "triage/go/godeath.h"

/* sigpanic() at frames[index] stands for the fault in g.sig, sigcode0, sigcode1 and sigpc: make it the fault of the
 * crash. False, with nothing changed, when it is not known. */
bool xc_gofault_adopt(struct xc_godeath *d, size_t index);

#endif
