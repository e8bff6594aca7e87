/* safe_table: the functions of the table library that loop. A table may claim by __len to have 2^62 elements, and
 * Lua's own functions would then loop in C, where no hook fires. */
#include <limits.h>
#include <string.h>

#include "lua/vm/bind.h"
#include "lua/vm/safe.h"

enum { AT_ONCE = 1024, SLOT = 16 /* bytes of an element */ };

/* Called in a loop over i. */
static inline void charge(lua_State *L, lua_Integer i)
{
	if (i % AT_ONCE == 0)
		xc_limit_spend(L, AT_ONCE);
}

static lua_Integer check_length(lua_State *L)
{
	luaL_checktype(L, 1, LUA_TTABLE);
	return luaL_len(L, 1);
}

static void copy(lua_State *L, int from, lua_Integer from_index, int to, lua_Integer to_index)
{
	charge(L, from_index);
	lua_geti(L, from, from_index);
	lua_seti(L, to, to_index);
}

static int table_insert(lua_State *L)
{
	lua_Integer end = (lua_Integer)((lua_Unsigned)check_length(L) + 1), at = end;
	int count = lua_gettop(L);
	if (count != 2 && count != 3)
		return luaL_error(L, "wrong number of arguments to 'insert'");
	if (count == 3) {
		at = luaL_checkinteger(L, 2);
		luaL_argcheck(L, (lua_Unsigned)at - 1 < (lua_Unsigned)end, 2, "position out of bounds");
		for (lua_Integer i = end; i > at; i--)
			copy(L, 1, i - 1, 1, i);
	}
	lua_seti(L, 1, at);
	return 0;
}

static int table_remove(lua_State *L)
{
	lua_Integer size = check_length(L), at = luaL_optinteger(L, 2, size);
	if (at != size)
		luaL_argcheck(L, (lua_Unsigned)at - 1 <= (lua_Unsigned)size, 2, "position out of bounds");
	lua_geti(L, 1, at);
	for (; at < size; at++)
		copy(L, 1, at + 1, 1, at);
	lua_pushnil(L);
	lua_seti(L, 1, at);
	return 1;
}

static int table_move(lua_State *L) /* from, first, last, at, [to] */
{
	lua_Integer first = luaL_checkinteger(L, 2), last = luaL_checkinteger(L, 3), at = luaL_checkinteger(L, 4);
	int to = lua_isnoneornil(L, 5) ? 1 : 5;
	luaL_checktype(L, 1, LUA_TTABLE);
	luaL_checktype(L, to, LUA_TTABLE);
	lua_settop(L, 5);
	if (last >= first) {
		luaL_argcheck(L, first > 0 || last < LUA_MAXINTEGER + first, 3, "too many elements to move");
		lua_Integer count = last - first + 1;
		luaL_argcheck(L, at <= LUA_MAXINTEGER - count + 1, 4, "destination wrap around");
		bool overlaps = at > first && at <= last && (to == 1 || lua_rawequal(L, 1, to));
		for (lua_Integer i = 0; i < count; i++) {
			lua_Integer k = overlaps ? count - 1 - i : i;
			copy(L, 1, first + k, to, at + k);
		}
	}
	lua_pushvalue(L, to);
	return 1;
}

static void add_element(lua_State *L, luaL_Buffer *buffer, lua_Integer i)
{
	size_t len;
	charge(L, i);
	lua_geti(L, 1, i);
	if (!lua_isstring(L, -1))
		luaL_error(L, "invalid value (at index %I) in table for 'concat'", (LUAI_UACINT)i);
	lua_tolstring(L, -1, &len);
	xc_limit_make_room_in(L, buffer, len);
	luaL_addvalue(buffer);
}

static int table_concat(lua_State *L) /* table, separator, first, last */
{
	luaL_Buffer buffer;
	size_t len;
	lua_Integer size = check_length(L);
	const char *separator = luaL_optlstring(L, 2, "", &len);
	lua_Integer i = luaL_optinteger(L, 3, 1), last = luaL_optinteger(L, 4, size);
	luaL_buffinit(L, &buffer);
	for (; i < last; i++) {
		add_element(L, &buffer, i);
		xc_limit_make_room_in(L, &buffer, len);
		luaL_addlstring(&buffer, separator, len);
	}
	if (i == last)
		add_element(L, &buffer, i);
	luaL_pushresult(&buffer);
	return 1;
}

/* ---- sort: merging, so that the number of comparisons is bounded whatever they say ---- */

enum { TABLE = 1, COMPARATOR, FROM, TO };

/* Is the second of the two values at the top less than the first? Both stay. */
static bool is_less(lua_State *L)
{
	if (lua_isnil(L, COMPARATOR))
		return lua_compare(L, -1, -2, LUA_OPLT);
	lua_pushvalue(L, COMPARATOR);
	lua_pushvalue(L, -2);
	lua_pushvalue(L, -4);
	lua_call(L, 2, 1);
	bool less = lua_toboolean(L, -1);
	lua_pop(L, 1);
	return less;
}

/* Merge [low, middle) and [middle, high) of FROM into TO. */
static void merge(lua_State *L, lua_Integer low, lua_Integer middle, lua_Integer high)
{
	lua_Integer left = low, right = middle;
	for (lua_Integer out = low; out < high; out++) {
		charge(L, out);
		bool take_right = left >= middle;
		if (left < middle && right < high) {
			lua_rawgeti(L, FROM, left);
			lua_rawgeti(L, FROM, right);
			take_right = is_less(L);
			lua_pop(L, 2);
		}
		lua_rawgeti(L, FROM, take_right ? right++ : left++);
		lua_rawseti(L, TO, out);
	}
}

static int table_sort(lua_State *L)
{
	lua_Integer size = check_length(L);
	if (size < 2)
		return 0;
	luaL_argcheck(L, size < INT_MAX / 2, 1, "array too big");
	if (!lua_isnoneornil(L, COMPARATOR))
		luaL_checktype(L, COMPARATOR, LUA_TFUNCTION);
	lua_settop(L, COMPARATOR);
	xc_limit_make_room(L, (uint64_t)size * 2 * SLOT);
	lua_createtable(L, (int)size, 0);
	lua_createtable(L, (int)size, 0);
	for (lua_Integer i = 1; i <= size; i++) {
		charge(L, i);
		lua_geti(L, TABLE, i);
		lua_rawseti(L, FROM, i);
	}
	for (lua_Integer width = 1; width < size; width *= 2) {
		for (lua_Integer low = 1; low <= size; low += 2 * width) {
			lua_Integer end = size + 1, middle = low + width < end ? low + width : end;
			merge(L, low, middle, middle + width < end ? middle + width : end);
		}
		lua_insert(L, FROM); /* swap FROM and TO */
	}
	for (lua_Integer i = 1; i <= size; i++)
		copy(L, FROM, i, TABLE, i);
	return 0;
}

void xc_safe_table(lua_State *L)
{
	static const luaL_Reg functions[] = {{"insert", table_insert}, {"remove", table_remove}, {"move", table_move},
					     {"concat", table_concat}, {"sort", table_sort},     {NULL, NULL}};
	luaL_setfuncs(L, functions, 0);
}
