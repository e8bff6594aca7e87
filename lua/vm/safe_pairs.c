/* safe_pairs: pairs, in the same order in each run.
 *
 * Lua seeds the hash of strings differently for each state, so the order of a loop over a table with string keys
 * varies, and so would the report of a script on the same core. Here tables with string keys are visited in order:
 * numbers, strings by their bytes, then other keys in Lua's order. Other tables are visited in Lua's order. */
#include <stdlib.h>
#include <string.h>

#include "lua/vm/bind.h"
#include "lua/vm/safe.h"

enum { AT_ONCE = 1024, STEPS_A_KEY = 8 };

enum rank { INTEGER, FLOAT, STRING, OTHER };

struct key {
	enum rank rank;
	lua_Integer integer;
	lua_Number number; /* also of an integer */
	const char *string;
	size_t len;
	lua_Integer place; /* index in the unsorted list of keys */
};

static int compare_strings(const struct key *a, const struct key *b)
{
	int order = memcmp(a->string, b->string, a->len < b->len ? a->len : b->len);
	return order ? order : (a->len > b->len) - (a->len < b->len);
}

/* A float key has a fraction, or is out of the range of integers. */
static int compare_numbers(const struct key *a, const struct key *b)
{
	if (a->rank == INTEGER && b->rank == INTEGER)
		return (a->integer > b->integer) - (a->integer < b->integer);
	int order = (a->number > b->number) - (a->number < b->number);
	return order ? order : (int)a->rank - (int)b->rank;
}

static int by_key(const void *left, const void *right)
{
	const struct key *a = left, *b = right;
	int order = (int)a->rank - (int)b->rank;
	if (a->rank <= FLOAT && b->rank <= FLOAT)
		order = compare_numbers(a, b);
	else if (a->rank == STRING && b->rank == STRING)
		order = compare_strings(a, b);
	return order ? order : (a->place > b->place) - (a->place < b->place);
}

/* The key at the top, which the caller keeps alive. */
static struct key key_at(lua_State *L, lua_Integer place)
{
	struct key key = {.rank = OTHER, .place = place};
	switch (lua_type(L, -1)) {
	case LUA_TNUMBER:
		key.rank = lua_isinteger(L, -1) ? INTEGER : FLOAT;
		key.integer = lua_tointeger(L, -1);
		key.number = lua_tonumber(L, -1);
		break;
	case LUA_TSTRING:
		key.rank = STRING;
		key.string = lua_tolstring(L, -1, &key.len);
		break;
	default:
		break;
	}
	return key;
}

/* Has the table at index 1 a string key? */
static bool has_names(lua_State *L)
{
	lua_Integer count = 0;
	for (lua_pushnil(L); lua_next(L, 1); lua_pop(L, 1)) {
		if (++count % AT_ONCE == 0)
			xc_limit_spend(L, AT_ONCE);
		if (lua_type(L, -2) != LUA_TSTRING)
			continue;
		lua_pop(L, 2);
		return true;
	}
	return false;
}

/* Push the list of keys of the table at index 1, in Lua's order; returns their number. */
static lua_Integer push_keys(lua_State *L)
{
	lua_Integer count = 0;
	lua_newtable(L);
	for (lua_pushnil(L); lua_next(L, 1);) {
		lua_pop(L, 1);
		lua_pushvalue(L, -1);
		lua_rawseti(L, -3, ++count);
		if (count % AT_ONCE == 0)
			xc_limit_spend(L, AT_ONCE * STEPS_A_KEY);
	}
	return count;
}

/* Sort the list at the top. */
static void sort_keys(lua_State *L, lua_Integer count)
{
	int list = lua_gettop(L);
	struct key *keys = lua_newuserdatauv(L, (size_t)count * sizeof *keys, 0);
	for (lua_Integer i = 0; i < count; i++) {
		lua_rawgeti(L, list, i + 1);
		keys[i] = key_at(L, i + 1);
		lua_pop(L, 1);
	}
	qsort(keys, (size_t)count, sizeof *keys, by_key);
	lua_createtable(L, (int)count, 0);
	for (lua_Integer i = 0; i < count; i++) {
		lua_rawgeti(L, list, keys[i].place);
		lua_rawseti(L, -2, i + 1);
	}
	lua_replace(L, list);
	lua_settop(L, list);
}

/* Upvalues: the keys, the number of visited ones. Argument: the table, from which keys may have been removed since. */
static int next_in_order(lua_State *L)
{
	luaL_checktype(L, 1, LUA_TTABLE);
	lua_settop(L, 1);
	lua_Integer at = lua_tointeger(L, lua_upvalueindex(2));
	while (lua_rawgeti(L, lua_upvalueindex(1), ++at) != LUA_TNIL) {
		lua_pushvalue(L, -1);
		if (lua_rawget(L, 1) != LUA_TNIL)
			break;
		lua_settop(L, 1);
		if (at % AT_ONCE == 0)
			xc_limit_spend(L, AT_ONCE);
	}
	lua_pushinteger(L, at);
	lua_replace(L, lua_upvalueindex(2));
	return lua_gettop(L) - 1;
}

/* Upvalue: the original function. */
static int pairs(lua_State *L)
{
	luaL_checkany(L, 1);
	bool plain = !lua_istable(L, 1) || luaL_getmetafield(L, 1, "__pairs") != LUA_TNIL;
	lua_settop(L, 1);
	if (plain || !has_names(L)) {
		lua_pushvalue(L, lua_upvalueindex(1));
		lua_insert(L, 1);
		lua_call(L, 1, 3);
		return 3;
	}
	sort_keys(L, push_keys(L));
	lua_pushinteger(L, 0);
	lua_pushcclosure(L, next_in_order, 2);
	lua_insert(L, 1);
	lua_pushnil(L);
	return 3;
}

void xc_safe_pairs(lua_State *L)
{
	lua_getfield(L, -1, "pairs");
	lua_pushcclosure(L, pairs, 1);
	lua_setfield(L, -2, "pairs");
}
