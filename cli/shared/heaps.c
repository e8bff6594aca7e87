#include "cli/shared/heaps.h"

#include <string.h>

#include "core/base/say.h"
#include "heap/graph/claim.h"
#include "heap/graph/claim_transfer.h"
#include "heap/types/typing.h"
#include "heap/session/session.h"
#include "cli/shared/plugins.h"

/* Take the claims of one plugin, which come in a report that is not shown. */
static struct xc_error *ask_plugin(struct xc_job *job, struct xc_plugins *plugins, const struct xc_plugin *plugin)
{
	struct xc_heap *heap = job->process->heap;
	struct xc_report *report = xc_report_new("claims");
	struct xc_run run = xc_plugins_run(job, plugins, plugin);
	struct xc_claims *others = heap->claims; /* of earlier plugins; this one must not report them again */
	heap->claims = NULL;
	run.what = XC_RUN_CLAIMS;
	run.report = report;
	struct xc_error *err = xc_runner_run(&run);
	xc_claims_free(heap->claims);
	heap->claims = others;
	for (const struct xc_section *s = report->sections; s && !err; s = s->next)
		if (strcmp(s->key, "claims") == 0)
			err = xc_claim_transfer_load(heap, s);
	xc_report_free(report);
	return err;
}

/* A plugin that fails claims nothing; the failure is reported. */
static void ask_plugins(struct xc_job *job)
{
	struct xc_plugins plugins;
	struct xc_error *err = xc_plugins_of(&job->common, &plugins);
	if (err) { /* commands that run plugins report it */
		xc_error_free(err);
		return;
	}
	for (size_t i = 0; i < plugins.count; i++) {
		struct xc_plugin *plugin = plugins.items[i];
		if (!xc_plugin_read(&plugins, plugin) || !plugin->claims ||
		    !xc_plugin_matches(plugin, job->process, NULL))
			continue;
		xc_auto(xc_error_freep) struct xc_error *failed = ask_plugin(job, &plugins, plugin);
		if (failed && job->common.quiet != XC_ON)
			xc_say("plugin %s: claims: %s", plugin->name, failed->message);
	}
	xc_plugins_fini(&plugins);
}

struct xc_heap *xc_job_heap(struct xc_job *job)
{
	if (job->process->heap)
		return job->process->heap;
	struct xc_progress progress = xc_progress_start("walking the heap", job->common.quiet == XC_ON);
	const struct xc_heap_options options = {.jobs = job->common.jobs, .progress = &progress};
	struct xc_heap *heap = xc_heap_of(job->process, &options);
	xc_progress_end(&progress);
	heap->progress = NULL;
	if (job->common.plugins != XC_OFF && heap->blocks.count)
		ask_plugins(job);
	xc_claims_apply(heap); /* after all plugins have seen the same blocks */
	return heap;
}

struct xc_heap *xc_job_typed_heap(struct xc_job *job)
{
	struct xc_heap *heap = xc_job_heap(job);
	struct xc_progress progress = xc_progress_start("typing the heap", job->common.quiet == XC_ON);
	heap->progress = &progress;
	xc_auto(xc_error_freep) struct xc_error *err = xc_heap_analyze(heap);
	xc_progress_end(&progress);
	heap->progress = NULL;
	if (err && job->common.quiet != XC_ON)
		xc_say("%s: heap: %s", job->process->target, err->message);
	return heap;
}
