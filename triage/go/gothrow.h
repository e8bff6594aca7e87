/* gothrow: what Go's run-time ends a program for, so that nothing can recover it. Private to go*.c. */
#ifndef XC_GOTHROW_H
#define XC_GOTHROW_H

#include "triage/go/godeath.h"

/* frames[d->at] is throw() or fatal(): the class by what it printed, or by the fault. */
void xc_gothrow_classify(struct xc_godeath *d);

#endif
