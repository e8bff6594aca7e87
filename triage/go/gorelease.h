/* gorelease: a WaitGroup or lock of Go that was released once too often: who else releases it. Private to go*.c. */
#ifndef XC_GORELEASE_H
#define XC_GORELEASE_H

#include "triage/go/godeath.h"

/* Of a panic or fatal error that says so ("negative WaitGroup counter", "unlock of unlocked mutex"): where the function
 * that did it, or one that it contains, releases such a thing elsewhere: it did so twice, likely. Else where others do,
 * three of them. By the code (gocalls.h). */
void xc_gorelease_report(struct xc_godeath *d);

#endif
