/* corefilter: /proc/PID/coredump_filter: which memory the core of a process contains (core(5)). */
#ifndef XC_COREFILTER_H
#define XC_COREFILTER_H

#include "core/base/text.h"

enum { XC_COREFILTER_DEFAULT = 0x33, XC_COREFILTER_BITS = 9 };

/* Appends "0x33: private memory, …". */
void xc_corefilter_words(uint64_t filter, struct xc_text *out);

/* What analysis cannot report from such a core, most important first; returns the number. */
size_t xc_corefilter_lacks(uint64_t filter, const char *lacks[XC_COREFILTER_BITS]);

#endif
