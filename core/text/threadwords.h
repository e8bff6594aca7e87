/* threadwords: what people know a thread by. */
#ifndef XC_THREADWORDS_H
#define XC_THREADWORDS_H

#include "core/base/text.h"

/* `thread 12 "worker"`, the name escaped; without one (NULL) `thread 12`. */
void xc_thread_words(struct xc_text *text, int tid, const char *name);

#endif
