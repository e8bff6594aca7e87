/* bind_stacks: the object that a plugin's `stacks` function fills: code without call frame information, and frames
 * of interpreted languages. */
#ifndef XC_BIND_STACKS_H
#define XC_BIND_STACKS_H

#include "lua/vm/bind.h"

void xc_bind_stacks_open(lua_State *L);

/* Push one; its data go to the guests of the state's process (dwarf/cfi/foreign_frame.h). `language` is the default
 * language of rows. `detached`: stacks on no thread are wanted. */
void xc_bind_push_stacks(lua_State *L, const char *language, bool detached);

/* The method `code`: rules for code that has no call frame information. Argument 2 is its table; 1 is not used. */
int xc_bind_tell_code(lua_State *L);

#endif
