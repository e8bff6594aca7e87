#include "cli/shared/guests.h"

#include "core/base/say.h"

static bool is_asked(struct xc_guests *g, struct xc_plugin *plugin, const struct xc_process *process)
{
	return xc_plugin_mentions(plugin, "samples") && xc_plugin_read(&g->plugins, plugin) && plugin->samples &&
	       xc_plugin_matches(plugin, process, NULL);
}

/* Without a plugin that tells the dimension there is no profile by it. Why it does not is told first. */
static struct xc_error *check_dimension(const struct xc_guests *g, const struct xc_process *process, const char *by)
{
	xc_auto(xc_text_fini) struct xc_text others = {0};
	if (!by || (g->guest && xc_plugin_guest_provides(g->guest, &others)))
		return NULL;
	struct xc_error *err = g->guest ? xc_plugin_guest_failure(g->guest) : NULL;
	return err ? err
		   : xc_error_hint(xc_error_new(XC_ERR_USAGE, "--by %s: no plugin provides this dimension for %s", by,
						process->target),
				   "available: %sthread, process, cpu", xc_text_string(&others));
}

struct xc_error *xc_guests_open(struct xc_guests *g, struct xc_job *job, const char *by)
{
	if (job->common.plugins == XC_OFF)
		return check_dimension(g, job->process, by);
	struct xc_error *err = xc_plugins_of(&job->common, &g->plugins);
	if (err) { /* commands that run plugins report it */
		xc_error_free(err);
		return check_dimension(g, job->process, by);
	}
	g->guest = xc_plugin_guest_new(job->process, by);
	for (size_t i = 0; i < g->plugins.count; i++) {
		if (!is_asked(g, g->plugins.items[i], job->process))
			continue;
		const struct xc_run run = xc_plugins_run(job, &g->plugins, g->plugins.items[i]);
		xc_plugin_guest_add(g->guest, &run);
	}
	return check_dimension(g, job->process, by);
}

void xc_guests_fini(struct xc_guests *g)
{
	if (!g->guest)
		return;
	xc_plugin_guest_free(g->guest);
	xc_plugins_fini(&g->plugins);
	*g = (struct xc_guests){0};
}

struct xc_sample_guest *xc_guests_reader(const struct xc_guests *g)
{
	return g->guest ? xc_plugin_guest_reader(g->guest) : NULL;
}

void xc_guests_note(const struct xc_guests *g, struct xc_section *section)
{
	for (struct xc_error *err; g->guest && (err = xc_plugin_guest_failure(g->guest));) {
		if (section) {
			xc_section_note(section, err);
			continue;
		}
		xc_say("%s", err->message);
		xc_error_free(err);
	}
}
