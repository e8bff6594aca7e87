/* poison: values that allocators, compilers and debuggers put where nobody has written yet, or nobody may read any more. */
#ifndef XC_POISON_H
#define XC_POISON_H

#include "core/base/base.h"

struct xc_poison {
	uint64_t pattern;
	const char *whose; /* "that jemalloc fills freed memory with" */
	bool freed;        /* it stands for memory that was freed; else for such that was never written, or either */
};

/* Is the value of `word` bytes poison, or poison plus a small offset? A value of eight bytes may have the upper four clear. */
bool xc_poison_find(uint64_t value, unsigned word, struct xc_poison *out);

#endif
