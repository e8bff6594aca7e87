/* plugin_result: the results of a plugin, as a table for its tests (plugin_test.h). */
#ifndef XC_PLUGIN_RESULT_H
#define XC_PLUGIN_RESULT_H

#include <lua.h>

#include "core/report/report.h"
#include "core/report/stacktree.h"

/* Push { sections = …, output = …, error = …, flame = … }. The plugin's name is removed from keys of sections
 * ("redis.keys" is "keys"). Raises when memory is short. tree and error may be NULL. */
void xc_plugin_result_push(lua_State *L, const struct xc_report *report, const char *plugin, const char *error,
			   const struct xc_stacktree *tree);

#endif
