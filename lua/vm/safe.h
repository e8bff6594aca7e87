/* safe: the standard libraries, without functions that open files, load bytecode, or run without limits.
 *
 * Differences from the Lua 5.4 manual:
 * - no io, os, package, dofile, loadfile, warn, string.dump; of debug only traceback;
 * - load takes text only; collectgarbage knows "collect", "count" and "step"; setmetatable takes no __gc, since
 *   finalizers run without hooks; getmetatable gives metatables of tables only;
 * - the error of a limit passes through pcall, xpcall and coroutines (limit.h);
 * - functions that loop in C charge their steps (string patterns: pattern.h; string.rep; table.*); table.sort is stable
 *   and terminates with any comparator; table.* work on tables only;
 * - pairs visits string keys in sorted order, so that the order is the same in each run (the order of next differs
 *   from run to run);
 * - tostring, print and %s number tables, functions and the like ("table: #1") instead of showing where they lie;
 *   string.format has no %p;
 * - math.random gives the same numbers in each run until math.randomseed is called with numbers. */
#ifndef XC_SAFE_H
#define XC_SAFE_H

#include <stdbool.h>

#include <lua.h>

/* Set the globals. `unsafe`: also io, os, package, require, dofile, loadfile, load of bytecode and all of debug; the
 * limits then hold only as far as scripts do not circumvent them. */
void xc_safe_open(lua_State *L, bool unsafe);

/* For safe.c: each changes the library that is the table at the top of the stack. */
void xc_safe_base(lua_State *L);
void xc_safe_load(lua_State *L);
void xc_safe_pairs(lua_State *L);
void xc_safe_coroutine(lua_State *L);
void xc_safe_string(lua_State *L);
void xc_safe_tostring(lua_State *L);
void xc_safe_format(lua_State *L);
void xc_safe_files(lua_State *L);
void xc_safe_table(lua_State *L);

#endif
