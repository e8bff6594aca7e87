/* gopanic: a panic of Go that nothing recovered. Private to go*.c. */
#ifndef XC_GOPANIC_H
#define XC_GOPANIC_H

#include "triage/go/godeath.h"

/* frames[d->at] is gopanic(): the class panic, its kind, the value, the panics before it, and the fault if it was one. */
void xc_gopanic_classify(struct xc_godeath *d);

#endif
