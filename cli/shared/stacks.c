#include "cli/shared/stacks.h"

#include <string.h>

#include "dwarf/cfi/foreign_frame_report.h"
#include "dwarf/sample/running_threads.h"
#include "cli/shared/plugins.h"

/* Take the frames that one plugin reports, in a report that is not shown. Frames from before a failure are kept. */
static struct xc_error *ask_plugin(struct xc_job *job, struct xc_plugins *plugins, const struct xc_plugin *plugin,
				   bool detached)
{
	struct xc_process *process = job->process;
	struct xc_report *report = xc_report_new("stacks");
	struct xc_run run = xc_plugins_run(job, plugins, plugin);
	struct xc_foreign *others =
		xc_foreign_take(process); /* of earlier plugins; this one must not report them again */
	run.what = XC_RUN_STACKS;
	run.detached = detached;
	run.report = report;
	struct xc_error *err = xc_runner_run(&run);
	xc_foreign_set(process, others);
	for (const struct xc_section *s = report->sections; s; s = s->next) {
		struct xc_error *failed = strcmp(s->key, "stacks") == 0 ? xc_foreign_load(process, s) : NULL;
		if (err)
			xc_error_free(failed);
		else
			err = failed;
	}
	xc_report_free(report);
	return err ? xc_error_wrap(err, "plugin %s: stacks", plugin->name) : NULL;
}

static bool is_asked(struct xc_job *job, struct xc_plugins *plugins, struct xc_plugin *plugin)
{
	return xc_plugin_mentions(plugin, "stacks") && xc_plugin_read(plugins, plugin) && plugin->stacks &&
	       xc_plugin_matches(plugin, job->process, NULL);
}

void xc_job_stacks(struct xc_job *job, bool detached)
{
	struct xc_plugins plugins;
	if (job->common.plugins == XC_OFF || xc_foreign_of(job->process))
		return;
	struct xc_error *err = xc_plugins_of(&job->common, &plugins);
	if (err) { /* commands that run plugins report it */
		xc_foreign_fail(job->process, err);
		return;
	}
	for (size_t i = 0; i < plugins.count; i++)
		if (is_asked(job, &plugins, plugins.items[i]) &&
		    (err = ask_plugin(job, &plugins, plugins.items[i], detached)))
			xc_foreign_fail(job->process, err);
	xc_plugins_fini(&plugins);
}

struct xc_error *xc_job_sample_running(struct xc_job *job)
{
	xc_running_threads_sample(job->process);
	return NULL;
}
