/* profile_many: a profile of several processes: each is sampled by an xcore of its own, with a sandbox of its own, side
 * by side; what they have found is put together (profile/data/profile_merge.h).
 *
 *	xcore profile pid:1 pid:2 --for 5s ─→ xcore profile pid:1 --for 5s --as xprof, … pid:2 … ─→ one profile
 *
 * With children, a process that one of them forks is sampled as soon as it is found, for the rest of the time. */
#ifndef XC_PROFILE_MANY_H
#define XC_PROFILE_MANY_H

#include "cli/command.h"
#include "profile/data/profile_data.h"

struct xc_many_options {
	const struct xc_words *targets; /* "pid:N" */
	bool children;
	uint64_t ns;
	const struct xc_words *given; /* options for each */
	const volatile int *interrupted;
};

/* Errors: XC_ERR_USAGE, a target is no running process; XC_ERR_NOT_FOUND, none could be sampled (each says why on
 * standard error); those of xc_profile_merge. */
XC_MUST_CHECK struct xc_error *xc_profile_many(const struct xc_many_options *options,
					       struct xc_profile_data **data_out);

#endif
