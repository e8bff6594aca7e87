/* bind_ops: functions of the module that take values: xcore.addr, cast, deref, … Fields always take precedence over
 * methods, so values have no methods. Functions that make texts are in bind_text.c. */
#include "lua/vm/bind.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/elf/arch.h"
#include "lua/bind/accessor.h"

enum { MAX_PATH = 4096 };

/* ---- members by path ---- */

/* The steps of "a.b[2].c": each is a name or an index. */
struct step {
	char name[512]; /* "" for an index */
	long long index;
};

/* Remove a step from the path, or raise. */
static const char *next_step(lua_State *L, const char *path, struct step *step)
{
	if (*path == '[') {
		char *end;
		step->name[0] = '\0';
		step->index = strtoll(path + 1, &end, 0);
		if (end == path + 1 || *end != ']')
			xc_bind_fail(L, XC_ERR_USAGE, "'%.80s' is not an index", path);
		return end + 1;
	}
	path += *path == '.';
	size_t len = strcspn(path, ".[");
	if (len == 0 || len >= sizeof step->name)
		xc_bind_fail(L, XC_ERR_USAGE, "'%.80s' is not a member", path);
	memcpy(step->name, path, len);
	step->name[len] = '\0';
	return path + len;
}

static struct xc_error *take_step(const struct xc_value *value, const struct step *step, struct xc_value *out)
{
	return step->name[0] ? xc_bind_find_member(value, step->name, out) : xc_value_index(value, step->index, out);
}

static struct xc_value member_at(lua_State *L, const struct xc_value *value, const char *path)
{
	struct xc_value at = *value;
	struct step step;
	if (strlen(path) > MAX_PATH)
		xc_bind_fail(L, XC_ERR_USAGE, "a path of more than %d bytes", MAX_PATH);
	for (const char *rest = path; *rest;) {
		rest = next_step(L, rest, &step);
		struct xc_error *err = take_step(&at, &step, &at);
		if (err)
			xc_bind_raise(L, xc_error_wrap(err, "%s", path));
	}
	return at;
}

struct xc_value xc_bind_chosen(lua_State *L, int arg)
{
	struct xc_value value = xc_bind_value(L, xc_bind_check(L, 1));
	return lua_isnoneornil(L, arg) ? value : member_at(L, &value, luaL_checkstring(L, arg));
}

static const struct xc_path *path_of(lua_State *L, int arg, const char *member)
{
	const struct xc_lua_value *value = xc_bind_test(L, arg);
	const struct xc_path *path = value ? value->path : NULL;
	return member ? xc_path_member(&xc_bind_host(L)->paths, path, member) : path;
}

/* ---- addresses and types ---- */

static int op_addr(lua_State *L)
{
	const struct xc_lua_value *self = xc_bind_check(L, 1);
	if (lua_isnoneornil(L, 2)) {
		lua_pushinteger(L, (lua_Integer)xc_bind_address_of(L, self));
		return 1;
	}
	struct xc_value member = xc_bind_chosen(L, 2);
	if (member.bit_size > 0)
		return xc_bind_fail(L, XC_ERR_USAGE, "%s is a bit-field: it has no address", lua_tostring(L, 2));
	if (member.kind != XC_VALUE_MEMORY)
		return xc_bind_fail(L, XC_ERR_ABSENT, "%s is not in memory", lua_tostring(L, 2));
	lua_pushinteger(L, (lua_Integer)member.addr);
	return 1;
}

static int op_typeof(lua_State *L)
{
	xc_bind_push_type(L, xc_bind_chosen(L, 2).type);
	return 1;
}

