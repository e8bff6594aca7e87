/* profile_child: profiles of a running process for those behind the sandbox, which forbids sampling (sandbox.h).
 *
 *	before the sandbox ─fork→ the child, which waits ─fork→ for each request one that samples, enters the sandbox
 *	behind it ──── request ──→                              and unwinds ──→ tables (profile_file.h) in shared memory
 *
 * It ends when nobody has its parent's end of the socket any more, or when its parent ends. Not thread-safe. */
#ifndef XC_PROFILE_CHILD_H
#define XC_PROFILE_CHILD_H

#include "profile/profile.h"

struct xc_profile_request {
	uint64_t duration_ns;
	unsigned hz;
	enum xc_profile_clock clock;
	bool any_clock;                        /* as of xc_profile_options */
	pid_t tid;                             /* this thread only; 0: all */
	const struct xc_perf_counter *counter; /* instead of time; NULL */
};

struct xc_profile_child;
struct xc_profile_data;

struct xc_profile_child_options {
	/* Opens what reads the frames of interpreted languages; called for each profile, behind the sandbox. Its result
	 * may be NULL. */
	struct xc_sample_guest *(*guests)(void *ctx);
	void *ctx;
	const char *cache_dir; /* may be written behind the sandbox; NULL: nothing may */
};

/* Fork it: before the sandbox and while no other thread runs. The process is a live one; it, and what the options refer
 * to, are borrowed for good. Errors: of fork, socketpair and memfd_create. */
XC_MUST_CHECK struct xc_error *xc_profile_child_start(struct xc_process *process,
						      const struct xc_profile_child_options *options,
						      struct xc_profile_child **child_out);
void xc_profile_child_free(struct xc_profile_child *child); /* NULL is fine */

/* Take a profile: waits for `duration_ns`, and until all is named. Ends early, with XC_ERR_IO, when *interrupted is set
 * by a signal handler. Errors: those of xc_profile_start; XC_ERR_IO when the child is gone. */
XC_MUST_CHECK struct xc_error *xc_profile_child_take(struct xc_profile_child *child,
						     const struct xc_profile_request *request,
						     const volatile int *interrupted,
						     struct xc_profile_data **data_out);

#endif
