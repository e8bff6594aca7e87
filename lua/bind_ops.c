/* bind_ops: the functions of the module that take values: xcore.addr, cast, str, … Fields always win over methods, so there are
 * no methods. */
#include "bind.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "../core/arch.h"
#include "../dwarf/format.h"
#include "../dwarf/symbol.h"
#include "../dwarf/view.h"
#include "accessor.h"

enum { STRING_MAX = 65536, MAX_PATH = 4096 };

/* ---- members by path ---- */

static const char *step_index(lua_State *L, const char *at, struct xc_value *value)
{
	char *end;
	long long index = strtoll(at + 1, &end, 0);
	if (end == at + 1 || *end != ']')
		xc_bind_fail(L, XC_ERR_USAGE, "'%s' is no index", at);
	xc_bind_raise(L, xc_value_index(value, index, value));
	return end + 1;
}

static const char *step_name(lua_State *L, const char *at, struct xc_value *value)
{
	char name[512];
	size_t len = strcspn(at, ".[");
	if (len == 0 || len >= sizeof name)
		xc_bind_fail(L, XC_ERR_USAGE, "'%s' is no member", at);
	memcpy(name, at, len);
	name[len] = '\0';
	xc_bind_raise(L, xc_value_member(value, name, value));
	return at + len;
}

struct xc_value xc_bind_member(lua_State *L, const struct xc_value *value, const char *path)
{
	struct xc_value at = *value;
	if (strlen(path) > MAX_PATH)
		xc_bind_fail(L, XC_ERR_USAGE, "a path of more than %d bytes", MAX_PATH);
	while (*path)
		path = *path == '[' ? step_index(L, path, &at) : step_name(L, path + (*path == '.'), &at);
	return at;
}

/* The value argument 1, or its member that argument `arg` names. */
static struct xc_value chosen(lua_State *L, int arg)
{
	struct xc_value value = xc_bind_value(L, xc_bind_check(L, 1));
	return lua_isnoneornil(L, arg) ? value : xc_bind_member(L, &value, luaL_checkstring(L, arg));
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
	struct xc_value member = chosen(L, 2);
	if (member.kind != XC_VALUE_MEMORY || member.bit_size > 0)
		return xc_bind_fail(L, member.bit_size > 0 ? XC_ERR_USAGE : XC_ERR_ABSENT, "%s has no address",
				    lua_tostring(L, 2));
	lua_pushinteger(L, (lua_Integer)member.addr);
	return 1;
}

static int op_typeof(lua_State *L)
{
	xc_bind_push_type(L, chosen(L, 2).type);
	return 1;
}

/* A number as another scalar type, as a cast in C. */
static int cast_number(lua_State *L, const struct xc_type *type, uint64_t bits)
{
	const struct xc_type *bare = xc_bind_shape(type);
	if (bare->kind == XC_TYPE_FLOAT) {
		lua_pushnumber(L, (lua_Number)(lua_Integer)bits);
		return 1;
	}
	if (bare->kind == XC_TYPE_BOOL) {
		lua_pushboolean(L, bits != 0);
		return 1;
	}
	if (bare->kind != XC_TYPE_INT && bare->kind != XC_TYPE_CHAR && bare->kind != XC_TYPE_ENUM)
		return xc_bind_fail(L, XC_ERR_USAGE, "a number cannot be cast to %s: to read one there, use t:value",
				    xc_type_name(type));
	struct xc_value value = xc_value_small(xc_bind_host(L)->process, type, &bits, sizeof bits);
	xc_bind_push(L, &value, NULL);
	return 1;
}

static int op_cast(lua_State *L)
{
	const struct xc_type *type = xc_bind_check_type(L, 2);
	if (lua_isnil(L, 1)) {
		lua_settop(L, 1);
		return 1;
	}
	if (xc_bind_shape(type)->kind == XC_TYPE_POINTER) {
		xc_bind_push_pointer(L, type, xc_bind_check_address(L, 1), path_of(L, 1, NULL));
		return 1;
	}
	const struct xc_lua_value *self = xc_bind_test(L, 1);
	if (!self)
		return cast_number(L, type, (uint64_t)luaL_checkinteger(L, 1));
	struct xc_value value = xc_bind_value(L, self);
	if (self->form == XC_FORM_HELD)
		value.type = type;
	else
		value = xc_value_memory(value.process, type, self->addr);
	xc_bind_push(L, &value, self->path);
	return 1;
}

