/* bind_each: xcore.each: arrays, pointers with a count, and containers by their views. */
#include "lua/vm/bind.h"

#include "dwarf/view/view.h"

/* Upvalues: the value, the next index, the count. Elements are read by the __index of the value. */
static int next_element(lua_State *L)
{
	lua_Integer at = lua_tointeger(L, lua_upvalueindex(2));
	if (at >= lua_tointeger(L, lua_upvalueindex(3)))
		return 0;
	lua_pushinteger(L, at + 1);
	lua_replace(L, lua_upvalueindex(2));
	lua_pushinteger(L, at);
	lua_geti(L, lua_upvalueindex(1), at);
	return 2;
}

/* A NULL key would end the loop, so a reference replaces it. */
static void push_key(lua_State *L, const struct xc_value *key)
{
	xc_bind_push(L, key, NULL);
	if (!lua_isnil(L, -1))
		return;
	lua_pop(L, 1);
	xc_bind_push_reference(L, key, NULL);
}

/* Upvalues: the view, the number of elements returned, the value that the view may borrow from. */
static int next_child(lua_State *L)
{
	struct xc_view *view = lua_touserdata(L, lua_upvalueindex(1));
	const struct xc_lua_value *whole = lua_touserdata(L, lua_upvalueindex(3));
	struct xc_view_child child;
	lua_Integer at = lua_tointeger(L, lua_upvalueindex(2));
	if (!xc_view_next(view, &child)) {
		if (view->why[0])
			return xc_bind_raise_at(L, xc_error_new(XC_ERR_FORMAT, "%s", view->why), whole, NULL);
		return 0;
	}
	lua_pushinteger(L, at + 1);
	lua_replace(L, lua_upvalueindex(2));
	if (view->kind == XC_VIEW_MAP)
		push_key(L, &child.key);
	else if (child.name)
		lua_pushstring(L, child.name);
	else
		lua_pushinteger(L, at);
	xc_bind_push(L, &child.value, xc_path_element(&xc_bind_host(L)->paths, whole->path));
	return 2;
}

static int each_child(lua_State *L, const struct xc_value *value)
{
	struct xc_view *view = lua_newuserdatauv(L, sizeof *view, 0);
	enum xc_view_result result = xc_view_open(value, view);
	if (result == XC_VIEW_INVALID)
		return xc_bind_raise_at(L, xc_error_new(XC_ERR_FORMAT, "%s", view->why), xc_bind_check(L, 1), NULL);
	if (result != XC_VIEW_FOUND || view->kind == XC_VIEW_TEXT || view->kind == XC_VIEW_PLAIN)
		return xc_bind_fail(L, XC_ERR_USAGE, "%s has no elements", xc_type_name(value->type));
	lua_pushinteger(L, 0);
	lua_pushvalue(L, 1);
	lua_pushcclosure(L, next_child, 3);
	return 1;
}

static int each_element(lua_State *L, lua_Integer count)
{
	lua_settop(L, 1);
	lua_pushinteger(L, 0);
	lua_pushinteger(L, count);
	lua_pushcclosure(L, next_element, 3);
	return 1;
}

static int no_element(lua_State *L)
{
	(void)L;
	return 0;
}

/* NULL has no elements; a count for it is an error. */
static int each_of_null(lua_State *L, lua_Integer count)
{
	if (count > 0)
		return xc_bind_fail(L, XC_ERR_FAULT, "%lld elements behind a NULL pointer", (long long)count);
	lua_pushcfunction(L, no_element);
	return 1;
}

static int op_each(lua_State *L)
{
	lua_Integer count = luaL_optinteger(L, 2, -1);
	if (!lua_isnoneornil(L, 2) && count < 0)
		return xc_bind_fail(L, XC_ERR_USAGE, "%lld elements", (long long)count);
	if (lua_gettop(L) >= 1 && lua_isnil(L, 1))
		return each_of_null(L, count);
	const struct xc_lua_value *self = xc_bind_check(L, 1);
	if (count >= 0)
		return each_element(L, count);
	struct xc_value value = xc_bind_value(L, self);
	if (xc_type_strip(value.type)->kind == XC_TYPE_POINTER)
		xc_bind_raise_at(L, xc_value_deref(&value, &value), self, NULL);
	const struct xc_type *shape = xc_bind_shape(value.type);
	if (shape->kind == XC_TYPE_ARRAY && shape->count_known) {
		if (self->form == XC_FORM_POINTER) {
			xc_bind_push_place(L, value.type, value.addr, self->path);
			lua_replace(L, 1);
		}
		return each_element(L, (lua_Integer)shape->count);
	}
	if (shape->kind == XC_TYPE_STRUCT || shape->kind == XC_TYPE_CLASS)
		return each_child(L, &value);
	return xc_bind_fail(L, XC_ERR_USAGE, "the count is missing: each(%s, count)",
			    xc_type_name(xc_bind_value(L, self).type));
}

void xc_bind_each_open(lua_State *L)
{
	lua_pushcfunction(L, op_each);
	lua_setfield(L, -2, "each");
}