/* Convert a number to another scalar type, like a C cast. */
static int cast_number(lua_State *L, const struct xc_type *type)
{
	const struct xc_type *bare = xc_bind_shape(type);
	if (bare->kind == XC_TYPE_FLOAT && bare->size == sizeof(float)) {
		lua_pushnumber(L, (lua_Number)(float)luaL_checknumber(L, 1));
		return 1;
	}
	if (bare->kind == XC_TYPE_FLOAT) {
		lua_pushnumber(L, luaL_checknumber(L, 1));
		return 1;
	}
	if (bare->kind == XC_TYPE_BOOL) {
		lua_pushboolean(L, luaL_checknumber(L, 1) != 0);
		return 1;
	}
	if (bare->kind != XC_TYPE_INT && bare->kind != XC_TYPE_CHAR && bare->kind != XC_TYPE_ENUM)
		return xc_bind_fail(L, XC_ERR_USAGE, "a number cannot be cast to %s: to read one there, use t:value",
				    xc_type_name(type));
	lua_Number number = luaL_checknumber(L, 1), whole = number < 0 ? ceil(number) : floor(number);
	lua_Integer integer;
	if (lua_isinteger(L, 1))
		integer = lua_tointeger(L, 1);
	else if (!lua_numbertointeger(whole, &integer))
		return xc_bind_fail(L, XC_ERR_USAGE, "%f is too large for %s", number, xc_type_name(type));
	if (bare->size == 0) /* damaged debug information */
		return xc_bind_fail(L, XC_ERR_FORMAT, "%s has no size", xc_type_name(type));
	unsigned shift = bare->size < 8 ? 64 - 8 * (unsigned)bare->size : 0;
	uint64_t bits = (uint64_t)integer << shift;
	lua_pushinteger(L, bare->is_signed ? (lua_Integer)bits >> shift : (lua_Integer)(bits >> shift));
	return 1;
}

static bool is_aggregate(const struct xc_type *shape)
{
	switch (shape->kind) {
	case XC_TYPE_STRUCT:
	case XC_TYPE_CLASS:
	case XC_TYPE_UNION:
	case XC_TYPE_ARRAY:
	case XC_TYPE_FUNCTION:
		return true;
	default:
		return false;
	}
}

/* Convert an integer, a pointer, or the address of a struct to a pointer. */
static int cast_pointer(lua_State *L, const struct xc_type *type)
{
	const struct xc_lua_value *self = xc_bind_test(L, 1);
	uint64_t bits;
	if (self && self->form != XC_FORM_POINTER && !is_aggregate(self->shape)) {
		struct xc_value value = xc_bind_value(L, self);
		xc_bind_raise_at(L, xc_value_number(&value, &bits), self, NULL);
	} else {
		bits = xc_bind_check_address(L, 1);
	}
	xc_bind_push_pointer(L, type, bits, path_of(L, 1, NULL));
	return 1;
}

static int op_cast(lua_State *L)
{
	const struct xc_type *type = xc_bind_check_type(L, 2);
	if (lua_isnil(L, 1)) {
		lua_settop(L, 1);
		return 1;
	}
	if (xc_bind_shape(type)->kind == XC_TYPE_POINTER)
		return cast_pointer(L, type);
	const struct xc_lua_value *self = xc_bind_test(L, 1);
	if (!self)
		return cast_number(L, type);
	struct xc_value value = xc_bind_value(L, self);
	if (value.bit_size > 0)
		return xc_bind_fail(L, XC_ERR_USAGE, "a bit-field cannot be read as %s", xc_type_name(type));
	if (self->form == XC_FORM_POINTER && is_aggregate(xc_bind_shape(type)))
		return xc_bind_fail(L, XC_ERR_USAGE, "a pointer cannot be read as %s: deref it, or cast to %s *",
				    xc_type_name(type), xc_type_name(type));
	value.type = type;
	xc_bind_push(L, &value, self->path);
	return 1;
}

static int op_deref(lua_State *L)
{
	const struct xc_lua_value *self = xc_bind_check(L, 1);
	struct xc_value value = xc_bind_value(L, self);
	enum xc_type_kind kind = xc_type_strip(value.type)->kind;
	if (self->form != XC_FORM_REFERENCE && kind == XC_TYPE_POINTER)
		xc_bind_raise_at(L, xc_value_deref(&value, &value), self, NULL);
	else if (self->form != XC_FORM_REFERENCE && kind == XC_TYPE_ARRAY)
		xc_bind_raise_at(L, xc_value_index(&value, 0, &value), self, NULL);
	if (xc_bind_shape(value.type)->kind == XC_TYPE_VOID)
		return xc_bind_fail(L, XC_ERR_USAGE, "the target of a void pointer has no type: cast it");
	xc_bind_push(L, &value, self->path);
	return 1;
}

