/* bind_tally: xcore.tally: the number of structs with equal members; xcore.group: a column grouped by another column.
 *
 * Both do in C what a script would do for each row of a large column, at a tenth of the cost.
 *
 * A tally stores its distinct rows one after the other (values, count, first row), and finds them through a hash
 * table of their numbers. */
#include <string.h>

#include "lua/bulk/nodes.h"
#include "lua/bulk/rows.h"

enum { TYPE = 1, ADDRESSES, FIELDS, OPTIONS };

struct tally {
	struct xc_nodes *kinds; /* `width` words each */
	struct xc_nodes *table; /* numbers of distinct rows, from 1, or 0; open addressing; a power of two */
	size_t values, width, count;
};

/* ---- kinds ---- */

static uint64_t *kind_at(const struct tally *t, size_t index)
{
	return t->kinds->items + index * t->width;
}

static size_t place_of(const struct tally *t, const uint64_t *values)
{
	uint64_t hash = (uintptr_t)t->table; /* random, so that a core cannot choose which values collide */
	for (size_t i = 0; i < t->values; i++)
		hash = (hash ^ values[i]) * UINT64_C(0x9e3779b97f4a7c15) ^ hash >> 29;
	return (hash ^ hash >> 32) & (t->table->room - 1);
}

static void make_table(lua_State *L, struct tally *t)
{
	xc_nodes_grow(L, t->table);
	memset(t->table->items, 0, t->table->room * sizeof *t->table->items);
	for (size_t i = 0; i < t->count; i++) {
		size_t place = place_of(t, kind_at(t, i));
		while (t->table->items[place])
			place = (place + 1) & (t->table->room - 1);
		t->table->items[place] = i + 1;
	}
}

static uint64_t *add_kind(lua_State *L, struct tally *t, const uint64_t *values, size_t row)
{
	while (t->kinds->room < (t->count + 1) * t->width)
		xc_nodes_grow(L, t->kinds);
	uint64_t *kind = kind_at(t, t->count++);
	memcpy(kind, values, t->values * sizeof *values);
	kind[t->values] = 0;
	kind[t->values + 1] = row;
	return kind;
}

static uint64_t *find_kind(lua_State *L, struct tally *t, const uint64_t *values, size_t row)
{
	size_t place = place_of(t, values);
	for (; t->table->items[place]; place = (place + 1) & (t->table->room - 1)) {
		uint64_t *kind = kind_at(t, t->table->items[place] - 1);
		if (memcmp(kind, values, t->values * sizeof *values) == 0)
			return kind;
	}
	t->table->items[place] = t->count + 1;
	uint64_t *kind = add_kind(L, t, values, row);
	if (t->count * 2 > t->table->room)
		make_table(L, t);
	return kind;
}

static void count_block(lua_State *L, struct tally *t, const struct xc_rows *rows, size_t from, size_t count,
			const struct xc_rows_block *block)
{
	uint64_t values[XC_ROWS_FIELDS];
	for (size_t at = 0; at < count; at++) {
		if (block->failed[at >> 6] >> (at & 63) & 1)
			continue;
		for (size_t f = 0; f < t->values; f++)
			values[f] = block->numbers[f * rows->block + at];
		find_kind(L, t, values, from + at)[t->values]++;
	}
}

/* ---- the tally ---- */

/* Push the columns of values, and columns of counts and of addresses of first rows. */
static void push_kinds(lua_State *L, const struct tally *t, struct xc_rows *rows)
{
	const xc_addr *addresses = rows->nodes;
	rows->count = t->count;
	xc_rows_push_tables(L, rows);
	for (size_t i = 0; i < t->count; i++)
		for (int f = 0; f < rows->field_count; f++) {
			xc_rows_push_number(L, kind_at(t, i)[f], rows->fields[f].form);
			lua_rawseti(L, rows->first + f, (lua_Integer)i + 1);
		}
	xc_rows_push_columns(L, rows, FIELDS);
	lua_createtable(L, (int)t->count, 0);
	lua_createtable(L, (int)t->count, 0);
	for (size_t i = 0; i < t->count; i++) {
		const uint64_t *kind = kind_at(t, i);
		lua_pushinteger(L, (lua_Integer)kind[t->values]);
		lua_rawseti(L, -3, (lua_Integer)i + 1);
		lua_pushinteger(L, (lua_Integer)addresses[kind[t->values + 1]]);
		lua_rawseti(L, -2, (lua_Integer)i + 1);
	}
}