static int op_deref(lua_State *L)
{
	const struct xc_lua_value *self = xc_bind_check(L, 1);
	struct xc_value value = xc_bind_value(L, self), target = value;
	struct xc_error *err = NULL;
	if (self->form == XC_FORM_POINTER || value.kind == XC_VALUE_POINTEE)
		err = xc_value_deref(&value, &target);
	xc_bind_raise_at(L, err, self, NULL);
	err = xc_value_check(&target);
	if (err && self->form != XC_FORM_HELD && xc_bind_shape(target.type)->kind != XC_TYPE_STRUCT)
		return xc_bind_raise_at(L, err, self, NULL);
	xc_error_free(err);
	xc_bind_push(L, &target, self->path);
	return 1;
}

static int op_ref(lua_State *L)
{
	struct xc_value value = chosen(L, 2);
	xc_bind_push_reference(L, &value, path_of(L, 1, lua_tostring(L, 2)));
	return 1;
}

static int op_sizeof(lua_State *L)
{
	const struct xc_type *type = xc_bind_test(L, 1) ? chosen(L, 2).type : xc_bind_check_type(L, 1);
	uint64_t size;
	if (!xc_type_size(type, &size) && !xc_type_size(xc_bind_shape(type), &size))
		return xc_bind_fail(L, XC_ERR_USAGE, "the size of %s is not known", xc_type_name(type));
	lua_pushinteger(L, (lua_Integer)size);
	return 1;
}

/* Where a member lies in a struct of the type, bytes. */
static uint64_t offset_of(lua_State *L, const struct xc_type *type, const char *path)
{
	struct xc_value whole = xc_value_memory(xc_bind_host(L)->process, type, 0);
	enum xc_type_kind kind = xc_bind_shape(type)->kind;
	if (kind != XC_TYPE_STRUCT && kind != XC_TYPE_CLASS && kind != XC_TYPE_UNION && kind != XC_TYPE_ARRAY)
		xc_bind_fail(L, XC_ERR_USAGE, "%s has no members", xc_type_name(type));
	struct xc_value member = xc_bind_member(L, &whole, path);
	if (member.kind != XC_VALUE_MEMORY || member.bit_size > 0)
		xc_bind_fail(L, XC_ERR_USAGE, "%s of %s does not lie at a fixed byte", path, xc_type_name(type));
	return member.addr;
}

static int op_offsetof(lua_State *L)
{
	lua_pushinteger(L, (lua_Integer)offset_of(L, xc_bind_check_type(L, 1), luaL_checkstring(L, 2)));
	return 1;
}

static int op_container_of(lua_State *L)
{
	const struct xc_type *type = xc_bind_check_type(L, 2);
	if (lua_isnil(L, 1)) {
		lua_pushnil(L);
		return 1;
	}
	xc_addr at = xc_bind_check_address(L, 1);
	xc_bind_push_pointer(L, xc_type_pointer(type, xc_bind_host(L)->process->arch->word),
			     at - offset_of(L, type, luaL_checkstring(L, 3)), NULL);
	return 1;
}

static int op_has(lua_State *L)
{
	const struct xc_lua_value *self = xc_bind_test(L, 1);
	const struct xc_type *shape = self ? self->shape : xc_bind_shape(xc_bind_check_type(L, 1));
	struct xc_placed_member placed;
	bool dynamic;
	lua_pushboolean(L, xc_accessor_place(shape, luaL_checkstring(L, 2), &placed, &dynamic));
	return 1;
}

/* ---- texts ---- */

static int push_enumerator(lua_State *L, const struct xc_type *type, uint64_t bits)
{
	const struct xc_type *bare = xc_bind_shape(type);
	size_t count;
	if (bare->kind != XC_TYPE_ENUM)
		return xc_bind_fail(L, XC_ERR_USAGE, "%s is no enum", xc_type_name(type));
	const struct xc_enumerator *items = xc_type_enumerators(bare, &count);
	for (size_t i = 0; i < count; i++) {
		if (items[i].value == bits) {
			lua_pushstring(L, items[i].name);
			return 1;
		}
	}
	uint64_t left = bits;
	struct xc_text *text = xc_bind_scratch(L);
	for (size_t i = 0; bare->is_flags && i < count; i++) {
		if (items[i].value == 0 || (left & items[i].value) != items[i].value)
			continue;
		xc_text_printf(text, "%s%s", text->len ? " | " : "", items[i].name);
		left &= ~items[i].value;
	}
	if (left != 0 || text->len == 0)
		lua_pushnil(L);
	else
		xc_bind_push_scratch(L);
	return 1;
}

