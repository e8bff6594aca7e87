/* sandbox_probe: a process that enters the sandbox before any worker does, and reads nothing. So an unusable sandbox is
 * detected before a core is blamed for it.
 *
 * The probe also creates what all workers of a batch share: a user name space without rights on anything outside, and a
 * network name space without a network. These are a second fence. Where they are unavailable (containers often forbid
 * them), the sandbox holds without them. */
#ifndef XC_SANDBOX_PROBE_H
#define XC_SANDBOX_PROBE_H

#include "core/base/error.h"
#include "batch/sandbox/worker_options.h"

struct xc_sandbox_probe {
	int user, net; /* name spaces to enter; -1: none */
};

/* Runs a probe, which has ended on return. Cost: some milliseconds; an unresponsive probe is waited for like a fork
 * server (fork_server.h). Errors: XC_ERR_IO: no process can be started, the sandbox cannot be entered (with a hint), or
 * the probe does not respond. */
XC_MUST_CHECK struct xc_error *xc_sandbox_probe_run(const struct xc_worker_options *options,
						    struct xc_sandbox_probe *probe_out);
void xc_sandbox_probe_fini(struct xc_sandbox_probe *probe);

/* In a worker, before its sandbox: enters the name spaces, if there are any. */
void xc_sandbox_probe_enter(const struct xc_sandbox_probe *probe);

#endif
