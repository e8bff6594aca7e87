/* memory_search: where in what a process wrote a value or a text stands. */
#ifndef XC_MEMORY_SEARCH_H
#define XC_MEMORY_SEARCH_H

#include "core/process/process.h"

enum { XC_MEMORY_SEARCH_BYTES = 256 << 20 }; /* that are looked at, at most: a tenth of a second */

/* The aligned words whose value lies in [lo, lo + span]: their addresses, ascending; at most `most`. Returns how many. */
size_t xc_memory_search_words(const struct xc_process *process, uint64_t lo, uint64_t span, xc_addr *found,
			      size_t most);

/* Where these len bytes stand, likewise. */
size_t xc_memory_search_bytes(const struct xc_process *process, const void *bytes, size_t len, xc_addr *found,
			      size_t most);

#endif
