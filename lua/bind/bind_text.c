/* bind_text: functions of the module that convert values to text: xcore.str, enum, fmt, symbol. */
#include "lua/vm/bind.h"

#include <inttypes.h>
#include <string.h>

#include "dwarf/types/ctype.h"
#include "dwarf/format/format.h"
#include "dwarf/report/print.h"
#include "dwarf/elf/symbol.h"
#include "dwarf/view/view.h"

enum { STRING_MAX = 65536, DEPTH = 20, LENGTH = 1 << 20, SYMBOL_MAX = 512 };

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
	const struct xc_lua_value *self = xc_bind_check(L, 1);
	struct xc_value value = xc_bind_chosen(L, 2);
	if (xc_type_strip(value.type)->kind == XC_TYPE_POINTER)
		xc_bind_raise_at(L, xc_value_deref(&value, &value), self, NULL);
	xc_bind_raise_at(L, xc_value_number(&value, &bits), self, NULL);
	return push_enumerator(L, value.type, bits);
}

static int push_string(lua_State *L, xc_addr addr, uint64_t max)
{
	bool cut;
	if (!xc_bind_push_string(L, addr, max, &cut))
		return xc_bind_raise_at(L, xc_bind_fault(xc_bind_host(L), addr, 1), xc_bind_check(L, 1), NULL);
	return 1;
}

static bool is_character(const struct xc_type *type)
{
	const struct xc_type *bare = xc_bind_shape(type);
	return (bare->kind == XC_TYPE_CHAR || bare->kind == XC_TYPE_INT || bare->kind == XC_TYPE_VOID) &&
	       (bare->size == 1 || bare->kind == XC_TYPE_VOID);
}

/* The bytes of a value that is not in memory. */
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
	enum xc_view_result result = xc_view_open(value, &view);
	if (result == XC_VIEW_INVALID)
		return xc_bind_raise_at(L, xc_error_new(XC_ERR_FORMAT, "%s", view.why), xc_bind_check(L, 1), NULL);
	if (result != XC_VIEW_FOUND || view.kind != XC_VIEW_TEXT || view.elements.kind != XC_VALUE_MEMORY ||
	    xc_value_size(&view.elements) != 1)
		return xc_bind_fail(L, XC_ERR_USAGE, "%s is not a string", xc_type_name(value->type));
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
	return 1;
}

static int string_of_array(lua_State *L, const struct xc_value *value, uint64_t max)
{
	const struct xc_type *array = xc_bind_shape(value->type);
	if (!is_character(array->target))
		return xc_bind_fail(L, XC_ERR_USAGE, "%s is not a string", xc_type_name(value->type));
	if (value->kind != XC_VALUE_MEMORY)
		return string_of_held(L, value, max);
	bool bounded = array->count_known && array->count <= max;
	return push_string(L, value->addr, bounded ? array->count : max);
}

/* A pointer to characters, or to a class that is a string. */
static int string_of_pointer(lua_State *L, const struct xc_value *value, uint64_t max)
{
	struct xc_value target;
	uint64_t bits;
	if (value->kind != XC_VALUE_POINTEE && is_character(xc_type_strip(value->type)->target)) {
		xc_bind_raise_at(L, xc_value_number(value, &bits), xc_bind_check(L, 1), NULL);
		if (bits)
			return push_string(L, bits, max);
		lua_pushnil(L);
		return 1;
	}
	xc_bind_raise_at(L, xc_value_deref(value, &target), xc_bind_check(L, 1), NULL);
	if (xc_bind_shape(target.type)->kind == XC_TYPE_ARRAY)
		return string_of_array(L, &target, max);
	return string_of_view(L, &target, max);
}

