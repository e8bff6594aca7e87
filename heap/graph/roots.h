/* roots: the memory outside of blocks from which blocks are reached.
 *
 *	mapping                      is a root as
 *	data and bss of a module     GLOBAL (and what the loader wrote and then protected, just below)
 *	stack of a thread            STACK, from sp down by the red zone up to the thread's descriptor; what lies below is dead
 *	thread descriptor, TLS       TLS
 *	stack of a thread that ended nothing: glibc keeps such stacks for the next thread
 *	any other                    MAPPING, but for files that are mapped shared, and code
 *	what an allocator manages    nothing: live blocks are nodes, not roots, and what else lies there is its own; nor are
 *	                             the states of its arenas, which still point where chunks once were
 *	a damaged part of a heap     DAMAGED: the blocks there are lost, what they point to need not be */
#ifndef XC_ROOTS_H
#define XC_ROOTS_H

#include "heap/blocks/heap.h"

/* Where a root lies, in the order in which they explain best why something is alive. */
enum xc_root_kind {
	XC_ROOT_GLOBAL,   /* data of a module */
	XC_ROOT_TLS,      /* thread-local data, thread descriptors */
	XC_ROOT_REGISTER, /* of a thread */
	XC_ROOT_STACK,    /* of a thread, above sp (and in the red zone below it) */
	XC_ROOT_PLUGIN,   /* a plugin said so */
	XC_ROOT_MAPPING,  /* other memory that may hold pointers: anonymous, shared, of no known owner */
	XC_ROOT_DAMAGED,  /* a part of a heap whose blocks could not be found */
	XC_ROOT_KINDS,
};

struct xc_root {
	xc_addr at;     /* of the word; REGISTER: the DWARF number */
	uint32_t block; /* it points to */
	uint32_t
		owner; /* STACK, REGISTER, TLS: index of the thread (UINT32_MAX unknown); GLOBAL: of the module in by_address; MAPPING: of the mapping */
	uint8_t kind;  /* enum xc_root_kind */
	bool interior; /* not to the beginning of the block */
};

/* Memory whose words are roots. */
struct xc_root_range {
	xc_addr lo, hi; /* inclusive */
	uint32_t owner; /* as in struct xc_root */
	uint8_t kind;   /* enum xc_root_kind */
};

struct xc_root_ranges {
	struct xc_root_range *items; /* by kind, then by address; malloc'ed */
	size_t count, capacity;
	uint64_t missing; /* bytes of them that are not in the core, or could not be read */
	size_t threads_without_regs;
};

/* Work out the ranges; what was not dumped is in them, and counted. O(mappings + threads + regions), but for a look at every 64th
 * byte of anonymous memory. */
void xc_root_ranges_find(struct xc_root_ranges *ranges, const struct xc_heap *heap);
void xc_root_ranges_fini(struct xc_root_ranges *ranges);

/* All roots, by kind and then by address, malloc'ed. Behind the first XC_ROOTS_KEPT only those are kept that reach a block which none
 * before has reached so well. */
struct xc_root *xc_roots_find(const struct xc_heap *heap, const struct xc_root_ranges *ranges, size_t *count_out);

enum { XC_ROOTS_KEPT = 1 << 22 };

/* "global", "stack", … */
const char *xc_root_kind_word(enum xc_root_kind kind);

#endif
