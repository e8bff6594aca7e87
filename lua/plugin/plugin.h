/* plugin: the installed plugins, their manifests, and whether they match a target.
 *
 * A plugin is NAME.lua or NAME/init.lua in one of the plugin directories (plugindir.h); it returns a table
 * (xcore.Plugin in xcore.d.lua). Finding plugins reads no file; a manifest is read once, on first use, by running
 * the file in a state of its own without a target and with tight limits. A broken plugin has a reason and stops
 * nothing. Not thread-safe. */
#ifndef XC_PLUGIN_H
#define XC_PLUGIN_H

#include "core/process/process.h"
#include "lua/plugin/plugin_manifest.h"
#include "lua/vm/plugindir.h"

struct xc_plugins {
	struct xc_arena arena;
	struct xc_plugindirs dirs;
	struct xc_plugin **items; /* by name */
	size_t count, capacity;
	struct xc_plugin *files; /* those of xc_plugins_file */
};

/* Find the installed plugins: names only. Errors: those of xc_plugindirs_open. */
XC_MUST_CHECK struct xc_error *xc_plugins_open(struct xc_plugins *plugins, const char *const *extra,
					       size_t extra_count);
void xc_plugins_fini(struct xc_plugins *plugins);

/* The plugin with this name, with its manifest. Errors: XC_ERR_NOT_FOUND with a hint at similar names; the reason of
 * a broken one. */
XC_MUST_CHECK struct xc_error *xc_plugins_named(struct xc_plugins *plugins, const char *name,
						struct xc_plugin **plugin_out);

/* A file that the user names, with any place and owner. If it returns a table with a name it is a plugin, else a
 * script, which has only a text (about is NULL). It is not among the items, and lives as long as they do. Errors:
 * the file cannot be read; the plugin is broken. */
XC_MUST_CHECK struct xc_error *xc_plugins_file(struct xc_plugins *plugins, const char *file,
					       struct xc_plugin **plugin_out);

/* Read its manifest, once. False: it is broken. */
bool xc_plugin_read(struct xc_plugins *plugins, struct xc_plugin *plugin);

/* Does its file contain this word? Cheaper than the manifest: used first when few plugins can have the feature. */
bool xc_plugin_mentions(struct xc_plugin *plugin, const char *word);

/* Does it match this target? The manifest must have been read. why_out (malloc'ed; may be NULL) gets the reason:
 * "module redis-server", "no symbol redisServer". Types are checked only when everything else matches. */
bool xc_plugin_matches(const struct xc_plugin *plugin, const struct xc_process *process, char **why_out);

/* The directories of `require`: the plugin's own first, then all in order; NULL for a script. In the arena. */
const char *const *xc_plugin_module_dirs(struct xc_plugins *plugins, const struct xc_plugin *plugin, size_t *count_out);

#endif
