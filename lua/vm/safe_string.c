/* safe_string: string.rep, which in Lua runs without end on an empty string; and the metatable of strings. */
#include <string.h>

#include "lua/vm/bind.h"
#include "lua/vm/safe.h"

/* Fill with text, separator, text, …: `total` bytes. */
static void fill(char *out, size_t total, const char *text, size_t len, const char *separator, size_t separator_len)
{
	memcpy(out, text, len);
	if (total == len)
		return;
	memcpy(out + len, separator, separator_len);
	for (size_t done = len + separator_len; done < total;) {
		size_t more = done < total - done ? done : total - done;
		memcpy(out + done, out, more);
		done += more;
	}
}

static int string_rep(lua_State *L)
{
	size_t len, separator_len, total;
	luaL_Buffer buffer;
	const char *text = luaL_checklstring(L, 1, &len);
	lua_Integer times = luaL_checkinteger(L, 2);
	const char *separator = luaL_optlstring(L, 3, "", &separator_len);
	if (times <= 0 || len + separator_len == 0) {
		lua_pushliteral(L, "");
		return 1;
	}
	if (__builtin_mul_overflow(len + separator_len, (size_t)times, &total) || total > PTRDIFF_MAX)
		return luaL_error(L, "resulting string too large");
	total -= separator_len;
	xc_limit_make_room(L, 2 * (uint64_t)total);
	fill(luaL_buffinitsize(L, &buffer, total), total, text, len, separator, separator_len);
	luaL_pushresultsize(&buffer, total);
	return 1;
}

void xc_safe_string(lua_State *L)
{
	lua_pushcfunction(L, string_rep);
	lua_setfield(L, -2, "rep");
	lua_pushliteral(L, "");
	lua_getmetatable(L, -1);
	lua_pushliteral(L, "string");
	lua_setfield(L, -2, "__metatable");
	lua_pop(L, 2);
}