static int op_ref(lua_State *L)
{
	struct xc_value value = xc_bind_chosen(L, 2);
	xc_bind_push_reference(L, &value, path_of(L, 1, lua_tostring(L, 2)));
	return 1;
}

static int op_sizeof(lua_State *L)
{
	const struct xc_type *type = xc_bind_test(L, 1) ? xc_bind_chosen(L, 2).type : xc_bind_check_type(L, 1);
	uint64_t size;
	if (!xc_type_size(type, &size) && !xc_type_size(xc_bind_shape(type), &size))
		return xc_bind_fail(L, XC_ERR_USAGE, "the size of %s is not known", xc_type_name(type));
	lua_pushinteger(L, (lua_Integer)size);
	return 1;
}

/* The offset of a member in a struct of the type, in bytes. Never goes through a pointer, and reads nothing. */
static uint64_t offset_of(lua_State *L, const struct xc_type *type, const char *path)
{
	struct xc_value at = xc_value_memory(xc_bind_host(L)->process, type, 0);
	struct step step;
	for (const char *rest = path; *rest;) {
		const struct xc_type *shape = xc_bind_shape(at.type);
		struct xc_placed_member placed;
		bool dynamic = false;
		rest = next_step(L, rest, &step);
		if (!is_aggregate(shape))
			xc_bind_fail(L, XC_ERR_USAGE, "'%s' goes through %s, which is not a struct", path,
				     xc_type_name(at.type));
		if (step.name[0] && !xc_accessor_place(shape, step.name, &placed, &dynamic) && dynamic)
			xc_bind_fail(L, XC_ERR_USAGE, "the offset of '%s' in %s depends on the object", step.name,
				     xc_type_name(at.type));
		xc_bind_raise(L, take_step(&at, &step, &at));
	}
	if (at.bit_size > 0)
		xc_bind_fail(L, XC_ERR_USAGE, "%s of %s is a bit-field", path, xc_type_name(type));
	return at.addr;
}

static int op_offsetof(lua_State *L)
{
	lua_pushinteger(L, (lua_Integer)offset_of(L, xc_bind_check_type(L, 1), luaL_checkstring(L, 2)));
	return 1;
}

/* The same for the string at argument 3, cached for loops. */
static uint64_t kept_offset(lua_State *L, const struct xc_type *type)
{
	const char *path = luaL_checkstring(L, 3);
	const struct xc_accessor *member = xc_accessor_member(L, xc_bind_shape(type), 3);
	bool plain = member && member->reading.kind != XC_READ_SLOWLY && member->reading.kind != XC_READ_BITS;
	return plain ? member->offset : offset_of(L, type, path);
}

static int op_container_of(lua_State *L)
{
	const struct xc_type *type = xc_bind_check_type(L, 2);
	if (lua_isnil(L, 1)) {
		lua_settop(L, 1);
		return 1;
	}
	xc_addr at = xc_bind_check_address(L, 1);
	const struct xc_type *pointer = xc_type_pointer(type, xc_bind_host(L)->process->arch->word);
	xc_bind_push_pointer(L, pointer, at - kept_offset(L, type), NULL);
	return 1;
}

static int op_has(lua_State *L)
{
	const struct xc_lua_value *self = xc_bind_test(L, 1);
	const struct xc_type *shape = self ? self->shape : xc_bind_shape(xc_bind_check_type(L, 1));
	const char *name = luaL_checkstring(L, 2);
	struct xc_placed_member placed;
	bool dynamic, found = xc_accessor_place(shape, name, &placed, &dynamic);
	if (!found && dynamic && self) {
		struct xc_value value = xc_bind_value(L, self);
		struct xc_error *err = xc_value_member(&value, name, &value);
		found = !err;
		xc_error_free(err);
	}
	lua_pushboolean(L, found);
	return 1;
}

void xc_bind_ops_open(lua_State *L)
{
	static const luaL_Reg functions[] = {
		{"addr", op_addr},
		{"cast", op_cast},
		{"typeof", op_typeof},
		{"deref", op_deref},
		{"ref", op_ref},
		{"sizeof", op_sizeof},
		{"offsetof", op_offsetof},
		{"has", op_has},
		{"container_of", op_container_of},
		{NULL, NULL},
	};
	luaL_setfuncs(L, functions, 0);
	xc_bind_text_open(L);
}
