/* sandbox: what we may not do while a live process is looked at (promise 1 of the design).
 *
 * Two fences. The *calls* fence is a seccomp filter that denies ptrace, process_vm_writev, every call that sends
 * or arranges a signal for another process, process_madvise, process_mrelease, pidfd_getfd, io_uring (whose work no
 * filter sees) and foreign system call ABIs (i386, x32). The *writes* fence is Landlock: files are made, written,
 * truncated, renamed and removed in the given directories only. Denied calls fail (EPERM, EACCES); nothing is killed.
 *
 * Order matters. A process behind Landlock may no longer look into processes outside its own domain: the
 * kernel refuses process_vm_readv and every open below /proc/PID that needs ptrace rights. So:
 *	xc_sandbox_calls(), xc_process_open_live(), then xc_sandbox_writes().
 * An open live process keeps the descriptors it reads through, and they go on working behind the fence.
 *
 * Two consequences. abort() and raise() cannot send their signal: an abort behind the fence ends by glibc's trap
 * instruction (SIGSEGV or SIGILL instead of SIGABRT). A child that must be ended for its wall time has to
 * arm its own timer (alarm, setitimer) before it starts, because its parent may not kill it. */
#ifndef XC_SANDBOX_H
#define XC_SANDBOX_H

#include "core/base/error.h"

struct xc_sandbox_options {
	const char *const *write_dirs; /* directories (existing) in which files may be made and written */
	size_t write_dir_count;
};

/* Deny the calls, for this thread and what it starts: run it before threads are started. May be called before
 * the target is opened. Errors: XC_ERR_UNSUPPORTED when the kernel has no seccomp filters. */
XC_MUST_CHECK struct xc_error *xc_sandbox_calls(void);

/* Put a filter of libseccomp's (scmp_filter_ctx) up and release it, unless making it failed: error is what its functions gave, negative.
 * Errors: as above. */
XC_MUST_CHECK struct xc_error *xc_sandbox_load(void *filter, int error);

/* Limit writing, for this thread and what it starts. Descriptors that are open stay as they are; /dev/null and
 * /dev/tty may be written. *landlock_out (may be NULL) says "landlock ABI 7", or why Landlock is absent: that is
 * reported, not an error. Errors: a write_dir that cannot be opened. */
XC_MUST_CHECK struct xc_error *xc_sandbox_writes(const struct xc_sandbox_options *options, const char **landlock_out);

/* True once xc_sandbox_writes has put Landlock up: then no further process can be opened. */
bool xc_sandbox_writes_limited(void);

/* The name of a system call of a machine ("futex"), malloc'ed; NULL when unknown. */
char *xc_sandbox_call_name(uint16_t machine, long number);

#endif