/* xcore.tally(type, addresses, fields, options) */
static int tally(lua_State *L)
{
	struct xc_rows rows = {.count = 0};
	struct xc_error *err = NULL;
	const struct xc_type *type = xc_bind_shape(xc_bind_check_type(L, TYPE));
	luaL_checktype(L, ADDRESSES, LUA_TTABLE);
	luaL_checktype(L, FIELDS, LUA_TTABLE);
	lua_settop(L, OPTIONS);
	if (lua_rawlen(L, FIELDS) == 0)
		xc_bind_fail(L, XC_ERR_USAGE, "tally needs at least one field");
	rows.partial = xc_rows_is_partial(L, OPTIONS);
	xc_rows_find(L, type, FIELDS, &rows);
	rows.count = lua_rawlen(L, ADDRESSES);
	rows.nodes = xc_rows_addresses(L, ADDRESSES, rows.count, rows.partial);
	struct tally t = {.values = (size_t)rows.field_count, .width = (size_t)rows.field_count + 2};
	t.kinds = xc_nodes_push(L);
	t.table = xc_nodes_push(L);
	struct xc_rows_block *block = lua_newuserdatauv(L, sizeof *block, 0);
	make_table(L, &t);
	for (size_t from = 0, count; from < rows.count && !err; from += count) {
		xc_limit_spend(L, XC_ROWS_NUMBERS / 16);
		count = xc_rows_read(xc_bind_host(L), &rows, from, block, &err);
		if (!err)
			count_block(L, &t, &rows, from, count, block);
		else
			return xc_rows_raise(L, err, &rows, from + count, FIELDS);
	}
	push_kinds(L, &t, &rows);
	lua_pushinteger(L, (lua_Integer)rows.missing);
	return 4;
}

/* ---- groups ---- */

enum { VALUES = 1, KEYS, GROUPS, SMALL = 64 };

/* The lists of keys from 0 to SMALL, which most keys are, lie on the stack from GROUPS + 1 on: no look-up. */
static bool small_key(lua_State *L, lua_Integer *key_out)
{
	if (!lua_isinteger(L, -1))
		return false;
	*key_out = lua_tointeger(L, -1);
	return *key_out >= 0 && *key_out < SMALL;
}

/* Replace the key at the top by its list. */
static void push_list(lua_State *L)
{
	lua_pushvalue(L, -1);
	if (lua_rawget(L, GROUPS) != LUA_TNIL) {
		lua_remove(L, -2);
		return;
	}
	lua_pop(L, 1);
	lua_newtable(L);
	lua_insert(L, -2);
	lua_pushvalue(L, -2);
	lua_rawset(L, GROUPS); /* raises for NaN */
}

static void count_small(lua_State *L, lua_Integer rows, lua_Integer *counts)
{
	for (lua_Integer i = 1; i <= rows; i++) {
		lua_Integer key;
		lua_rawgeti(L, KEYS, i);
		if (small_key(L, &key))
			counts[key]++;
		lua_pop(L, 1);
	}
}

static void make_small(lua_State *L, lua_Integer *counts)
{
	luaL_checkstack(L, SMALL + 10, "groups");
	for (lua_Integer key = 0; key < SMALL; key++) {
		if (counts[key]) {
			lua_createtable(L, (int)counts[key], 0);
			lua_pushvalue(L, -1);
			lua_rawseti(L, GROUPS, key);
		} else {
			lua_pushnil(L);
		}
		counts[key] = 0; /* from here on: its number of items */
	}
}

/* xcore.group(values, keys) */
static int group(lua_State *L)
{
	lua_Integer counts[SMALL] = {0}, key;
	luaL_checktype(L, VALUES, LUA_TTABLE);
	luaL_checktype(L, KEYS, LUA_TTABLE);
	lua_settop(L, KEYS);
	lua_newtable(L);
	lua_Integer rows = (lua_Integer)lua_rawlen(L, KEYS);
	if (lua_rawlen(L, VALUES) != (size_t)rows)
		xc_bind_fail(L, XC_ERR_USAGE, "columns of different lengths");
	xc_limit_spend(L, (uint64_t)rows / 4);
	count_small(L, rows, counts);
	make_small(L, counts);
	for (lua_Integer i = 1; i <= rows; i++) {
		lua_rawgeti(L, KEYS, i);
		if (small_key(L, &key)) {
			lua_pop(L, 1);
			lua_rawgeti(L, VALUES, i);
			lua_rawseti(L, GROUPS + 1 + (int)key, ++counts[key]);
		} else {
			push_list(L);
			lua_rawgeti(L, VALUES, i);
			lua_rawseti(L, -2, (lua_Integer)lua_rawlen(L, -2) + 1);
			lua_pop(L, 1);
		}
	}
	lua_settop(L, GROUPS);
	return 1;
}

void xc_bind_tally_open(lua_State *L)
{
	static const luaL_Reg functions[] = {{"tally", tally}, {"group", group}, {NULL, NULL}};
	luaL_setfuncs(L, functions, 0);
}
