/* bind_frame: frames of a thread's stack as objects. */
#ifndef XC_BIND_FRAME_H
#define XC_BIND_FRAME_H

#include "lua/vm/bind.h"

void xc_bind_frame_open(lua_State *L);

/* Push a table of the innermost `max` frames of a thread, inlined functions as frames of their own, and why the
 * stack ends. */
int xc_bind_push_frames(lua_State *L, const struct xc_thread *thread, uint64_t max);

#endif
