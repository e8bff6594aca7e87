/* plugin_dir: a directory with the test's plugins. */
#ifndef XC_TEST_PLUGIN_DIR_H
#define XC_TEST_PLUGIN_DIR_H

#include "lua/plugin/plugin.h"
#include "tests/support/check.h"
#include "tests/support/scratch.h"

static inline const char *put(const char *name, const char *text)
{
	return scratch_file(name, text, strlen(text));
}

/* Only the test's plugins: none of the user's. */
static inline void open_dir(struct xc_plugins *plugins, const char *name)
{
	const char *dirs[] = {scratch_path(name)};
	setenv("XDG_DATA_HOME", scratch_path("nothing/here"), 1);
	CHECK_OK(xc_plugins_open(plugins, dirs, 1));
}

static inline struct xc_plugin *named(struct xc_plugins *plugins, const char *name)
{
	struct xc_plugin *plugin = NULL;
	CHECK_OK(xc_plugins_named(plugins, name, &plugin));
	return plugin;
}

#endif
