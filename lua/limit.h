/* limit: what a run has used of its limits (struct xc_limits of host.h), and how it ends when one is reached.
 *
 * A limit that was reached is final: the error goes through pcall, xpcall, coroutines, message handlers and __close
 * (safe_base.c, safe_coroutine.c), so that nothing of the script goes on. C code that calls lua_pcall, lua_resume or lua_load
 * itself must call xc_limit_check afterwards. */
#ifndef XC_LIMIT_H
#define XC_LIMIT_H

#include <lua.h>

#include "../core/text.h"
#include "host.h"

struct xc_limit {
	struct xc_limits limits;
	const char *name;         /* "plugin redis"; borrowed; may be NULL */
	lua_State *running;       /* the coroutine that runs now; NULL before the first run */
	uint64_t memory;          /* bytes that Lua has now */
	uint64_t ceiling;         /* and may have; 0: any number */
	uint64_t steps;           /* instructions, and what C functions charged */
	uint64_t started_ns;      /* CLOCK_MONOTONIC */
	void *refused;            /* the block that could not grow ... */
	size_t refused_size;      /* ... to this size; 0: none */
	bool short_of_memory;     /* something was refused in this run */
	volatile int interrupted; /* may be set by a signal handler: ends the run */
	bool tripped;             /* nothing more is run */
	char trip[160];           /* which limit, and the option that raises it */
	struct xc_text trace;     /* where */
};

/* Instructions between two looks at the limits. */
enum { XC_LIMIT_PERIOD = 1000 };

/* A state's allocator: user is its struct xc_limit. */
void *xc_limit_allocate(void *limit, void *block, size_t old, size_t size);

/* Begin a run: nothing used but memory, nothing tripped. */
void xc_limit_start(struct xc_limit *limit, lua_State *L);
void xc_limit_fini(struct xc_limit *limit);

/* Charge a C function's work: a step is about what an instruction costs. Raises when a limit is or was reached, so
 * nothing that must be released may be alive. */
void xc_limit_spend(lua_State *L, uint64_t steps);

/* After a protected call, or in a message handler: raise when a limit was reached, also when the error at the top of the
 * stack (of a status that is not LUA_OK) says that there is no memory. */
void xc_limit_check(lua_State *L, int status);

/* Collect garbage when `bytes` more would not fit: for what asks for one large block in a way that does not (luaL_Buffer). */
void xc_limit_make_room(lua_State *L, uint64_t bytes);

/* Let the kernel end this process (SIGALRM) when the time is over and `grace` seconds more: for a child that runs a script, since
 * a C function may be long and a parent behind the fence of calls may not send signals. Does nothing without a limit. */
void xc_limit_arm(const struct xc_limits *limits, double grace);

#endif
