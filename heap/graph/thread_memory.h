/* thread_memory: where a thread's stack, its thread-local data and its descriptor lie. Private to roots.c.
 *
 * A stack that the C library has made (glibc nptl/allocatestack.c; musl src/thread/pthread_create.c is alike):
 *
 *	guard | dead | red zone | sp: frames … | static TLS | tp: descriptor | end of the mapping
 *
 * The descriptor says where its stack begins and how long it is (stackblock, stackblock_size): two words that are found by what
 * they must be, so that no version's layout is needed. In glibc on x86 it begins with its own address, twice. */
#ifndef XC_THREAD_MEMORY_H
#define XC_THREAD_MEMORY_H

#include "heap/blocks/heap.h"
#include "heap/blocks/window.h"

/* What is known of one thread's memory. Ranges with lo > hi are empty. */
struct xc_thread_memory {
	uint32_t thread;
	xc_addr stack_lo, stack_hi; /* in use */
	xc_addr dead_lo, dead_hi;   /* of its stack, not in use */
	xc_addr tls_lo, tls_hi;     /* static TLS and descriptor */
};

/* Fill in what is known of a thread with registers; false when it has none, or its sp is nowhere. */
bool xc_thread_memory(const struct xc_process *process, uint32_t thread, struct xc_thread_memory *out);

/* Looks for the stacks of threads that ended and that glibc keeps for the next ones: their descriptors have no thread id. */
struct xc_ended_search {
	const struct xc_heap *heap;
	struct xc_window window;
	unsigned tid_at; /* of the id in a descriptor; 0: not known */
	xc_addr *living; /* thread pointers, in ascending order */
	size_t living_count;
};

void xc_ended_search_init(struct xc_ended_search *search, const struct xc_heap *heap);
void xc_ended_search_fini(struct xc_ended_search *search);

/* Search a range of memory, which is read once: calls `each` with every stack found. All there is dead, but for the word at `dtv`: the
 * vector of thread-local blocks is kept with the stack. */
typedef void xc_ended_fn(void *context, xc_addr lo, xc_addr hi, xc_addr dtv);
void xc_ended_search_range(struct xc_ended_search *search, xc_addr lo, xc_addr hi, xc_ended_fn *each, void *context);

#endif
