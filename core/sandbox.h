/* sandbox: what we may not do any more once the target is known (promise 1 of the design).
 *
 * Live mode installs a seccomp filter that denies ptrace, process_vm_writev, every call that sends a
 * signal, process_madvise, pidfd_getfd, pidfd_send_signal and foreign system call ABIs, and Landlock rules that limit writing to the
 * output and cache directories. Denied calls fail with EPERM; nothing is killed. */
#ifndef XC_SANDBOX_H
#define XC_SANDBOX_H

#include "error.h"

struct xc_sandbox_options {
	const char *const *write_dirs; /* directories (existing) in which files may be made and written */
	size_t write_dir_count;
};

/* Install both for this process and its children. Must run before threads are started. On success
 * *landlock_out (may be NULL) says "landlock ABI 3", or why Landlock is absent: that is reported, not an
 * error. Errors: XC_ERR_UNSUPPORTED when seccomp itself cannot be had. */
XC_MUST_CHECK struct xc_error *xc_sandbox_live(const struct xc_sandbox_options *options, const char **landlock_out);

#endif
