/* safe: the standard libraries, without what opens files, loads code that is no text, or runs without limits.
 *
 * What differs from the Lua 5.4 manual:
 * - no io, os, package, dofile, loadfile, warn, string.dump; of debug only traceback;
 * - load takes text only; collectgarbage knows "collect", "count" and "step"; setmetatable takes no __gc, since
 *   finalizers run without hooks; getmetatable gives metatables of tables only;
 * - a limit that was reached goes through pcall, xpcall and coroutines (limit.h);
 * - functions that loop in C charge their steps (string patterns: pattern.h; string.rep; table.*); table.sort is stable and
 *   ends whatever the comparator says; table.* work on tables only;
 * - pairs walks a table with strings for keys in their order, so that it is the same in each run (next does not: Lua's is another
 *   each time);
 * - math.random gives the same numbers in each run until math.randomseed is called with numbers. */
#ifndef XC_SAFE_H
#define XC_SAFE_H

#include <stdbool.h>

#include <lua.h>

/* Set the globals. `unsafe`: io, os, package, require, dofile, loadfile, load of bytecode and all of debug too; limits
 * hold as far as scripts do not lift them by that. */
void xc_safe_open(lua_State *L, bool unsafe);

/* Each changes the library that is the table at the top of the stack: for safe.c. */
void xc_safe_base(lua_State *L);
void xc_safe_load(lua_State *L);
void xc_safe_pairs(lua_State *L);
void xc_safe_coroutine(lua_State *L);
void xc_safe_string(lua_State *L);
void xc_safe_table(lua_State *L);

#endif
