/* plugins: options of the command line as parameters of lua/. */
#include "cli/shared/plugins.h"

#include "core/text/suggest.h"
#include "core/base/text.h"

struct xc_error *xc_plugins_of(const struct xc_common *common, struct xc_plugins *plugins)
{
	return xc_plugins_open(plugins, common->plugin_paths.items, common->plugin_paths.count);
}

struct xc_error *xc_plugins_prefix(struct xc_plugins *plugins, const char *what, size_t len,
				   struct xc_plugin **plugin_out)
{
	xc_auto(xc_freep) char *name = xc_asprintf("%.*s", (int)len, what);
	struct xc_error *err = xc_plugins_named(plugins, name, plugin_out);
	if (err && err->code == XC_ERR_NOT_FOUND)
		err->code = XC_ERR_USAGE;
	return err;
}

struct xc_limits xc_plugins_limits(const struct xc_common *common)
{
	return (struct xc_limits){.instructions = (uint64_t)common->max_instructions * 1000000,
				  .memory = (uint64_t)common->max_memory << 20,
				  .seconds = common->max_time,
				  .printed = (uint64_t)common->max_output << 20};
}

struct xc_run xc_plugins_run(const struct xc_job *job, struct xc_plugins *plugins, const struct xc_plugin *plugin)
{
	struct xc_run run = {
		.process = job->process,
		.report = job->report,
		.plugin = plugin->name,
		.name = plugin->name ? xc_arena_printf(&plugins->arena, "plugin %s", plugin->name) : plugin->path,
		.chunk = plugin->path,
		.text = plugin->text,
		.len = plugin->len,
		.limits = xc_plugins_limits(&job->common),
		.redacts = xc_job_redacts(job),
		.quiet = job->common.quiet == XC_ON,
	};
	run.module_dirs = xc_plugin_module_dirs(plugins, plugin, &run.module_dir_count);
	return run;
}

char *xc_plugins_list(const struct xc_plugin_entries *entries)
{
	struct xc_text text = {0};
	for (size_t i = 0; i < entries->count; i++)
		xc_text_printf(&text, "%s%s", i ? ", " : "", entries->items[i].name);
	return text.len ? xc_text_take(&text) : xc_strdup("none");
}

struct xc_error *xc_plugins_no_entry(const struct xc_plugin *plugin, const struct xc_plugin_entries *entries,
				     const char *what, const char *name)
{
	struct xc_suggestion near = xc_suggest(name);
	for (size_t i = 0; i < entries->count; i++)
		xc_suggest_consider(&near, entries->items[i].name);
	struct xc_error *err = xc_error_new(XC_ERR_USAGE, "%s has no %s '%s'", plugin->name, what, name);
	if (near.best)
		return xc_error_hint(err, "did you mean %s.%s?", plugin->name, near.best);
	xc_auto(xc_freep) char *list = xc_plugins_list(entries);
	return xc_error_hint(err, "it has: %s", list);
}

void xc_plugins_explain(struct xc_error *err, const struct xc_plugin *plugin, const struct xc_process *process)
{
	xc_auto(xc_freep) char *why = NULL;
	if (!err || err->code == XC_ERR_USAGE || !xc_plugin_asks(&plugin->match) ||
	    xc_plugin_matches(plugin, process, &why))
		return;
	xc_error_hint(err, "%s is not for this target: %s", plugin->name ? plugin->name : plugin->path, why);
}

/* ---- analyze ---- */

/* Report plugins and directories that cannot be used, wherever a plugin could have added to the report. */
static void plugin_troubles(struct xc_job *job, const struct xc_plugins *plugins)
{
	struct xc_section *s = NULL;
	for (size_t i = 0; i < plugins->dirs.refused_count + plugins->count; i++) {
		bool dir = i < plugins->dirs.refused_count;
		const struct xc_error *err =
			dir ? plugins->dirs.refused[i] : plugins->items[i - plugins->dirs.refused_count]->broken;
		if (err && !s)
			s = xc_report_section(job->report, "plugins", "Plugins");
		if (err)
			xc_section_message(s, XC_WARNING, err->hint, "%s", err->message);
	}
}

struct xc_error *xc_plugins_analyze(struct xc_job *job)
{
	struct xc_plugins plugins;
	struct xc_error *err = xc_plugins_of(&job->common, &plugins);
	if (err)
		return err;
	for (size_t i = 0; i < plugins.count; i++) {
		struct xc_plugin *plugin = plugins.items[i];
		if (!xc_plugin_read(&plugins, plugin) || !plugin->analyzes ||
		    !xc_plugin_matches(plugin, job->process, NULL))
			continue;
		struct xc_run run = xc_plugins_run(job, &plugins, plugin);
		run.what = XC_RUN_ANALYZE;
		if ((err = xc_runner_run(&run)))
			xc_runner_note(&run, err);
	}
	plugin_troubles(job, &plugins);
	xc_plugins_fini(&plugins);
	return NULL;
}
