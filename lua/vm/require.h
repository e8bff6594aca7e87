/* require: how a plugin's file reaches its other parts.
 *
 * `require "redis.keys"` runs redis/keys.lua and `require "lib.walk"` lib/walk.lua, from the first of the host's module
 * directories that has it (plugindir.h says what is trusted there), once a state. Libraries that are open ("xcore", "string") are
 * found by their names. Nothing else is: a name is parts of [a-z0-9_] with dots between, two of them at least. */
#ifndef XC_REQUIRE_H
#define XC_REQUIRE_H

#include <lua.h>

/* Set the global `require`. */
void xc_require_open(lua_State *L);

#endif
