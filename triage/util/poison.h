/* poison: patterns that allocators, compilers and debuggers store in memory that is not initialized, or must not be
 * used any more. */
#ifndef XC_POISON_H
#define XC_POISON_H

#include "core/base/base.h"

struct xc_poison {
	uint64_t pattern;
	const char *whose; /* "that jemalloc fills freed memory with" */
	bool freed;        /* it marks freed memory; else uninitialized memory, or either */
};

/* Is the value of `word` bytes a poison pattern, or one plus a small offset? A value of eight bytes may have a zero
 * upper half. */
bool xc_poison_find(uint64_t value, unsigned word, struct xc_poison *out);

#endif
