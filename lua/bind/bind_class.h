/* bind_class: objects of the API that are not values of the target: the target, types, threads, frames.
 *
 * An object is a userdata. Its properties are computed when they are read, its methods are called with a colon. An
 * unknown name raises `usage` with a suggestion, and nothing can be assigned, so a typing error never gives nil. */
#ifndef XC_BIND_CLASS_H
#define XC_BIND_CLASS_H

#include "lua/vm/bind.h"

/* `push` pushes one value and may raise; self is what xc_bind_class_new returned. */
struct xc_bind_property {
	const char *name;
	void (*push)(lua_State *L, void *self);
};

struct xc_bind_class {
	const char *name;                          /* "xcore.Thread": the value of __name, used in messages */
	const char *noun;                          /* "a thread" */
	const struct xc_bind_property *properties; /* ends with an entry without a name */
	const luaL_Reg *methods;
	const luaL_Reg *metamethods; /* besides __index, __newindex; NULL: none */
};

/* Register the class in a state, before its first object. */
void xc_bind_class_open(lua_State *L, const struct xc_bind_class *class);

/* Add methods to a registered class. */
void xc_bind_class_add(lua_State *L, const struct xc_bind_class *class, const luaL_Reg *methods);

/* Push a new object of `size` bytes, zeroed, with two user values (nil) for objects that it must keep alive. */
void *xc_bind_class_new(lua_State *L, const struct xc_bind_class *class, size_t size);

/* The argument as an object of the class. xc_bind_class_test: NULL when it is not one; xc_bind_class_check raises
 * then. */
void *xc_bind_class_test(lua_State *L, int arg, const struct xc_bind_class *class);
void *xc_bind_class_check(lua_State *L, int arg, const struct xc_bind_class *class);

/* The class of xcore.target. Files with methods for it add them when the state opens, after xc_bind_target_open. */
extern const struct xc_bind_class xc_bind_target_class;

/* Parts of the target, opened by xc_bind_target_open. */
void xc_bind_memory_open(lua_State *L);
void xc_bind_find_open(lua_State *L);
void xc_bind_symbol_open(lua_State *L);
void xc_bind_module_open(lua_State *L);
void xc_bind_thread_open(lua_State *L);
void xc_bind_heap_open(lua_State *L);
void xc_bind_disas_open(lua_State *L);
void xc_bind_profile_open(lua_State *L);

/* For methods of the target, called first: check that argument 1 is the target. Raises `usage` when the state has
 * none. */
struct xc_host *xc_bind_check_target(lua_State *L);

#endif
