/* profile_lap: takes the counts so far out of a running profile. */
#include <string.h>

#include "core/live/live.h"
#include "profile/profile_finish.h"
#include "profile/profile_impl.h"

void xc_profile_end_times(struct xc_profile *p)
{
	uint64_t user, system;
	p->times_known = p->times_known && xc_live_times(p->process, p->options.tid, &user, &system);
	if (!p->times_known)
		return;
	p->user_ns = user - p->user_before_ns;
	p->system_ns = system - p->system_before_ns;
	p->user_before_ns = user;
	p->system_before_ns = system;
}

/* Stacks and what is waited for keep their numbers. */
static void clear(struct xc_profile *p)
{
	for (size_t i = 0; i < p->count; i++)
		p->counts[i].samples = p->counts[i].squares = 0;
	xc_slices_fini(&p->slices);
	xc_slices_init(&p->slices, p->ended_ns);
	p->started_ns = p->ended_ns;
	p->samples = p->wait_samples = p->unwound = p->in_kernel = p->late = p->guests = p->torn = p->torn_whole = 0;
	p->delays = (struct xc_read_delays){0};
	memset(p->ends, 0, sizeof p->ends);
	memset(p->waiting.spent_ns, 0, sizeof p->waiting.spent_ns);
	memset(p->waiting.counts, 0, sizeof p->waiting.counts);
	memset(p->polling.spent_ns, 0, sizeof p->polling.spent_ns);
}

struct xc_profile_data *xc_profile_lap(struct xc_profile *p)
{
	p->ended_ns = p->last_ns = xc_now_ns();
	if (p->sampler) {
		p->sampled = xc_sampler_counts(p->sampler);
		xc_waiting_split(&p->waiting, p->ended_ns);
	}
	xc_slices_merge(&p->slices);
	xc_profile_end_times(p);
	struct xc_profile_data *data = xc_profile_finish(p);
	clear(p);
	return data;
}
