/* worker_sandbox: confines a worker to computing and to its open descriptors.
 *
 * Four walls:
 *	- Resource limits: data, address space, stack, file size, processor time, no core file.
 *	- Landlock, where the kernel has it: no file can be opened, created or changed.
 *	- Seccomp: only calls on a short list; any other ends the process (SIGSYS).
 *	- No capabilities, no new privileges; the process cannot be traced or dumped.
 * It creates neither processes nor threads, because the number of threads could not be bounded. Its stack is large
 * enough for names that other commands demangle on a separate thread. */
#ifndef XC_WORKER_SANDBOX_H
#define XC_WORKER_SANDBOX_H

#include "core/base/error.h"

struct xc_worker_sandbox {
	uint64_t memory;    /* bytes of data (RLIMIT_DATA, which excludes file mappings); 0: no limit */
	uint64_t file_size; /* bytes of a file that it writes */
	unsigned seconds;   /* processor time: SIGXCPU, and a second later SIGKILL */
};

/* Enters the sandbox for good: this process and all its future threads. Call it while there is one thread. Installs the
 * handler of SIGSYS. Errors: XC_ERR_UNSUPPORTED when the kernel has no seccomp filters; then nothing should be read.
 * Landlock may be absent. */
XC_MUST_CHECK struct xc_error *xc_worker_sandbox_enter(const struct xc_worker_sandbox *sandbox);

/* Maximum stack size of this process's first thread, in bytes. */
uint64_t xc_worker_sandbox_stack(void);

#endif
