/* sandbox_probe: a process that goes where workers are to go, before any of them, and reads nothing: whether the sandbox can be entered here is
 * known before a core is blamed for it. It also makes what all workers of a batch share: a user name space, in which nobody has rights on
 * anything outside, and a network name space without a network. They are a fence behind the fence: where they cannot be had (containers
 * often forbid it) the sandbox holds without them. */
#ifndef XC_SANDBOX_PROBE_H
#define XC_SANDBOX_PROBE_H

#include "core/base/error.h"
#include "batch/sandbox/worker_options.h"

struct xc_sandbox_probe {
	int user, net; /* name spaces to enter; -1: there are none */
};

/* Send one; it has ended when this returns. Cost: some milliseconds; one that does not answer is waited for as a fork server is (fork_server.h). Errors:
 * XC_ERR_IO: no process can be started here, none can enter the sandbox (with a hint), or it does not answer. */
XC_MUST_CHECK struct xc_error *xc_sandbox_probe_run(const struct xc_worker_options *options,
						    struct xc_sandbox_probe *scout_out);
void xc_sandbox_probe_fini(struct xc_sandbox_probe *probe);

/* In a worker, before its sandbox: enter the name spaces, if there are any. */
void xc_sandbox_probe_enter(const struct xc_sandbox_probe *probe);

#endif
