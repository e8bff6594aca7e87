/* thread_memory: the places of a thread's stack, its thread-local data and its descriptor. Private to roots.c.
 *
 * A stack made by the C library (glibc nptl/allocatestack.c; musl src/thread/pthread_create.c is alike):
 *
 *	guard | dead | red zone | sp: frames … | static TLS | tp: descriptor | end of the mapping
 *
 * The descriptor has the beginning and the length of its stack (stackblock, stackblock_size). These two words are
 * found by their values, so that no version's layout is needed. In glibc on x86 the descriptor begins with its own
 * address, twice. */
#ifndef XC_THREAD_MEMORY_H
#define XC_THREAD_MEMORY_H

#include "heap/blocks/heap.h"
#include "heap/blocks/window.h"

/* The known memory of one thread. Ranges with lo > hi are empty. */
struct xc_thread_memory {
	uint32_t thread;
	xc_addr stack_lo, stack_hi; /* in use */
	xc_addr dead_lo, dead_hi;   /* the unused part of its stack */
	xc_addr tls_lo, tls_hi;     /* static TLS and descriptor */
};

/* Fills in what is known of a thread with registers. False if it has none, or if its sp is in no mapping. */
bool xc_thread_memory(const struct xc_process *process, uint32_t thread, struct xc_thread_memory *out);

/* Finds the stacks of ended threads, which glibc keeps for new ones: their descriptors have no thread id. */
struct xc_ended_search {
	const struct xc_heap *heap;
	struct xc_window window;
	unsigned tid_at; /* offset of the id in a descriptor; 0: unknown */
	xc_addr *living; /* thread pointers, in ascending order */
	size_t living_count;
};

void xc_ended_search_init(struct xc_ended_search *search, const struct xc_heap *heap);
void xc_ended_search_fini(struct xc_ended_search *search);

/* Searches a range of memory, reading it once, and calls `each` for every stack found. All of such a stack is dead
 * except for the word at `dtv`: the vector of thread-local blocks is kept with the stack. */
typedef void xc_ended_fn(void *context, xc_addr lo, xc_addr hi, xc_addr dtv);
void xc_ended_search_range(struct xc_ended_search *search, xc_addr lo, xc_addr hi, xc_ended_fn *each, void *context);

#endif
