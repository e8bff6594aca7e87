/* bind_type: types as objects, and types by name. */
#include <string.h>

#include "dwarf/cexpr/cexpr.h"
#include "dwarf/types/ctype.h"
#include "dwarf/layout/layout_text.h"
#include "lua/bind/bind_class.h"
#include "lua/cdef/cdef.h"
#include "lua/bind/eval_context.h"

static const char boxes_key;
static const struct xc_bind_class type_class;

/* One userdata for each type while it is referenced: types may be keys of tables. */
void xc_bind_push_type(lua_State *L, const struct xc_type *type)
{
	luaL_checkstack(L, 5, NULL);
	lua_rawgetp(L, LUA_REGISTRYINDEX, &boxes_key);
	if (lua_rawgetp(L, -1, type) == LUA_TNIL) {
		lua_pop(L, 1);
		const struct xc_type **box = xc_bind_class_new(L, &type_class, sizeof(const struct xc_type *));
		*box = type;
		lua_pushvalue(L, -1);
		lua_rawsetp(L, -3, type);
	}
	lua_remove(L, -2);
}

const struct xc_type *xc_bind_test_type(lua_State *L, int arg)
{
	const struct xc_type *const *box = xc_bind_class_test(L, arg, &type_class);
	return box ? *box : NULL;
}

/* A type declared by xcore.cdef. */
static bool is_declared(struct xc_host *host, const char *name, const struct xc_type **out)
{
	struct xc_error *err = host->cdef ? xc_cdef_type(host->cdef, name, out) : NULL;
	bool found = host->cdef && !err;
	xc_error_free(err);
	return found;
}

static struct xc_error *told_type(struct xc_host *host, const char *name, bool hints, const struct xc_type **out)
{
	struct xc_eval_context *context = xc_eval_context_of(host->L);
	struct xc_frame_scope nowhere = context->global;
	bool named = false;
	nowhere.without_hints = !hints;
	struct xc_error *err = xc_cexpr_type(&nowhere, name, xc_eval_context_arena(context), out, &named);
	if (!err && !named)
		err = xc_error_new(XC_ERR_NOT_FOUND, "%s is an expression, not a type", name);
	if (err && (err->code == XC_ERR_FORMAT || err->code == XC_ERR_USAGE))
		err->code = XC_ERR_NOT_FOUND;
	return err;
}

/* Is there an incomplete struct behind this pointer, array or typedef? */
static bool is_opaque(const struct xc_type *type)
{
	type = xc_bind_shape(type);
	for (unsigned depth = 0; depth < XC_TYPE_DEPTH; depth++) {
		if (type->kind != XC_TYPE_POINTER && type->kind != XC_TYPE_ARRAY)
			break;
		type = xc_bind_shape(type->target);
	}
	return type->is_declaration;
}

static struct xc_error *find_type(struct xc_host *host, const char *name, const struct xc_type **out)
{
	if (!host->process)
		return xc_error_new(XC_ERR_USAGE, "types by name need a target, and there is none");
	struct xc_error *err = told_type(host, name, false, out);
	bool lacks = err ? err->code == XC_ERR_NOT_FOUND : is_opaque(*out);
	if (!lacks || !is_declared(host, name, out))
		return err;
	xc_error_free(err);
	return NULL;
}

struct xc_error *xc_bind_type_named(struct xc_host *host, const char *name, const struct xc_type **out)
{
	struct xc_error *err = find_type(host, name, out);
	if (!err || err->code != XC_ERR_NOT_FOUND)
		return err;
	xc_error_free(err);
	return told_type(host, name, true, out);
}

bool xc_bind_has_type(struct xc_host *host, const char *name)
{
	const struct xc_type *type;
	struct xc_error *err = find_type(host, name, &type);
	bool found = !err || (err->code != XC_ERR_NOT_FOUND && err->code != XC_ERR_FORMAT);
	xc_error_free(err);
	return found;
}