static int op_str(lua_State *L)
{
	if (lua_gettop(L) >= 1 && lua_isnil(L, 1)) {
		lua_pushnil(L);
		return 1;
	}
	const struct xc_lua_value *self = xc_bind_check(L, 1);
	lua_Integer max = luaL_optinteger(L, 2, STRING_MAX);
	luaL_argcheck(L, max >= 0, 2, "the length is negative");
	if (self->form == XC_FORM_POINTER && is_character(self->shape))
		return push_string(L, self->addr, (uint64_t)max);
	struct xc_value value = xc_bind_value(L, self);
	switch (xc_bind_shape(value.type)->kind) {
	case XC_TYPE_POINTER:
		return string_of_pointer(L, &value, (uint64_t)max);
	case XC_TYPE_ARRAY:
		return string_of_array(L, &value, (uint64_t)max);
	default:
		return string_of_view(L, &value, (uint64_t)max);
	}
}

static unsigned option_number(lua_State *L, const char *name, unsigned otherwise)
{
	lua_getfield(L, 2, name);
	lua_Integer n = luaL_optinteger(L, -1, otherwise);
	lua_pop(L, 1);
	return n < 0 ? 0 : n > 1 << 24 ? 1 << 24 : (unsigned)n;
}

/* The format letters of `xcore print`. */
static struct xc_format_options defaults(void)
{
	struct xc_format_options options = xc_format_defaults();
	options.depth = DEPTH;
	options.length = LENGTH;
	return options;
}

static struct xc_format_options read_format(lua_State *L)
{
	struct xc_format_options options = defaults();
	if (lua_isnoneornil(L, 2) || lua_type(L, 2) == LUA_TSTRING)
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

/* Lua numbers can be formatted by letter too. */
static int format_number(lua_State *L, const struct xc_format_options *options)
{
	if (!options->letter || !lua_isnumber(L, 1) || lua_type(L, 1) != LUA_TNUMBER || !xc_bind_host(L)->process) {
		xc_bind_tolstring(L, 1, NULL);
		return 1;
	}
	lua_Integer integer = lua_tointeger(L, 1);
	lua_Number number = lua_tonumber(L, 1);
	const struct xc_process *process = xc_bind_host(L)->process;
	struct xc_value value =
		lua_isinteger(L, 1) ? xc_value_small(process, xc_ctype(process, XC_C_LLONG), &integer, sizeof integer)
				    : xc_value_small(process, xc_ctype(process, XC_C_DOUBLE), &number, sizeof number);
	xc_format_value(xc_bind_scratch(L), &value, options);
	return xc_bind_push_scratch(L);
}

/* Argument 2 is a table of options, or the name of a member. */
static int op_fmt(lua_State *L)
{
	struct xc_format_options options = read_format(L);
	if (!xc_bind_test(L, 1))
		return format_number(L, &options);
	if (lua_istable(L, 2))
		lua_getfield(L, 2, "field");
	else
		lua_pushvalue(L, 2);
	struct xc_value value = xc_bind_chosen(L, lua_gettop(L));
	xc_print_line(xc_bind_scratch(L), &value, &options);
	return xc_bind_push_scratch(L);
}

void xc_bind_format(lua_State *L, const struct xc_value *value)
{
	struct xc_format_options options = defaults();
	xc_print_line(xc_bind_scratch(L), value, &options);
	xc_bind_push_scratch(L);
}

static int op_symbol(lua_State *L)
{
	char name[SYMBOL_MAX];
	if (lua_isnil(L, 1)) {
		lua_pushnil(L);
		return 1;
	}
	lua_pushstring(L, xc_symbol_describe(xc_bind_process(L), xc_bind_check_address(L, 1), name, sizeof name));
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

static int op_path(lua_State *L)
{
	const struct xc_lua_value *self = xc_bind_check(L, 1);
	xc_bind_path_text(xc_bind_scratch(L), self);
	return xc_bind_push_scratch(L);
}

void xc_bind_text_open(lua_State *L)
{
	static const luaL_Reg functions[] = {
		{"str", op_str}, {"enum", op_enum}, {"fmt", op_fmt},   {"symbol", op_symbol},
		{"u64", op_u64}, {"hex", op_hex},   {"path", op_path}, {NULL, NULL},
	};
	luaL_setfuncs(L, functions, 0);
}
