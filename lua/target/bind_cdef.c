/* bind_cdef: xcore.cdef. All texts of a state share one scope, so that a text may use earlier declarations; a private
 * text has its own scope, which ends with its object (the types live as long as the process).
 *
 * Without a target (reading a manifest) declarations are not parsed, since their sizes depend on the machine. */
#include <string.h>

#include "lua/bind/bind_class.h"
#include "lua/cdef/cdef.h"

enum { STEPS_A_BYTE = 4, TEXTS = 64 << 20 /* bytes of all texts of a state */ };

static const char TOLD; /* the registry's key: how many there were */

struct declarations {
	struct xc_cdef *own; /* the scope of a private text; NULL: the scope of the state */
};

static int declared_type(lua_State *L);
static int declared_constant(lua_State *L);
static int declared_gc(lua_State *L);

static const luaL_Reg methods[] = {{"type", declared_type}, {"constant", declared_constant}, {NULL, NULL}};
static const luaL_Reg metamethods[] = {{"__gc", declared_gc}, {NULL, NULL}};
static const struct xc_bind_class class = {
	.name = "xcore.Declarations", .noun = "declarations", .methods = methods, .metamethods = metamethods};

static int declared_gc(lua_State *L)
{
	struct declarations *self = lua_touserdata(L, 1);
	xc_cdef_free(self->own);
	self->own = NULL;
	return 0;
}

/* The scope of argument 1, and the name that argument 2 is. */
static struct xc_cdef *check_scope(lua_State *L, const char **name_out)
{
	const struct declarations *self = xc_bind_class_check(L, 1, &class);
	size_t len;
	*name_out = luaL_checklstring(L, 2, &len);
	luaL_argcheck(L, strlen(*name_out) == len, 2, "a name without NUL bytes");
	struct xc_cdef *scope = self->own ? self->own : xc_bind_host(L)->cdef;
	if (!scope)
		xc_bind_fail(L, XC_ERR_USAGE, "there is no target for these types");
	xc_limit_spend(L, len * STEPS_A_BYTE);
	return scope;
}

static int declared_type(lua_State *L)
{
	const struct xc_type *type = NULL;
	const char *name;
	struct xc_cdef *scope = check_scope(L, &name);
	xc_bind_raise(L, xc_cdef_type(scope, name, &type));
	xc_bind_push_type(L, type);
	return 1;
}

static int declared_constant(lua_State *L)
{
	int64_t value = 0;
	const char *name;
	struct xc_cdef *scope = check_scope(L, &name);
	xc_bind_raise(L, xc_cdef_constant(scope, name, &value));
	lua_pushinteger(L, value);
	return 1;
}

static bool wants_private(lua_State *L)
{
	if (lua_isnoneornil(L, 2))
		return false;
	luaL_checktype(L, 2, LUA_TTABLE);
	lua_pushliteral(L, "private");
	lua_rawget(L, 2);
	return lua_toboolean(L, -1);
}

/* Types live as long as the process, in memory that Lua's limit does not count: about 20 bytes per byte of text. */
static void charge(lua_State *L, size_t len)
{
	xc_limit_spend(L, len * STEPS_A_BYTE);
	lua_rawgetp(L, LUA_REGISTRYINDEX, &TOLD);
	uint64_t told = (uint64_t)lua_tointeger(L, -1);
	if (len > TEXTS - told)
		xc_bind_fail(L, XC_ERR_LIMIT, "declarations of more than %d MiB: keep them in variables", TEXTS >> 20);
	lua_pushinteger(L, (lua_Integer)(told + len));
	lua_rawsetp(L, LUA_REGISTRYINDEX, &TOLD);
	lua_pop(L, 1);
}

static int cdef(lua_State *L)
{
	struct xc_host *host = xc_bind_host(L);
	size_t len;
	const char *text = luaL_checklstring(L, 1, &len);
	luaL_argcheck(L, strlen(text) == len, 1, "a text without NUL bytes");
	charge(L, len);
	bool private = wants_private(L);
	struct declarations *self = xc_bind_class_new(L, &class, sizeof *self);
	if (!host->process)
		return 1;
	if (private)
		self->own = xc_cdef_new(host->process);
	else if (!host->cdef)
		host->cdef = xc_cdef_new(host->process);
	xc_bind_raise(L, xc_cdef_declare(private ? self->own : host->cdef, text));
	return 1;
}

void xc_bind_cdef_open(lua_State *L)
{
	xc_bind_class_open(L, &class);
	lua_pushcfunction(L, cdef);
	lua_setfield(L, -2, "cdef");
}
