/* memory_search: search for a value or a text in the memory that a process wrote. */
#ifndef XC_MEMORY_SEARCH_H
#define XC_MEMORY_SEARCH_H

#include "core/process/process.h"

enum { XC_MEMORY_SEARCH_BYTES = 256 << 20 }; /* bytes to search at most: a tenth of a second */

/* The aligned words with a value in [lo, lo + span]: their addresses, ascending, at most `most`. Returns how many. */
size_t xc_memory_search_words(const struct xc_process *process, uint64_t lo, uint64_t span, xc_addr *found,
			      size_t most);

/* The same for these len bytes. */
size_t xc_memory_search_bytes(const struct xc_process *process, const void *bytes, size_t len, xc_addr *found,
			      size_t most);

#endif
