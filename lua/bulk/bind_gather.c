/* bind_gather: xcore.gather: members of structs at any addresses, as columns (rows.h). */
#include "lua/bulk/rows.h"

enum { TYPE = 1, ADDRESSES, FIELDS, OPTIONS };

/* xcore.gather(type, addresses, fields, options) */
static int gather(lua_State *L)
{
	struct xc_rows rows = {.count = 0};
	struct xc_error *err = NULL;
	const struct xc_type *type = xc_bind_shape(xc_bind_check_type(L, TYPE));
	luaL_checktype(L, ADDRESSES, LUA_TTABLE);
	luaL_checktype(L, FIELDS, LUA_TTABLE);
	lua_settop(L, OPTIONS);
	rows.partial = xc_rows_is_partial(L, OPTIONS);
	xc_rows_find(L, type, FIELDS, &rows);
	rows.count = lua_rawlen(L, ADDRESSES);
	rows.nodes = xc_rows_addresses(L, ADDRESSES, rows.count, rows.partial);
	xc_rows_push_tables(L, &rows);
	size_t done = xc_rows_fill(L, &rows, &err);
	if (err)
		return xc_rows_raise(L, err, &rows, done, FIELDS);
	xc_rows_push_columns(L, &rows, FIELDS);
	lua_pushinteger(L, (lua_Integer)rows.missing);
	return 2;
}

void xc_bind_gather_open(lua_State *L)
{
	static const luaL_Reg functions[] = {{"gather", gather}, {NULL, NULL}};
	luaL_setfuncs(L, functions, 0);
}
