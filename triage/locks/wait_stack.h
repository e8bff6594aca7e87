/* wait_stack: the part of a thread's stack that shows what the thread waits for. Private to wait*.c. */
#ifndef XC_WAIT_STACK_H
#define XC_WAIT_STACK_H

#include "triage/locks/wait.h"

struct xc_wait_stack {
	struct xc_process *process;
	const struct xc_waits *waits; /* only its threads are set yet */
	struct xc_unwinder *unwinder;
	struct xc_frame *frames; /* of the current thread; room for XC_WAIT_FRAMES */
	size_t count, base;      /* frames[base] is the position before any signal, or in the handler that waits */
	size_t signal;           /* the innermost trampoline; count when there is none */
	bool is_static;          /* the C library is part of the program */
};

enum { XC_WAIT_STACK_INNER = 16 }; /* frames in which the waiting function is searched for */

void xc_wait_stack_init(struct xc_wait_stack *walk, struct xc_process *process, const struct xc_waits *waits);
void xc_wait_stack_fini(struct xc_wait_stack *walk);

/* Unwind the stack of a thread; count is 0 when its registers are not known. */
void xc_wait_stack_unwind(struct xc_wait_stack *walk, const struct xc_thread *thread);

/* The place of a frame; never NULL. */
const struct xc_place *xc_wait_stack_place(const struct xc_wait_stack *walk, size_t index);

/* Is the frame in the C library, or in a similar one? In a static program, mostly: does it have no debug
 * information? */
bool xc_wait_stack_is_runtime(const struct xc_wait_stack *walk, size_t index);

/* The end of the frames in which the waiting function is searched for. */
size_t xc_wait_stack_inner_end(const struct xc_wait_stack *walk);

#endif
