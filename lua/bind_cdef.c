/* bind_cdef: xcore.cdef. All texts of a state make one scope, so that a later one may use what an earlier one declared.
 *
 * Where there is no target a plugin is only looked at: its declarations are not read, since their sizes depend on the machine. */
#include <string.h>

#include "bind_class.h"
#include "cdef.h"

enum { STEPS_A_BYTE = 4 };

static const char *check_name(lua_State *L)
{
	size_t len;
	const char *name = luaL_checklstring(L, 2, &len);
	luaL_argcheck(L, strlen(name) == len, 2, "a name without zero bytes");
	if (!xc_bind_host(L)->cdef)
		xc_bind_fail(L, XC_ERR_USAGE, "there is no target whose types these are");
	xc_limit_spend(L, len * STEPS_A_BYTE);
	return name;
}

static int declared_type(lua_State *L);
static int declared_constant(lua_State *L);

static const luaL_Reg methods[] = {{"type", declared_type}, {"constant", declared_constant}, {NULL, NULL}};
static const struct xc_bind_class class = {.name = "xcore.Declarations", .noun = "declarations", .methods = methods};

static int declared_type(lua_State *L)
{
	const struct xc_type *type = NULL;
	xc_bind_class_check(L, 1, &class);
	const char *name = check_name(L);
	xc_bind_raise(L, xc_cdef_type(xc_bind_host(L)->cdef, name, &type));
	xc_bind_push_type(L, type);
	return 1;
}

static int declared_constant(lua_State *L)
{
	int64_t value = 0;
	xc_bind_class_check(L, 1, &class);
	const char *name = check_name(L);
	xc_bind_raise(L, xc_cdef_constant(xc_bind_host(L)->cdef, name, &value));
	lua_pushinteger(L, value);
	return 1;
}

static int cdef(lua_State *L)
{
	struct xc_host *host = xc_bind_host(L);
	size_t len;
	const char *text = luaL_checklstring(L, 1, &len);
	luaL_argcheck(L, strlen(text) == len, 1, "a text without zero bytes");
	xc_limit_spend(L, len * STEPS_A_BYTE);
	if (host->process && !host->cdef)
		host->cdef = xc_cdef_new(host->process);
	if (host->cdef)
		xc_bind_raise(L, xc_cdef_declare(host->cdef, text));
	xc_bind_class_new(L, &class, 1);
	return 1;
}

void xc_bind_cdef_open(lua_State *L)
{
	xc_bind_class_open(L, &class);
	lua_pushcfunction(L, cdef);
	lua_setfield(L, -2, "cdef");
}
