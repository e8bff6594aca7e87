#include "triage/crash/error_number.h"

#include <errno.h>
#include <string.h>

#include "dwarf/cexpr/cexpr.h"

enum { MOST = 133 }; /* EHWPOISON, the last one of Linux on most machines */

static bool read_errno(const struct xc_crash_context *crash, uint64_t *number)
{
	const struct xc_frame_context in = xc_crash_context_frame(crash, 0);
	const struct xc_frame_scope at = {.process = crash->process,
					  .thread = crash->thread,
					  .unwinder = crash->unwinder,
					  .has_frame = true,
					  .frame = *in.frame,
					  .place = in.place};
	struct xc_value value;
	struct xc_error *err = xc_cexpr_value(&at, "errno", &crash->report->arena, &value);
	const bool read = !err && xc_value_load(&value, number);
	xc_error_free(err);
	/* The C library leaves ENOTTY when it looks whether an output is a terminal. */
	return read && *number > 0 && *number <= MOST && *number != ENOTTY;
}

int xc_error_number_of(const struct xc_crash_context *crash)
{
	uint64_t number;
	return crash->frame_count && read_errno(crash, &number) ? (int)number : 0;
}

void xc_error_number_report(const struct xc_crash_context *crash)
{
	uint64_t number;
	if (!crash->frame_count || (!xc_crash_context_is(crash, "assertion") && !xc_crash_context_is(crash, "abort")) ||
	    !read_errno(crash, &number))
		return;
	const char *name = strerrorname_np((int)number);
	xc_verdict_evidence(crash->report, "errno is %d%s%s: %s, by the last call of this thread that failed",
			    (int)number, name ? ", " : "", name ? name : "", strerror((int)number));
}
