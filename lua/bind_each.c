/* bind_each: xcore.each: arrays, pointers with a count, and containers by their views. */
#include "bind.h"

#include "../dwarf/view.h"

/* Upvalues: the value, the next index, the count. Elements are read by the value's own __index. */
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

/* Upvalues: the view, how many were given out. */
static int next_child(lua_State *L)
{
	struct xc_view *view = lua_touserdata(L, lua_upvalueindex(1));
	struct xc_view_child child;
	lua_Integer at = lua_tointeger(L, lua_upvalueindex(2));
	if (!xc_view_next(view, &child)) {
		if (view->why[0])
			return xc_bind_fail(L, XC_ERR_FORMAT, "%s: %s", xc_type_name(view->value.type), view->why);
		return 0;
	}
	lua_pushinteger(L, at + 1);
	lua_replace(L, lua_upvalueindex(2));
	if (view->kind == XC_VIEW_MAP)
		xc_bind_push(L, &child.key, NULL);
	else if (child.name)
		lua_pushstring(L, child.name);
	else
		lua_pushinteger(L, at);
	xc_bind_push(L, &child.value, NULL);
	return 2;
}

static int each_child(lua_State *L, const struct xc_value *value)
{
	struct xc_view *view = lua_newuserdatauv(L, sizeof *view, 0);
	enum xc_view_result result = xc_view_open(value, view);
	if (result == XC_VIEW_INVALID)
		return xc_bind_fail(L, XC_ERR_FORMAT, "%s: %s", xc_type_name(value->type), view->why);
	if (result != XC_VIEW_FOUND || view->kind == XC_VIEW_TEXT)
		return xc_bind_fail(L, XC_ERR_USAGE, "%s has no elements", xc_type_name(value->type));
	lua_pushinteger(L, 0);
	lua_pushcclosure(L, next_child, 2);
	return 1;
}

static int op_each(lua_State *L)
{
	const struct xc_lua_value *self = xc_bind_check(L, 1);
	struct xc_value value = xc_bind_value(L, self);
	lua_Integer count = luaL_optinteger(L, 2, -1);
	if (count < 0 && self->form == XC_FORM_POINTER) {
		if (self->shape->kind != XC_TYPE_STRUCT && self->shape->kind != XC_TYPE_CLASS &&
		    self->shape->kind != XC_TYPE_ARRAY)
			return xc_bind_fail(L, XC_ERR_USAGE, "how many? each(%s, count)", xc_type_name(value.type));
		xc_bind_raise(L, xc_value_deref(&value, &value));
		if (self->shape->kind == XC_TYPE_ARRAY) {
			xc_bind_push_place(L, value.type, value.addr, self->path);
			lua_replace(L, 1);
		}
	}
	if (count < 0) {
		if (self->shape->kind != XC_TYPE_ARRAY)
			return each_child(L, &value);
		if (!self->shape->count_known)
			return xc_bind_fail(L, XC_ERR_USAGE, "how many? each(%s, count)", xc_type_name(value.type));
		count = (lua_Integer)self->shape->count;
	}
	lua_settop(L, 1);
	lua_pushinteger(L, 0);
	lua_pushinteger(L, count);
	lua_pushcclosure(L, next_element, 3);
	return 1;
}

void xc_bind_each_open(lua_State *L)
{
	lua_pushcfunction(L, op_each);
	lua_setfield(L, -2, "each");
}
