/* pattern: string.find, match, gmatch and gsub as specified in the Lua 5.4 manual (section 6.4.1), with every step
 * charged to the limits of the run. Lua's own functions run for years on `("a"):rep(50):find(("a*"):rep(50) ..
 * "b")`, where no hook fires. */
#ifndef XC_PATTERN_H
#define XC_PATTERN_H

#include <lua.h>

/* Replace the four functions of the string library, which is the table on top of the stack. */
void xc_pattern_open(lua_State *L);

#endif