static int op_enum(lua_State *L)
{
	const struct xc_type *type = xc_bind_test_type(L, 1);
	uint64_t bits;
	if (type)
		return push_enumerator(L, type, (uint64_t)luaL_checkinteger(L, 2));
	struct xc_value value = chosen(L, 2);
	if (xc_bind_test(L, 1)->form == XC_FORM_POINTER && lua_isnoneornil(L, 2))
		xc_bind_raise(L, xc_value_deref(&value, &value));
	xc_bind_raise(L, xc_value_number(&value, &bits));
	return push_enumerator(L, value.type, bits);
}

/* Up to max bytes at addr, cut at the first NUL when `ends_at_nul`. */
static int push_bytes(lua_State *L, xc_addr addr, uint64_t max, bool *cut_out)
{
	const struct xc_space *space = xc_bind_host(L)->process->space;
	luaL_Buffer buffer;
	uint64_t done = 0;
	*cut_out = false;
	luaL_buffinit(L, &buffer);
	while (done < max) {
		size_t want = max - done < LUAL_BUFFERSIZE ? (size_t)(max - done) : LUAL_BUFFERSIZE;
		char *room = luaL_prepbuffsize(&buffer, want);
		size_t got = xc_space_peek(space, addr + done, room, want);
		const char *end = memchr(room, '\0', got);
		luaL_addsize(&buffer, end ? (size_t)(end - room) : got);
		done += got;
		if (end || got < want) {
			*cut_out = !end;
			if (!end && done == 0)
				return 0;
			luaL_pushresult(&buffer);
			return 1;
		}
	}
	*cut_out = true;
	luaL_pushresult(&buffer);
	return 1;
}

static int push_string(lua_State *L, const struct xc_value *where, xc_addr addr, uint64_t max, bool is_bounded)
{
	bool cut;
	if (!push_bytes(L, addr, max, &cut))
		return xc_bind_raise_at(L, xc_space_read(where->process->space, addr, &(char){0}, 1),
					xc_bind_check(L, 1), NULL);
	lua_pushboolean(L, cut && !is_bounded);
	return 2;
}

static bool is_character(const struct xc_type *type)
{
	const struct xc_type *bare = xc_bind_shape(type);
	return (bare->kind == XC_TYPE_CHAR || bare->kind == XC_TYPE_INT || bare->kind == XC_TYPE_VOID) &&
	       (bare->size == 1 || bare->kind == XC_TYPE_VOID);
}

/* Bytes of a value that does not lie in memory. */
static int string_of_held(lua_State *L, const struct xc_value *value, uint64_t max)
{
	uint64_t size = xc_value_size(value);
	size = size < max ? size : max;
	luaL_Buffer buffer;
	char *room = luaL_buffinitsize(L, &buffer, (size_t)size);
	if (!xc_value_peek(value, 0, room, (size_t)size))
		return xc_bind_raise_at(L, xc_value_check(value), xc_bind_check(L, 1), NULL);
	luaL_pushresultsize(&buffer, strnlen(room, (size_t)size));
	return 1;
}

static int string_of_view(lua_State *L, const struct xc_value *value, uint64_t max)
{
	struct xc_view view;
	if (xc_view_open(value, &view) != XC_VIEW_FOUND || view.kind != XC_VIEW_TEXT ||
	    view.elements.kind != XC_VALUE_MEMORY || xc_value_size(&view.elements) != 1)
		return xc_bind_fail(L, XC_ERR_USAGE, "%s is no string", xc_type_name(value->type));
	uint64_t count = view.count < max ? view.count : max;
	luaL_Buffer buffer;
	luaL_buffinit(L, &buffer);
	for (uint64_t done = 0; done < count;) {
		size_t want = count - done < LUAL_BUFFERSIZE ? (size_t)(count - done) : LUAL_BUFFERSIZE;
		char *room = luaL_prepbuffsize(&buffer, want);
		if (xc_space_peek(value->process->space, view.elements.addr + done, room, want) != want)
			return xc_bind_raise(
				L, xc_space_read(value->process->space, view.elements.addr + done, room, want));
		luaL_addsize(&buffer, want);
		done += want;
	}
	luaL_pushresult(&buffer);
	lua_pushboolean(L, count < view.count);
	return 2;
}

