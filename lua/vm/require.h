/* require: access of a plugin's file to its other parts.
 *
 * `require "redis.keys"` runs redis/keys.lua and `require "lib.walk"` runs lib/walk.lua, once per state, from the
 * first of the host's module directories that has it (plugindir.h defines which files are trusted). Open libraries
 * ("xcore", "string") are found by name. Nothing else is found: a name consists of two or more parts of [a-z0-9_],
 * separated by dots. */
#ifndef XC_REQUIRE_H
#define XC_REQUIRE_H

#include <lua.h>

/* Set the global `require`. */
void xc_require_open(lua_State *L);

#endif
