/* pretty: any Lua value for display at a prompt: values of the target with their types, on lines that fit; lists of
 * records as tables; strings quoted and escaped. */
#ifndef XC_PRETTY_H
#define XC_PRETTY_H

#include "lua/vm/bind.h"

/* Append the value at `index`. Calls __tostring of foreign objects, so it may raise: the text must be the host's
 * `shown` (xc_bind_scratch is used inside). Bounded: long and deep tables are cut with "…". */
void xc_pretty_write(lua_State *L, int index, struct xc_text *text, unsigned width);

#endif
