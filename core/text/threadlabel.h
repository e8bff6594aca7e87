/* threadlabel: what people know a thread by. */
#ifndef XC_THREADLABEL_H
#define XC_THREADLABEL_H

#include "core/base/text.h"

/* `thread 12 "worker"`, the name escaped; without one (NULL) `thread 12`. */
void xc_threadlabel(struct xc_text *text, int tid, const char *name);

#endif
