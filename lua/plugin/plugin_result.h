/* plugin_result: what a plugin answered, as a table that its tests look at (plugin_test.h). */
#ifndef XC_PLUGIN_RESULT_H
#define XC_PLUGIN_RESULT_H

#include <lua.h>

#include "core/report/report.h"
#include "core/report/stacktree.h"

/* Push { sections = …, output = …, error = …, flame = … }. The plugin's name is taken off keys of sections ("redis.keys" is "keys").
 * Raises when there is no memory. tree and error may be NULL. */
void xc_plugin_result_push(lua_State *L, const struct xc_report *report, const char *plugin, const char *error,
			   const struct xc_stacktree *tree);

#endif
