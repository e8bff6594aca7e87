/* threadlabel: the name of a thread in messages. */
#ifndef XC_THREADLABEL_H
#define XC_THREADLABEL_H

#include "core/base/text.h"

/* Add `thread 12 "worker"`, the name escaped. name NULL: `thread 12`. */
void xc_threadlabel(struct xc_text *text, int tid, const char *name);

#endif
