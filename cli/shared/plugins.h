/* plugins: the options about plugins and scripts, applied; shared by the commands that run them. */
#ifndef XC_CLI_PLUGINS_H
#define XC_CLI_PLUGINS_H

#include "lua/plugin/plugin.h"
#include "lua/runner/runner.h"
#include "cli/command.h"

/* Find the installed plugins. Errors: a --plugin-path that cannot be used. */
XC_MUST_CHECK struct xc_error *xc_plugins_of(const struct xc_common *common, struct xc_plugins *plugins);

/* The plugin whose name is the first len bytes of `what`. That there is none is a usage error. Other errors: those of
 * xc_plugins_named. */
XC_MUST_CHECK struct xc_error *xc_plugins_prefix(struct xc_plugins *plugins, const char *what, size_t len,
						 struct xc_plugin **plugin_out);

/* The limits of --max-instructions, --max-memory, --max-time and --max-output. */
struct xc_limits xc_plugins_limits(const struct xc_common *common);

/* A run of the plugin (or script, which has no name) on the job's target, with the job's limits. The caller sets
 * `what` and the fields that it needs. Its pointers live as long as the plugins. */
struct xc_run xc_plugins_run(const struct xc_job *job, struct xc_plugins *plugins, const struct xc_plugin *plugin);

/* The names of a list, separated by commas: "keys, big, types"; malloc'ed. */
char *xc_plugins_list(const struct xc_plugin_entries *entries);

/* The error for an entry that does not exist, with a hint at existing ones. `what` is "command" or "flame graph". */
struct xc_error *xc_plugins_no_entry(const struct xc_plugin *plugin, const struct xc_plugin_entries *entries,
				     const char *what, const char *name);

/* Run `analyze` of every plugin that matches the target, each in its own child process; they add to the job's
 * report. A failure is a note. Errors: those of xc_plugins_of. */
XC_MUST_CHECK struct xc_error *xc_plugins_analyze(struct xc_job *job);

/* After a command of the plugin failed: if the plugin does not match the target, say so in the error's hint. err may
 * be NULL. */
void xc_plugins_explain(struct xc_error *err, const struct xc_plugin *plugin, const struct xc_process *process);

#endif
