/* worker_sandbox: what a worker may do: compute, and read and write the descriptors that it has. Nothing else.
 *
 * Four walls. Resource limits: data, addresses, stack, file size, processor time, no core. Landlock, where the kernel has it: no file can
 * be opened, made or changed. Seccomp: only calls on a short list; another one ends the process (SIGSYS). No capabilities, no new
 * privileges, and it cannot be traced or dumped. It makes neither processes nor threads: the latter's number could not be bounded. Its own
 * stack is as large as names need that elsewhere are demangled on a thread. */
#ifndef XC_WORKER_SANDBOX_H
#define XC_WORKER_SANDBOX_H

#include "core/base/error.h"

struct xc_worker_sandbox {
	uint64_t memory;    /* bytes of data (RLIMIT_DATA: what is mapped of files does not count); 0: no limit */
	uint64_t file_size; /* bytes of a file that it writes */
	unsigned seconds;   /* of processor time: SIGXCPU, and a second later SIGKILL */
};

/* Enter, for good. For this process and its threads; run it while there is one thread. Takes the handler of SIGSYS. Errors: XC_ERR_UNSUPPORTED when the kernel has no
 * seccomp filters: then nothing should be read. Landlock may be absent. */
XC_MUST_CHECK struct xc_error *xc_worker_sandbox_enter(const struct xc_worker_sandbox *sandbox);

/* Bytes that this process's first thread may have of stack. */
uint64_t xc_worker_sandbox_stack(void);

#endif
