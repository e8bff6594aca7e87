/* plugin: what is installed, what each says of itself (its manifest), whether it is for a target, and calling it.
 *
 * A plugin is NAME.lua or NAME/init.lua in one of the plugin directories (plugindir.h); it returns a table (xcore.Plugin in
 * xcore.d.lua). Finding plugins reads no file; a manifest is read once, when it is first asked for, by running the file in a
 * state of its own without a target and with tight limits. A broken plugin is one with a reason, never a stop. Not thread-safe. */
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

/* Find what is installed: names only. Errors: those of xc_plugindirs_open. */
XC_MUST_CHECK struct xc_error *xc_plugins_open(struct xc_plugins *plugins, const char *const *extra,
					       size_t extra_count);
void xc_plugins_fini(struct xc_plugins *plugins);

/* The plugin with this name, its manifest read. Errors: XC_ERR_NOT_FOUND with a hint at what is near; the reason of a broken
 * one. */
XC_MUST_CHECK struct xc_error *xc_plugins_named(struct xc_plugins *plugins, const char *name,
						struct xc_plugin **plugin_out);

/* The file that the user names, which may be anywhere and anybody's. When it returns a table with a name it is a plugin, else a
 * script, of which only the text is known (about is NULL). It is not among the items; it lives as long as they.
 * Errors: the file cannot be read; a plugin that is broken. */
XC_MUST_CHECK struct xc_error *xc_plugins_file(struct xc_plugins *plugins, const char *file,
					       struct xc_plugin **plugin_out);

/* Read its manifest, unless that was done. False: it is broken. */
bool xc_plugin_read(struct xc_plugins *plugins, struct xc_plugin *plugin);

/* Does its own file have this word? Costs less than the manifest, so it is asked before that where hardly any plugin has something to say. */
bool xc_plugin_mentions(struct xc_plugin *plugin, const char *word);

/* Is it for this target? The manifest must have been read. why_out (malloc'ed; may be NULL) gets the reason: "module
 * redis-server", "no symbol redisServer". Types are looked for only when everything else was found. */
bool xc_plugin_matches(const struct xc_plugin *plugin, const struct xc_process *process, char **why_out);

/* Where `require` looks: the plugin's own directory first, then all in order; NULL for a script. In the arena. */
const char *const *xc_plugin_module_dirs(struct xc_plugins *plugins, const struct xc_plugin *plugin, size_t *count_out);

#endif
