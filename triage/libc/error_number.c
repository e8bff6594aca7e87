#include "triage/libc/error_number.h"

#include <errno.h>
#include <string.h>

#include "triage/source/frame_value.h"

enum { MOST = 133 }; /* EHWPOISON, the last one of Linux on most machines */

static bool read_errno(const struct xc_crash_context *crash, uint64_t *number)
{
	struct xc_value value;
	const bool read = xc_frame_value_of(crash, 0, 0, "errno", &value) && xc_value_load(&value, number);
	/* The C library leaves ENOTTY when it looks whether an output is a terminal. */
	return read && *number > 0 && *number <= MOST && *number != ENOTTY;
}

int xc_error_number_of(const struct xc_crash_context *crash)
{
	uint64_t number;
	return crash->frame_count && read_errno(crash, &number) ? (int)number : 0;
}

void xc_error_number_report(struct xc_crash_context *crash)
{
	uint64_t number;
	bool ended = xc_crash_context_is(crash, "assertion") || xc_crash_context_is(crash, "abort");
	if (!crash->frame_count || (!ended && !crash->by_errno) || !read_errno(crash, &number))
		return;
	const char *name = strerrorname_np((int)number);
	xc_verdict_evidence(crash->report, "errno is %d%s%s: %s, by the last call of this thread that failed",
			    (int)number, name ? ", " : "", name ? name : "", strerror((int)number));
}
