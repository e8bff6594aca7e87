/* limit: what a run has used of its limits (struct xc_limits of host.h), and how it ends when one is reached.
 *
 * A limit that was reached is final: the error goes through pcall, xpcall, coroutines, message handlers and __close
 * (safe_base.c, safe_coroutine.c), so that nothing of the script goes on. C code that calls lua_pcall, lua_resume or lua_load
 * itself must call xc_limit_check afterwards. */
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
	uint64_t memory, peak;    /* bytes that Lua has now, and had at most */
	uint64_t ceiling;         /* and may have; 0: any number */
	uint64_t steps;           /* instructions, and what C functions charged */
	uint64_t started_ns;      /* CLOCK_MONOTONIC, moved on by all rests */
	uint64_t rested_ns;       /* when the last rest began; 0: it runs */
	void *refused;            /* the block that could not grow ... */
	size_t refused_size;      /* ... to this size; 0: none */
	bool short_of_memory;     /* something was refused in this run */
	volatile int interrupted; /* may be set by a signal handler: ends the run */
	bool tripped;             /* nothing more is run */
	unsigned closing;         /* coroutines that are being closed, one within the other */
	char trip[160];           /* which limit, and the option that raises it */
	struct xc_text trace;     /* where */
};

/* Instructions between two looks at the limits. */
enum { XC_LIMIT_PERIOD = 1000 };

/* A state's allocator: user is its struct xc_limit. */
void *xc_limit_allocate(void *limit, void *block, size_t old, size_t size);

/* Begin a run: nothing used but memory, nothing tripped. What was interrupted before it begins, ends at once. */
void xc_limit_start(struct xc_limit *limit, lua_State *L);
void xc_limit_fini(struct xc_limit *limit);

/* Between two calls of a run its time stands still. */
void xc_limit_rest(struct xc_limit *limit);
void xc_limit_wake(struct xc_limit *limit);

/* Charge a C function's work: a step is about what an instruction costs. Raises when a limit is or was reached, so
 * nothing that must be released may be alive. */
void xc_limit_spend(lua_State *L, uint64_t steps);

/* After a protected call: raise when a limit was reached, also when the status says that there is no memory. */
void xc_limit_check(lua_State *L, int status);

/* For message handlers, in which raising would call them again: is it so? And keep where. */
bool xc_limit_is_over(lua_State *L, int status); /* never raises */
void xc_limit_trace(lua_State *L);

/* Before `bytes` are asked for at once: make room by collecting garbage, and raise when that does not help. What a buffer of
 * Lua's (luaL_Buffer) asks for is refused without a collection, and the error then has no traceback. */
void xc_limit_make_room(lua_State *L, uint64_t bytes);

/* The same before `more` bytes are added to a buffer. */
void xc_limit_make_room_in(lua_State *L, const luaL_Buffer *buffer, size_t more);

/* Memory that an object has beside Lua's own counts, too: `*counted` of it did, `now` does from here on. Never raises: make room before. */
void xc_limit_hold(lua_State *L, uint64_t *counted, uint64_t now);

/* Let the kernel end this process (SIGALRM) when the time is over and `grace` seconds more: for a child that runs a script, since
 * a C function may be long and a parent behind the fence of calls may not send signals. Does nothing without a limit. */
void xc_limit_arm(const struct xc_limits *limits, double grace);

#endif