/* Found names are cached: a loop may cast by name. An incomplete struct is not cached: it may be declared later. */
const struct xc_type *xc_bind_check_type(lua_State *L, int arg)
{
	static const char names_key;
	const struct xc_type *type = xc_bind_test_type(L, arg);
	if (type)
		return type;
	luaL_checkstring(L, arg);
	if (lua_rawgetp(L, LUA_REGISTRYINDEX, &names_key) == LUA_TNIL) {
		lua_pop(L, 1);
		lua_newtable(L);
		lua_pushvalue(L, -1);
		lua_rawsetp(L, LUA_REGISTRYINDEX, &names_key);
	}
	lua_pushvalue(L, arg);
	if (lua_rawget(L, -2) == LUA_TLIGHTUSERDATA) {
		type = lua_touserdata(L, -1);
		lua_pop(L, 2);
		return type;
	}
	lua_pop(L, 1);
	xc_eval_context_count_type(L);
	xc_bind_raise(L, xc_bind_type_named(xc_bind_host(L), lua_tostring(L, arg), &type));
	if (!is_opaque(type)) {
		lua_pushvalue(L, arg);
		lua_pushlightuserdata(L, (void *)type);
		lua_rawset(L, -3);
	}
	lua_pop(L, 1);
	return type;
}

static const struct xc_type *self_of(lua_State *L)
{
	return *(const struct xc_type *const *)xc_bind_class_check(L, 1, &type_class);
}

static int type_strip(lua_State *L)
{
	xc_bind_push_type(L, xc_bind_shape(self_of(L)));
	return 1;
}

static int type_pointer(lua_State *L)
{
	xc_eval_context_count_type(L);
	xc_bind_push_type(L, xc_ctype_derive(xc_bind_host(L)->process, XC_TYPE_POINTER, self_of(L)));
	return 1;
}

static int type_array(lua_State *L)
{
	lua_Integer count = luaL_checkinteger(L, 2);
	luaL_argcheck(L, count >= 0, 2, "the count is negative");
	xc_eval_context_count_type(L);
	xc_bind_push_type(L, xc_ctype_array(xc_bind_host(L)->process, self_of(L), (uint64_t)count));
	return 1;
}

static void push_member(lua_State *L, const struct xc_member *member)
{
	lua_createtable(L, 0, 6);
	lua_pushstring(L, member->name);
	lua_setfield(L, -2, "name");
	xc_bind_push_type(L, member->type);
	lua_setfield(L, -2, "type");
	if (!member->dynamic) {
		lua_pushinteger(L, (lua_Integer)member->offset);
		lua_setfield(L, -2, "offset");
	}
	if (member->bit_size > 0) {
		lua_pushinteger(L, member->bit_offset);
		lua_setfield(L, -2, "bit_offset");
		lua_pushinteger(L, member->bit_size);
		lua_setfield(L, -2, "bit_size");
	}
	lua_pushboolean(L, member->base);
	lua_setfield(L, -2, "base");
}

static int type_members(lua_State *L)
{
	size_t count;
	const struct xc_member *members = xc_type_members(xc_bind_shape(self_of(L)), &count);
	lua_createtable(L, (int)(count < 4096 ? count : 4096), 0);
	for (size_t i = 0; i < count; i++) {
		push_member(L, &members[i]);
		lua_rawseti(L, -2, (lua_Integer)i + 1);
	}
	return 1;
}

static int type_enumerators(lua_State *L)
{
	size_t count = 0;
	const struct xc_type *shape = xc_bind_shape(self_of(L));
	const struct xc_enumerator *items = shape->kind == XC_TYPE_ENUM ? xc_type_enumerators(shape, &count) : NULL;
	lua_newtable(L);
	for (size_t i = 0; i < count; i++) {
		lua_createtable(L, 0, 2);
		lua_pushstring(L, items[i].name);
		lua_setfield(L, -2, "name");
		lua_pushinteger(L, (lua_Integer)items[i].value);
		lua_setfield(L, -2, "value");
		lua_rawseti(L, -2, (lua_Integer)i + 1);
	}
	return 1;
}