static int op_str(lua_State *L)
{
	if (lua_isnil(L, 1) && lua_gettop(L) >= 1) {
		lua_pushnil(L);
		return 1;
	}
	const struct xc_lua_value *self = xc_bind_check(L, 1);
	lua_Integer max = luaL_optinteger(L, 2, STRING_MAX);
	luaL_argcheck(L, max >= 0, 2, "a length is not negative");
	struct xc_value value = xc_bind_value(L, self);
	const struct xc_type *bare = xc_bind_shape(value.type);
	if (self->form == XC_FORM_REFERENCE && bare->kind == XC_TYPE_POINTER) {
		uint64_t bits;
		xc_bind_raise_at(L, xc_value_number(&value, &bits), self, NULL);
		if (bits == 0) {
			lua_pushnil(L);
			return 1;
		}
		return push_string(L, &value, bits, (uint64_t)max, false);
	}
	if (self->form == XC_FORM_POINTER && is_character(self->shape))
		return push_string(L, &value, self->addr, (uint64_t)max, false);
	if (self->form == XC_FORM_POINTER)
		xc_bind_raise(L, xc_value_deref(&value, &value));
	bare = xc_bind_shape(value.type);
	if (bare->kind != XC_TYPE_ARRAY)
		return string_of_view(L, &value, (uint64_t)max);
	if (!is_character(bare->target))
		return xc_bind_fail(L, XC_ERR_USAGE, "%s is no string", xc_type_name(value.type));
	if (value.kind != XC_VALUE_MEMORY)
		return string_of_held(L, &value, (uint64_t)max);
	bool bounded = bare->count_known && bare->count <= (uint64_t)max;
	return push_string(L, &value, value.addr, bounded ? bare->count : (uint64_t)max, bounded);
}

static unsigned option_number(lua_State *L, const char *name, unsigned otherwise)
{
	lua_getfield(L, 2, name);
	lua_Integer n = luaL_optinteger(L, -1, otherwise);
	lua_pop(L, 1);
	return n < 0 ? 0 : n > 1 << 24 ? 1 << 24 : (unsigned)n;
}

static struct xc_format_options read_format(lua_State *L)
{
	struct xc_format_options options = xc_format_defaults();
	if (lua_isnoneornil(L, 2))
		return options;
	luaL_checktype(L, 2, LUA_TTABLE);
	options.depth = option_number(L, "depth", options.depth);
	options.elements = option_number(L, "elements", options.elements);
	options.length = option_number(L, "length", options.length);
	lua_getfield(L, 2, "raw");
	options.raw = lua_toboolean(L, -1);
	lua_getfield(L, 2, "letter");
	const char *letter = luaL_optstring(L, -1, "");
	luaL_argcheck(L, strlen(letter) <= 1 && (!*letter || strchr("xzduotcaf", *letter)), 2,
		      "letter is one of x z d u o t c a f");
	options.letter = *letter;
	lua_pop(L, 2);
	return options;
}

static int op_fmt(lua_State *L)
{
	struct xc_format_options options = read_format(L);
	const struct xc_lua_value *self = xc_bind_test(L, 1);
	if (!self) {
		luaL_tolstring(L, 1, NULL);
		return 1;
	}
	struct xc_value value = xc_bind_value(L, self);
	if (!lua_isnoneornil(L, 2)) {
		lua_getfield(L, 2, "field");
		if (!lua_isnil(L, -1))
			value = xc_bind_member(L, &value, luaL_checkstring(L, -1));
	}
	xc_format_value(xc_bind_scratch(L), &value, &options);
	return xc_bind_push_scratch(L);
}

static int op_symbol(lua_State *L)
{
	char name[512];
	if (lua_isnil(L, 1)) {
		lua_pushnil(L);
		return 1;
	}
	lua_pushstring(L, xc_symbol_describe(xc_bind_host(L)->process, xc_bind_check_address(L, 1), name, sizeof name));
	return 1;
}

static int op_u64(lua_State *L)
{
	char text[32];
	snprintf(text, sizeof text, "%" PRIu64, (uint64_t)luaL_checkinteger(L, 1));
	lua_pushstring(L, text);
	return 1;
}

static int op_hex(lua_State *L)
{
	char text[32];
	snprintf(text, sizeof text, "0x%" PRIx64, (uint64_t)luaL_checkinteger(L, 1));
	lua_pushstring(L, text);
	return 1;
}

void xc_bind_ops_open(lua_State *L)
{
	static const luaL_Reg functions[] = {
		{"addr", op_addr},
		{"cast", op_cast},
		{"typeof", op_typeof},
		{"deref", op_deref},
		{"str", op_str},
		{"ref", op_ref},
		{"enum", op_enum},
		{"sizeof", op_sizeof},
		{"offsetof", op_offsetof},
		{"has", op_has},
		{"container_of", op_container_of},
		{"fmt", op_fmt},
		{"symbol", op_symbol},
		{"u64", op_u64},
		{"hex", op_hex},
		{NULL, NULL},
	};
	luaL_setfuncs(L, functions, 0);
}
