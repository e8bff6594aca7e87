/* bind_target: the target and its names: t:var, t:type, t:value, t:eval. */
#include "bind.h"

#include <string.h>

#include "../core/arch.h"
#include "../dwarf/cexpr.h"
#include "../dwarf/symbol.h"

/* Variables by name are expressions without a frame. */
static struct xc_error *variable(lua_State *L, const char *name, struct xc_value *out)
{
	struct xc_process *process = xc_bind_host(L)->process;
	struct xc_standpoint nowhere = {.process = process};
	return xc_cexpr_value(&nowhere, name, &process->arena, out);
}

static int target_var(lua_State *L)
{
	const char *name = luaL_checkstring(L, 2);
	struct xc_value value;
	xc_bind_raise(L, variable(L, name, &value));
	xc_bind_push(L, &value, xc_path_root(&xc_bind_host(L)->paths, name));
	return 1;
}

static int target_ref(lua_State *L)
{
	const char *name = luaL_checkstring(L, 2);
	struct xc_value value;
	xc_bind_raise(L, variable(L, name, &value));
	xc_bind_push_reference(L, &value, xc_path_root(&xc_bind_host(L)->paths, name));
	return 1;
}

static int target_type(lua_State *L)
{
	xc_bind_push_type(L, xc_bind_check_type(L, 2));
	return 1;
}

static int target_value(lua_State *L)
{
	const struct xc_type *type = xc_bind_check_type(L, 2);
	struct xc_value value = xc_value_memory(xc_bind_host(L)->process, type, xc_bind_check_address(L, 3));
	xc_bind_push(L, &value, NULL);
	return 1;
}

static int target_has_var(lua_State *L)
{
	struct xc_value value;
	struct xc_error *err = variable(L, luaL_checkstring(L, 2), &value);
	xc_error_free(err);
	lua_pushboolean(L, !err);
	return 1;
}

static int target_has_type(lua_State *L)
{
	const struct xc_type *type;
	struct xc_error *err = xc_bind_type_named(xc_bind_host(L), luaL_checkstring(L, 2), &type);
	xc_error_free(err);
	lua_pushboolean(L, !err);
	return 1;
}

static int target_has_symbol(lua_State *L)
{
	lua_pushboolean(L, xc_symbol_find(xc_bind_host(L)->process, luaL_checkstring(L, 2), NULL, NULL) != NULL);
	return 1;
}

static const luaL_Reg methods[] = {
	{"var", target_var},
	{"ref", target_ref},
	{"type", target_type},
	{"value", target_value},
	{"has_var", target_has_var},
	{"has_type", target_has_type},
	{"has_symbol", target_has_symbol},
	{NULL, NULL},
};

void xc_bind_target_open(lua_State *L)
{
	lua_newtable(L);
	luaL_setfuncs(L, methods, 0);
	lua_setfield(L, -2, "target");
}
