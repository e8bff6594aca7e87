/* limit: the resources that a run has used of its limits (struct xc_limits of host.h), and its end when a limit is
 * reached.
 *
 * The error of a limit cannot be caught: it passes through pcall, xpcall, coroutines, message handlers and __close
 * (safe_base.c, safe_coroutine.c), so that no code of the script runs afterwards. C code that itself calls
 * lua_pcall, lua_resume or lua_load must call xc_limit_check afterwards. */
#ifndef XC_LIMIT_H
#define XC_LIMIT_H

#include <lauxlib.h>
#include <lua.h>

#include "core/base/text.h"
#include "lua/vm/host.h"

struct xc_limit {
	struct xc_limits limits;
	const char *name;         /* "plugin redis"; borrowed; may be NULL */
	lua_State *running;       /* the coroutine that runs now; NULL before the first run */
	uint64_t memory, peak;    /* bytes in use by Lua now, and at most */
	uint64_t ceiling;         /* the most it may use; 0: no limit */
	uint64_t printed;         /* bytes of lines */
	uint64_t steps;           /* instructions, and steps charged by C functions */
	uint64_t started_ns;      /* CLOCK_MONOTONIC, moved forward by all pauses */
	uint64_t rested_ns;       /* when the last pause began; 0: running */
	uint64_t late_cpu_ns;     /* the thread's CPU time when it was found late; 0: it is not */
	void *refused;            /* the block that could not grow ... */
	size_t refused_size;      /* ... to this size; 0: none */
	bool short_of_memory;     /* an allocation was refused in this run */
	volatile int interrupted; /* may be set by a signal handler: ends the run */
	bool tripped;             /* no more code is run */
	unsigned closing;         /* nested coroutines that are being closed */
	char trip[160];           /* the message: which limit, and the option that raises it */
	struct xc_text trace;     /* where */
};

/* Instructions between two checks of the limits. */
enum { XC_LIMIT_PERIOD = 1000 };

/* The allocator of a state; its user data is the struct xc_limit. */
void *xc_limit_allocate(void *limit, void *block, size_t old, size_t size);

/* Begin a run: only memory counts as used, no limit is reached. A run that was interrupted before it began ends at
 * once. */
void xc_limit_start(struct xc_limit *limit, lua_State *L);
void xc_limit_fini(struct xc_limit *limit);

/* Within a run that reached no limit: the instructions and the time so far do not count any more. */
void xc_limit_renew(struct xc_limit *limit);

/* Pause the clock between two calls of a run, and continue it. */
void xc_limit_rest(struct xc_limit *limit);
void xc_limit_wake(struct xc_limit *limit);

/* Charge the work of a C function; a step costs about as much as an instruction. Raises when a limit is or was
 * reached, so hold nothing that needs release. */
void xc_limit_spend(lua_State *L, uint64_t steps);

/* Before a line is printed: raises when it is one too many. */
void xc_limit_print(lua_State *L, const char *line, size_t len);

/* After a protected call: raise when a limit was reached, also when the status reports lack of memory. */
void xc_limit_check(lua_State *L, int status);

/* For message handlers, in which raising would call them again: was a limit reached? xc_limit_trace records the
 * traceback. */
bool xc_limit_is_over(lua_State *L, int status); /* never raises */
void xc_limit_trace(lua_State *L);

/* Before an allocation of `bytes`: collect garbage to make room, and raise when that is not enough. Allocations of a
 * luaL_Buffer are refused without a collection, and their errors have no traceback. */
void xc_limit_make_room(lua_State *L, uint64_t bytes);

/* The same before `more` bytes are added to a buffer. */
void xc_limit_make_room_in(lua_State *L, const luaL_Buffer *buffer, size_t more);

/* Count memory that an object owns outside of Lua's heap: it was *counted and is `now`. Never raises: make room
 * first. */
void xc_limit_hold(lua_State *L, uint64_t *counted, uint64_t now);

/* Let the kernel end this process (SIGALRM) when the time limit and `grace` more seconds have passed: for a child
 * that runs a script, since a C function may run long, and a sandboxed parent must not send signals. Does nothing
 * without a time limit. */
void xc_limit_arm(const struct xc_limits *limits, double grace);

#endif
