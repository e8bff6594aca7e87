/* bind_index: `obj.field` and `obj[i]` in Lua, the metamethod __index of values. */
#ifndef XC_BIND_INDEX_H
#define XC_BIND_INDEX_H

#include "lua/vm/bind.h"

/* A lua_CFunction; upvalue 1 is the metatable of values. */
int xc_bind_index(lua_State *L);

#endif
