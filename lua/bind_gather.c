/* bind_gather: xcore.gather: members of structs that lie anywhere, as columns (rows.h). */
#include <string.h>

#include "rows.h"

enum { TYPE = 1, ADDRESSES, FIELDS, OPTIONS };

static bool is_partial(lua_State *L)
{
	if (lua_isnil(L, OPTIONS))
		return false;
	luaL_checktype(L, OPTIONS, LUA_TTABLE);
	lua_getfield(L, OPTIONS, "partial");
	bool partial = lua_toboolean(L, -1);
	lua_pop(L, 1);
	return partial;
}

static xc_addr address_at(lua_State *L, size_t row)
{
	if (xc_bind_test(L, lua_gettop(L)))
		return xc_bind_check_address(L, lua_gettop(L));
	return (xc_addr)xc_bind_fail(L, XC_ERR_USAGE, "addresses: row %zu is a %s value and no address", row,
				     luaL_typename(L, -1));
}

/* The column of addresses, in a userdata that is pushed. With `partial` what is false is an address that cannot be read. */
static const xc_addr *read_addresses(lua_State *L, size_t count, bool partial)
{
	xc_limit_make_room(L, count * sizeof(xc_addr));
	xc_addr *nodes = lua_newuserdatauv(L, (count + 1) * sizeof *nodes, 0);
	for (size_t i = 0; i < count; i++) {
		lua_rawgeti(L, ADDRESSES, (lua_Integer)i + 1);
		if (lua_isinteger(L, -1))
			nodes[i] = (xc_addr)lua_tointeger(L, -1);
		else if (partial && !lua_toboolean(L, -1))
			nodes[i] = 0;
		else
			nodes[i] = address_at(L, i + 1);
		lua_pop(L, 1);
	}
	return nodes;
}

/* "row 17 (0x…): .next: …" */
static int raise_row(lua_State *L, struct xc_error *err, const struct xc_rows *rows, size_t row)
{
	lua_geti(L, FIELDS, rows->failed_field + 1);
	return xc_bind_raise(L, xc_error_wrap(err, "row %zu (0x%llx): %s", row + 1,
					      (unsigned long long)rows->nodes[row], lua_tostring(L, -1)));
}

/* xcore.gather(type, addresses, fields, options) */
static int gather(lua_State *L)
{
	struct xc_rows rows = {.count = 0};
	struct xc_error *err = NULL;
	const struct xc_type *type = xc_bind_shape(xc_bind_check_type(L, TYPE));
	luaL_checktype(L, ADDRESSES, LUA_TTABLE);
	luaL_checktype(L, FIELDS, LUA_TTABLE);
	lua_settop(L, OPTIONS);
	rows.partial = is_partial(L);
	xc_rows_find(L, type, FIELDS, &rows);
	rows.count = lua_rawlen(L, ADDRESSES);
	rows.nodes = read_addresses(L, rows.count, rows.partial);
	xc_rows_push_tables(L, &rows);
	size_t done = xc_rows_fill(L, &rows, &err);
	if (err)
		return raise_row(L, err, &rows, done);
	xc_rows_push_columns(L, &rows, FIELDS);
	lua_pushinteger(L, (lua_Integer)rows.missing);
	return 2;
}

void xc_bind_gather_open(lua_State *L)
{
	static const luaL_Reg functions[] = {{"gather", gather}, {NULL, NULL}};
	luaL_setfuncs(L, functions, 0);
}
