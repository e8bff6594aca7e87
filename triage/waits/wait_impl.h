/* wait_impl: shared by wait*.c: the part of a thread's stack that shows what the thread waits for, and the system call
 * in which it sleeps. */
#ifndef XC_WAIT_IMPL_H
#define XC_WAIT_IMPL_H

#include "triage/waits/wait.h"

/* ---- the stack (wait_stack.c) ---- */

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

/* ---- the system call (wait_syscall.c) ---- */

/* The name of the system call in which the thread sleeps; NULL: none, or not known. In the process's arena. */
const char *xc_wait_syscall_name(struct xc_process *process, const struct xc_thread *thread);

/* Refine a wait by the arguments of its system call. The kind is set from the functions on the stack, as far as they
 * are known. Sets word, object, target and timed; kind becomes XC_WAIT_NONE when the thread does not sleep. The
 * stack is that of the thread, and may be empty. */
void xc_wait_syscall_find(struct xc_wait_stack *walk, struct xc_wait *wait);

#endif
