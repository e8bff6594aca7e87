/* profile_polled: profiles by looks at /proc alone. */
#include "profile/profile_impl.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "core/live/live.h"
#include "core/live/live_proc.h"

void xc_profile_take_polled(void *ctx, const struct xc_polled *t, enum xc_polling_kind kind, uint64_t periods)
{
	struct xc_profile *p = ctx;
	struct xc_wait_targets *targets = p->targets;
	const struct xc_profile_span span = {t->seen_ns - periods * p->period_ns, t->seen_ns, periods};
	const enum xc_profile_clock clock = p->options.clock;
	if (kind == XC_POLL_RUNS ? clock == XC_CLOCK_OFF : clock == XC_CLOCK_CPU)
		return;
	if (kind == XC_POLL_RUNS) {
		xc_profile_count_stack(p, 0, 0, t->tid, span);
		p->samples += periods;
	} else if (kind == XC_POLL_WAITS) {
		xc_profile_count_waits(p, t->stack, xc_wait_targets_held(targets, t->target.text, t->owner), t->tid,
				       span);
	} else {
		xc_profile_count_waits(p, 0,
				       kind == XC_POLL_QUEUED ? xc_wait_targets_cpu(targets, true)
							      : xc_wait_targets_unseen(targets),
				       t->tid, span);
	}
}

void xc_profile_end_polling(struct xc_profile *p)
{
	size_t left;
	xc_live_brief(p->process, false);
	xc_polling_end(&p->polling);
	p->ended_ns = xc_now_ns();
	p->waiting.spent_ns[XC_WAITED] = p->polling.spent_ns[XC_POLL_WAITS];
	p->waiting.spent_ns[XC_WAIT_PREEMPTED] = p->polling.spent_ns[XC_POLL_QUEUED];
	memcpy(p->ends, p->blocked->ends, sizeof p->ends);
	free(xc_live_proc_tids(xc_live_task_dir(p->process), 1, &left));
	p->sampled.execed = p->gone && left;
}

void xc_profile_poll(struct xc_profile *p)
{
	const uint64_t begun = xc_thread_cpu_ns();
	p->due_ns = xc_polling_tick(&p->polling);
	xc_profile_update_maps(p, p->blocked->unmapped, false, xc_now_ns());
	p->blocked->unmapped = false;
	p->gone |= !p->due_ns;
	p->unwind_ns += xc_thread_cpu_ns() - begun;
}

void xc_profile_pause(uint64_t now, uint64_t due)
{
	const struct timespec left = {(time_t)((due - now) / 1000000000), (long)((due - now) % 1000000000)};
	(void)nanosleep(&left, NULL); /* a signal ends it early */
}
