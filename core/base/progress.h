/* progress: a progress bar with the time left, for work of more than half a second. Only where stderr is a terminal. */
#ifndef XC_PROGRESS_H
#define XC_PROGRESS_H

#include "core/base/base.h"

struct xc_progress {
	const char *what; /* "inflating core.zst" */
	bool enabled;     /* stderr is a terminal and --quiet was not given */
	bool shown;       /* the bar is on the terminal and must be cleared */
	uint64_t started_ns, drawn_ns;
};

struct xc_progress xc_progress_start(const char *what, bool quiet);
void xc_progress_step(struct xc_progress *p, uint64_t done, uint64_t total); /* total 0: unknown; p may be NULL */
void xc_progress_end(struct xc_progress *p);

#endif
