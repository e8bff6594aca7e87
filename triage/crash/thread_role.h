/* thread_role: the purpose of a thread: the function that it was started with. */
#ifndef XC_THREAD_ROLE_H
#define XC_THREAD_ROLE_H

#include "dwarf/symbolize/debuginfo.h"
#include "dwarf/unwind/unwind.h"

/* The outermost function of user code on a stack, past the functions with which the C library and the runtimes start
 * a thread: the argument of pthread_create, std::thread, g_thread_new, std::thread::spawn. NULL and 0 when the stack
 * does not reach that far. */
void xc_thread_role_find(const struct xc_process *process, const struct xc_frame *frames, size_t count,
			 xc_addr *routine_out, const char **name_out);

#endif
