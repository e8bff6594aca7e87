/* gopanic: a panic of Go without recover. Private to go*.c. */
#ifndef XC_GOPANIC_H
#define XC_GOPANIC_H

#include "triage/go/godeath.h"

/* frames[d->at] is gopanic(): report the class panic, its kind, its value, the panics before it, and the fault
 * after it. */
void xc_gopanic_classify(struct xc_godeath *d);

#endif
