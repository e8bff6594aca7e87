/* plugins: what the commands that run plugins and scripts share: the options about them, put to work. */
#ifndef XC_CLI_PLUGINS_H
#define XC_CLI_PLUGINS_H

#include "lua/plugin/plugin.h"
#include "lua/runner/runner.h"
#include "cli/command.h"

/* Find what is installed. Errors: a --plugin-path that cannot be used. */
XC_MUST_CHECK struct xc_error *xc_plugins_of(const struct xc_common *common, struct xc_plugins *plugins);

/* Of --max-instructions and its like. */
struct xc_limits xc_plugins_limits(const struct xc_common *common);

/* A run of the plugin (or script: it has no name then) over the job's target, with the job's limits: `what` and what it needs are
 * still to be set. What it points to lives as long as the plugins. */
struct xc_run xc_plugins_run(const struct xc_job *job, struct xc_plugins *plugins, const struct xc_plugin *plugin);

/* The words of a list, parted by commas: "keys, big, types"; malloc'ed. */
char *xc_plugins_list(const struct xc_plugin_entries *entries);

/* There is no such entry: says which ones there are. `what` is "command" or "flame graph". */
struct xc_error *xc_plugins_no_entry(const struct xc_plugin *plugin, const struct xc_plugin_entries *entries,
				     const char *what, const char *name);

/* Let every plugin that is for the job's target add to the job's report, each in a child of its own; what fails is a note. Errors: those of
 * xc_plugins_of. */
XC_MUST_CHECK struct xc_error *xc_plugins_analyze(struct xc_job *job);

/* After a command of the plugin failed: was it for this target at all? Sets the error's hint when not; err may be NULL. */
void xc_plugins_explain(struct xc_error *err, const struct xc_plugin *plugin, const struct xc_process *process);

#endif
