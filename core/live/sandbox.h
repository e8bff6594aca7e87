/* sandbox: restricts this process while it reads a live one (promise 1 of the design).
 *
 * There are two sandboxes. The first, a seccomp filter, denies ptrace, process_vm_writev, every call that sends or
 * arranges a signal for another process, process_madvise, process_mrelease, pidfd_getfd, io_uring (whose operations
 * bypass filters) and foreign system call ABIs (i386, x32). The second, Landlock, allows creating, writing, truncating,
 * renaming and removing files only in the given directories. Denied calls fail (EPERM, EACCES) and kill nothing.
 *
 * Order matters. Behind Landlock a process cannot read processes outside its own domain: the kernel refuses
 * process_vm_readv and every open below /proc/PID that needs ptrace rights. So:
 * 	xc_sandbox_calls(), xc_process_open_live(), then xc_sandbox_writes().
 * An open live process has its descriptors already, and they keep working behind Landlock.
 *
 * Two consequences. abort() and raise() cannot send their signal: abort ends the process by glibc's trap instruction
 * (SIGSEGV or SIGILL instead of SIGABRT). And a child with a time limit must arm its own timer (alarm, setitimer)
 * before it starts, because its parent may not kill it. */
#ifndef XC_SANDBOX_H
#define XC_SANDBOX_H

#include "core/base/error.h"

struct xc_sandbox_options {
	const char *const *write_dirs; /* directories (existing) in which files may be made and written */
	size_t write_dir_count;
};

/* Deny the calls for this thread and its descendants: call it before threads start. May be called before the target is
 * opened. Errors: XC_ERR_UNSUPPORTED when the kernel has no seccomp filters. */
XC_MUST_CHECK struct xc_error *xc_sandbox_calls(void);

/* Load a libseccomp filter (scmp_filter_ctx) and release it. error is the negative result of building it, or 0; if it
 * is not 0, nothing is loaded. Errors: as above. */
XC_MUST_CHECK struct xc_error *xc_sandbox_load(void *filter, int error);

/* Limit writing for this thread and its descendants. Open descriptors are not affected; /dev/null and /dev/tty may be
 * written. *landlock_out (may be NULL) is "landlock ABI 7", or the reason why there is no Landlock, which is not an
 * error. Errors: a write_dir that cannot be opened. */
XC_MUST_CHECK struct xc_error *xc_sandbox_writes(const struct xc_sandbox_options *options, const char **landlock_out);

/* True once xc_sandbox_writes has enabled Landlock. No further process can be opened then. */
bool xc_sandbox_writes_limited(void);

/* The name of a system call of a machine ("futex"), malloc'ed; NULL when unknown. */
char *xc_sandbox_call_name(uint16_t machine, long number);

/* The number of a system call of this machine by its name; -1: there is none. */
long xc_sandbox_call_number(const char *name);

#endif
