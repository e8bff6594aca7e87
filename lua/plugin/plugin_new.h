/* plugin_new: the beginning of a plugin: it runs and its tests pass. */
#ifndef XC_PLUGIN_NEW_H
#define XC_PLUGIN_NEW_H

#include "core/process/process.h"

struct xc_plugin_new {
	const char *dir;      /* the plugin directory; made when it is not there */
	const char *name;     /* see xc_plugin_is_name */
	const char *type;     /* that it shows: "struct client" */
	const char *variable; /* one of that type, for analyze; NULL: there is no analyze */
	const char *module;   /* of the program that it is for; NULL: whatever has the type */
};

/* Make NAME/init.lua and NAME/test/show.lua below dir. Errors: XC_ERR_USAGE for names that cannot be, and when NAME is there; of files. */
XC_MUST_CHECK struct xc_error *xc_plugin_new(const struct xc_plugin_new *what);

/* "client" as the type is called: "struct client". With a process it must have it; else the name's form decides. In the arena.
 * Errors: XC_ERR_NOT_FOUND, with names that are near; XC_ERR_USAGE when it has no fields. */
XC_MUST_CHECK struct xc_error *xc_plugin_new_type(const struct xc_process *process, struct xc_arena *arena,
						  const char *name, const char **type_out);

/* A variable of the program that is of this type or points to one; NULL when there is none. In the arena. */
const char *xc_plugin_new_variable(const struct xc_process *process, struct xc_arena *arena, const char *type);

#endif
