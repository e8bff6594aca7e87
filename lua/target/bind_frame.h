/* bind_frame: frames of a thread's stack as objects. */
#ifndef XC_BIND_FRAME_H
#define XC_BIND_FRAME_H

#include "dwarf/unwind/unwind.h"
#include "lua/vm/bind.h"

void xc_bind_frame_open(lua_State *L);

/* Push a table of the innermost `max` frames of a thread, inlined functions as frames of their own, and why the
 * stack ends. */
int xc_bind_push_frames(lua_State *L, const struct xc_thread *thread, uint64_t max);

/* Push one frame that is set, and set again, later: as of a function (no inlined ones) that `thread`, borrowed, runs.
 * callee: an address in what it called; 0: unknown. */
void *xc_bind_push_frame(lua_State *L);
void xc_bind_set_frame(void *frame, const struct xc_thread *thread, const struct xc_frame *at, xc_addr callee);

/* Push a table of all registers that are known, by name. */
void xc_bind_push_registers(lua_State *L, const struct xc_regs *regs);

#endif