/* Use C's short name of a type where reports write a word. */
static const char *kind_name(const struct xc_type *type)
{
	switch (type->kind) {
	case XC_TYPE_INT:
		return "int";
	case XC_TYPE_BOOL:
		return "bool";
	case XC_TYPE_CHAR:
		return "char";
	case XC_TYPE_RVALUE_REFERENCE:
		return "reference";
	default:
		return xc_layout_kind_name(type);
	}
}

static void push_name(lua_State *L, void *self)
{
	lua_pushstring(L, xc_type_name(*(const struct xc_type **)self));
}

static void push_kind(lua_State *L, void *self)
{
	lua_pushstring(L, kind_name(*(const struct xc_type **)self));
}

static void push_size(lua_State *L, void *self)
{
	const struct xc_type *type = *(const struct xc_type **)self;
	uint64_t size;
	if (xc_type_size(type, &size) || xc_type_size(xc_bind_shape(type), &size))
		lua_pushinteger(L, (lua_Integer)size);
	else
		lua_pushnil(L);
}

static void push_signed(lua_State *L, void *self)
{
	lua_pushboolean(L, xc_bind_shape(*(const struct xc_type **)self)->is_signed);
}

static void push_target(lua_State *L, void *self)
{
	const struct xc_type *type = *(const struct xc_type **)self;
	if (type->target)
		xc_bind_push_type(L, type->target);
	else
		lua_pushnil(L);
}

static void push_count(lua_State *L, void *self)
{
	const struct xc_type *shape = xc_bind_shape(*(const struct xc_type **)self);
	if (shape->kind == XC_TYPE_ARRAY && shape->count_known)
		lua_pushinteger(L, (lua_Integer)shape->count);
	else
		lua_pushnil(L);
}

static void push_incomplete(lua_State *L, void *self)
{
	lua_pushboolean(L, xc_bind_shape(*(const struct xc_type **)self)->is_declaration);
}

static int type_tostring(lua_State *L)
{
	lua_pushstring(L, xc_type_name(self_of(L)));
	return 1;
}

/* Does the name identify the type? The name of an anonymous struct, or of a type made of one, does not. */
static bool is_named(const struct xc_type *type)
{
	for (unsigned depth = 0; depth < XC_TYPE_DEPTH && type; depth++) {
		if (type->name || !type->target)
			return type->name || type->kind == XC_TYPE_VOID;
		type = type->target;
	}
	return false;
}

/* Each compilation unit has its own type for the same declaration: types of the same name, kind and size are equal. */
static int type_eq(lua_State *L)
{
	const struct xc_type *a = xc_bind_test_type(L, 1), *b = xc_bind_test_type(L, 2);
	uint64_t of_a = 0, of_b = 0;
	bool equal = a == b;
	if (!equal && a && b && a->kind == b->kind && is_named(a)) {
		xc_type_size(a, &of_a);
		xc_type_size(b, &of_b);
		equal = of_a == of_b && strcmp(xc_type_name(a), xc_type_name(b)) == 0;
	}
	lua_pushboolean(L, equal);
	return 1;
}

static const struct xc_bind_property properties[] = {
	{"name", push_name},
	{"kind", push_kind},
	{"size", push_size},
	{"signed", push_signed},
	{"target", push_target},
	{"count", push_count},
	{"incomplete", push_incomplete},
	{NULL, NULL},
};

static const luaL_Reg methods[] = {
	{"strip", type_strip},     {"pointer", type_pointer},         {"array", type_array},
	{"members", type_members}, {"enumerators", type_enumerators}, {NULL, NULL},
};

static const luaL_Reg metamethods[] = {{"__tostring", type_tostring}, {"__eq", type_eq}, {NULL, NULL}};

static const struct xc_bind_class type_class = {.name = "xcore.Type",
						.noun = "a type",
						.properties = properties,
						.methods = methods,
						.metamethods = metamethods};

void xc_bind_type_open(lua_State *L)
{
	xc_bind_class_open(L, &type_class);
	lua_newtable(L); /* userdata by type, with weak values */
	lua_createtable(L, 0, 1);
	lua_pushliteral(L, "v");
	lua_setfield(L, -2, "__mode");
	lua_setmetatable(L, -2);
	lua_rawsetp(L, LUA_REGISTRYINDEX, &boxes_key);
}
