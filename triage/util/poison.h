/* poison: patterns that allocators, compilers and programs store in memory that is not initialized, or must not be
 * used any more. */
#ifndef XC_POISON_H
#define XC_POISON_H

#include "core/process/process.h"
#include "heap/blocks/heap.h"

/* Who may have written a pattern. */
struct xc_poison_owners {
	const struct xc_process *process;
	const struct xc_heap *heap; /* NULL: not walked; only the names of modules show allocators */
	const char *producer;       /* the compiler of the crashed code, by its debug information; NULL: not known */
};

enum xc_poison_meaning { XC_POISON_EITHER, XC_POISON_FREED, XC_POISON_UNSET };

struct xc_poison {
	uint64_t pattern;
	const char *whose; /* "that jemalloc fills freed memory with"; NULL: no known owner is in the process */
	enum xc_poison_meaning meaning;
};

/* Is the value of a word a poison pattern, or one plus a small offset? A value of eight bytes may have a zero upper
 * half. A pattern of an allocator or a compiler is attributed to it only when that is part of the process. */
bool xc_poison_find(const struct xc_poison_owners *owners, uint64_t value, struct xc_poison *out);

#endif
