/* plugin_new: creates the skeleton of a plugin: it runs, and its tests pass. */
#ifndef XC_PLUGIN_NEW_H
#define XC_PLUGIN_NEW_H

#include "core/process/process.h"

struct xc_plugin_new {
	const char *dir;      /* the plugin directory; created if needed */
	const char *name;     /* see xc_plugin_is_name */
	const char *type;     /* the type to show: "struct client" */
	const char *variable; /* a variable of that type, for analyze; NULL: no analyze */
	const char *module;   /* the module to match; NULL: any program with the type */
};

/* Create NAME/init.lua and NAME/test/show.lua below dir. Errors: XC_ERR_USAGE for invalid names, and when NAME
 * exists; errors of files. */
XC_MUST_CHECK struct xc_error *xc_plugin_new(const struct xc_plugin_new *what);

/* The full name of the type "client": "struct client". A process must have it; without one the form of the name
 * decides. In the arena. Errors: XC_ERR_NOT_FOUND, with similar names; XC_ERR_USAGE when it has no fields. */
XC_MUST_CHECK struct xc_error *xc_plugin_new_type(const struct xc_process *process, struct xc_arena *arena,
						  const char *name, const char **type_out);

/* A variable of this type, or a pointer to it, in the program; NULL when there is none. In the arena. */
const char *xc_plugin_new_variable(const struct xc_process *process, struct xc_arena *arena, const char *type);

#endif
