/* barrier: sysdeps/nptl/internaltypes.h of glibc 2.23 and later, nptl/pthread_barrier_wait.c:
 *
 *	| in 4 | current_round 4 | count 4 | shared 4 | out 4 |
 *
 * `in` counts those that came, current_round those of them that belong to rounds before: threads sleep on it. */
#include "triage/waits/barrier.h"

#include <inttypes.h>
#include <string.h>

void xc_barrier_describe(const struct xc_process *process, const struct xc_wait *wait, struct xc_text *text)
{
	enum { IN = 0, ROUND = 4, COUNT = 8, SHARED = 12, IS_SHARED = 128 };
	uint64_t in, round, count, shared;
	const struct xc_space *space = process->space;
	bool is_glibc = wait->through && strstr(wait->through, "pthread_barrier_wait");
	if (wait->kind != XC_WAIT_BARRIER || !is_glibc || !wait->object ||
	    !xc_space_peek_uint(space, wait->object + IN, 4, &in) ||
	    !xc_space_peek_uint(space, wait->object + ROUND, 4, &round) ||
	    !xc_space_peek_uint(space, wait->object + COUNT, 4, &count) ||
	    !xc_space_peek_uint(space, wait->object + SHARED, 4, &shared))
		return;
	uint32_t came = (uint32_t)(in - round);
	if ((shared && shared != IS_SHARED) || !came || came >= count || count > INT32_MAX)
		return;
	xc_text_printf(text, ", to which %" PRIu32 " of %" PRIu64 " threads have come", came, count);
}
