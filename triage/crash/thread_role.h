/* thread_role: what a thread is there for: the function that it was started with. */
#ifndef XC_THREAD_ROLE_H
#define XC_THREAD_ROLE_H

#include "dwarf/symbolize/debuginfo.h"
#include "dwarf/unwind/unwind.h"

/* The outermost function of a stack that is the program's own, behind what the C library and the run-times begin a thread with: what
 * was given to pthread_create, std::thread, g_thread_new, std::thread::spawn. NULL and 0 when the stack does not reach so far. */
void xc_thread_role_find(const struct xc_process *process, const struct xc_frame *frames, size_t count,
			 xc_addr *routine_out, const char **name_out);

#endif
