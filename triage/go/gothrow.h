/* gothrow: fatal errors of Go's runtime, which nothing can recover. Private to go*.c. */
#ifndef XC_GOTHROW_H
#define XC_GOTHROW_H

#include "triage/go/godeath.h"

/* frames[d->at] is throw() or fatal(): set the class by its text, or by the fault behind it. */
void xc_gothrow_classify(struct xc_godeath *d);

#endif
