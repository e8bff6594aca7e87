/* roots: the memory outside of blocks from which blocks are reached.
 *
 *  mapping                      is a root as
 *  data and bss of a module     GLOBAL (also data that the loader wrote and then protected, directly below; not what
 *                               the file has before them in their first page)
 *  stack of a thread            STACK, from the red zone below sp up to the thread's descriptor; lower memory is dead
 *  thread descriptor, TLS       TLS
 *  stack of an ended thread     nothing: glibc keeps such stacks for the next thread
 *  any other                    MAPPING, except for files that are mapped shared, and code
 *  memory of an allocator       nothing: live blocks are nodes, not roots, and the rest is the allocator's own; nor are
 *                               the states of its arenas, which still point to former chunks
 *  a damaged part of a heap     DAMAGED: its blocks are lost, but the targets of its pointers may not be */
#ifndef XC_ROOTS_H
#define XC_ROOTS_H

#include "heap/blocks/heap.h"

/* The place of a root, in descending order of how well it explains that something is alive. */
enum xc_root_kind {
	XC_ROOT_GLOBAL,   /* data of a module */
	XC_ROOT_TLS,      /* thread-local data, thread descriptors */
	XC_ROOT_REGISTER, /* of a thread */
	XC_ROOT_STACK,    /* of a thread, above sp (and in the red zone below it) */
	XC_ROOT_PLUGIN,   /* added by a plugin */
	XC_ROOT_MAPPING,  /* other memory that may hold pointers: anonymous, shared, without a known owner */
	XC_ROOT_DAMAGED,  /* a part of a heap whose blocks could not be found */
	XC_ROOT_KINDS,
};

struct xc_root {
	xc_addr at;     /* address of the word; REGISTER: the DWARF number */
	uint32_t block; /* the target */
	/* Index. STACK, REGISTER, TLS: of the thread (UINT32_MAX unknown); GLOBAL: of the module in by_address;
	 * MAPPING: of the mapping. */
	uint32_t owner;
	uint8_t kind;  /* enum xc_root_kind */
	bool interior; /* it does not point to the beginning of the block, */
	bool is_meant; /* but to a part of the object in it: inner_pointer.h */
};

/* Is it on a stack or in a register? */
static inline bool xc_root_is_of_thread(const struct xc_root *root)
{
	return root->kind == XC_ROOT_STACK || root->kind == XC_ROOT_REGISTER;
}

/* Memory whose words are roots. */
struct xc_root_range {
	xc_addr lo, hi; /* inclusive */
	uint32_t owner; /* as in struct xc_root */
	uint8_t kind;   /* enum xc_root_kind */
};

struct xc_root_ranges {
	struct xc_root_range *items; /* by kind, then by address; malloc'ed */
	size_t count, capacity;
	uint64_t missing; /* bytes of them that are not in the core, or unreadable */
	size_t threads_without_regs;
};

/* Finds the ranges. Memory that was not dumped is included, and counted. O(mappings + threads + regions), plus a
 * read of every 64th byte of anonymous memory. */
void xc_root_ranges_find(struct xc_root_ranges *ranges, const struct xc_heap *heap);
void xc_root_ranges_fini(struct xc_root_ranges *ranges);

/* All roots, by kind and then by address, malloc'ed. After the first XC_ROOTS_KEPT only roots are kept that reach a
 * block better than any earlier root. */
struct xc_root *xc_roots_find(const struct xc_heap *heap, const struct xc_root_ranges *ranges, size_t *count_out);

enum { XC_ROOTS_KEPT = 1 << 22 };

/* "global", "stack", … */
const char *xc_root_kind_word(enum xc_root_kind kind);

#endif
