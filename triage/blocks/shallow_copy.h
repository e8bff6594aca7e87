/* shallow_copy: classes of C++ whose destructor frees what their copies have as well. */
#ifndef XC_SHALLOW_COPY_H
#define XC_SHALLOW_COPY_H

#include "triage/crash/crash_context.h"

/* For a double free by a destructor: when its class has that destructor and no copy constructor of its own, a copy that
 * the compiler made has the same pointers, and its destructor frees the same block: report that as a possibility. */
void xc_shallow_copy_report(const struct xc_crash_context *crash);

#endif
