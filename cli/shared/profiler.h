/* profiler: lets scripts take profiles of a live target (t:profile). */
#ifndef XC_CLI_PROFILER_H
#define XC_CLI_PROFILER_H

#include "cli/shared/guests.h"
#include "profile/profile_child.h"

struct xc_profiler {
	struct xc_job *job;
	struct xc_guests guests;        /* opened by the child, for each profile */
	struct xc_profile_child *child; /* NULL: this system makes no child, or it is not open */
};

/* As a command's target has been opened, before the sandbox. */
void xc_profiler_open(struct xc_profiler *profiler, struct xc_job *job);
void xc_profiler_fini(struct xc_profiler *profiler); /* also of zeroes */

#endif
