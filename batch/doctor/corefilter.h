/* corefilter: /proc/PID/coredump_filter: which memory a core of the process will have (core(5)). */
#ifndef XC_COREFILTER_H
#define XC_COREFILTER_H

#include "core/base/text.h"

enum { XC_COREFILTER_DEFAULT = 0x33, XC_COREFILTER_BITS = 9 };

/* Append "0x33: private memory, …". */
void xc_corefilter_words(uint64_t filter, struct xc_text *out);

/* What analysis cannot tell of such a core, most important first; returns how many. */
size_t xc_corefilter_lacks(uint64_t filter, const char *lacks[XC_COREFILTER_BITS]);

#endif
