#include "cli/shared/profiler.h"

#include "cli/target.h"

static struct xc_sample_guest *open_guests(void *ctx)
{
	struct xc_profiler *p = ctx;
	xc_error_free(xc_guests_open(&p->guests, p->job, NULL)); /* without a dimension there is no error */
	return xc_guests_reader(&p->guests);
}

/* A script that takes no profile does not need it. */
void xc_profiler_open(struct xc_profiler *p, struct xc_job *job)
{
	xc_auto(xc_freep) char *cache = xc_switch_or(job->common.cache, true) ? xc_target_cache_dir("xcore") : NULL;
	const struct xc_profile_child_options options = {.guests = open_guests, .ctx = p, .cache_dir = cache};
	p->job = job;
	if (job->process->live)
		xc_error_free(xc_profile_child_start(job->process, &options, &p->child));
}

void xc_profiler_fini(struct xc_profiler *p)
{
	xc_profile_child_free(p->child);
	p->child = NULL;
}
