/* bind_class: the objects of the API that are no values of the target: the target, types, threads, frames.
 *
 * An object is userdata. Its properties are worked out when they are read, its methods are called with a colon. A name that it
 * does not have raises `usage` and says which one is near, and nothing can be assigned: a slip of the pen is never nil. */
#ifndef XC_BIND_CLASS_H
#define XC_BIND_CLASS_H

#include "lua/vm/bind.h"

/* `push` pushes one value and may raise; self is what xc_bind_class_new returned. */
struct xc_bind_property {
	const char *name;
	void (*push)(lua_State *L, void *self);
};

struct xc_bind_class {
	const char *name;                          /* "xcore.Thread": how __name, and so messages, have it */
	const char *noun;                          /* "a thread" */
	const struct xc_bind_property *properties; /* up to one without a name */
	const luaL_Reg *methods;
	const luaL_Reg *metamethods; /* beside __index, __newindex; NULL: none */
};

/* Make the class known to a state; before its first object. */
void xc_bind_class_open(lua_State *L, const struct xc_bind_class *class);

/* More methods for an open class. */
void xc_bind_class_add(lua_State *L, const struct xc_bind_class *class, const luaL_Reg *methods);

/* Push a new object of `size` bytes, zeroed, with two user values (nil) for what it keeps alive. */
void *xc_bind_class_new(lua_State *L, const struct xc_bind_class *class, size_t size);

/* The argument as an object of the class: NULL when it is none, or raise. */
void *xc_bind_class_test(lua_State *L, int arg, const struct xc_bind_class *class);
void *xc_bind_class_check(lua_State *L, int arg, const struct xc_bind_class *class);

/* The class of xcore.target: who has methods for it adds them when the state opens, after xc_bind_target_open. */
extern const struct xc_bind_class xc_bind_target_class;

/* Parts of the target, opened by xc_bind_target_open. */
void xc_bind_memory_open(lua_State *L);
void xc_bind_find_open(lua_State *L);
void xc_bind_symbol_open(lua_State *L);
void xc_bind_module_open(lua_State *L);
void xc_bind_thread_open(lua_State *L);
void xc_bind_heap_open(lua_State *L);
void xc_bind_disas_open(lua_State *L);

/* For methods of the target, first of all: checks that argument 1 is the target. Raises `usage` when the state has none. */
struct xc_host *xc_bind_check_target(lua_State *L);

#endif
