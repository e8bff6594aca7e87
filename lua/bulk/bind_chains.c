/* bind_chains: xcore.chains: many short lists, such as the buckets of a hash table.
 *
 * All lists advance together, one step at a time: the nodes of one level are independent of each other, so they can
 * be prefetched. The lists of a level that have not ended form the next level. */
#include <string.h>

#include "core/elf/arch.h"
#include "lua/bulk/nodes.h"
#include "lua/bulk/rows.h"

enum { TYPE = 1, HEADS, NEXT, FIELDS, OPTIONS, WHY };
enum { AHEAD = 32 };

struct chains {
	struct xc_host *host;
	struct xc_fixed next;
	uint64_t mask, max;
	size_t first, heads; /* the first of the heads, from 1, and their number */
	bool partial, addresses;
	bool full;              /* max is reached: existing nodes are still read, and counted in their level */
	struct xc_nodes *nodes; /* all: level by level */
	struct xc_nodes *last;  /* for each list of the level a node of an earlier level, to find cycles */
	size_t level;           /* the start of the level in nodes */
	size_t levels;          /* the number of levels */
};

/* ---- arguments ---- */

/* The heads: all of them, or `count` from `first` on, as far as they exist. */
static void read_part(lua_State *L, struct chains *c)
{
	size_t all = c->heads;
	if (lua_getfield(L, OPTIONS, "first") != LUA_TNIL) {
		lua_Integer first = luaL_checkinteger(L, -1);
		luaL_argcheck(L, first >= 1, OPTIONS, "first starts at 1");
		c->first = (size_t)first;
		c->heads = c->first <= all ? all - c->first + 1 : 0;
	}
	if (lua_getfield(L, OPTIONS, "count") != LUA_TNIL) {
		lua_Integer count = luaL_checkinteger(L, -1);
		luaL_argcheck(L, count >= 0, OPTIONS, "count is negative");
		c->heads = (size_t)count < c->heads ? (size_t)count : c->heads;
	}
	lua_pop(L, 2);
}

static void read_options(lua_State *L, struct chains *c)
{
	c->first = 1;
	c->heads = lua_rawlen(L, HEADS);
	c->mask = UINT64_MAX;
	c->max = XC_ROWS_MAX;
	c->addresses = luaL_len(L, FIELDS) == 0;
	if (lua_isnil(L, OPTIONS))
		return;
	luaL_checktype(L, OPTIONS, LUA_TTABLE);
	if (lua_getfield(L, OPTIONS, "mask") != LUA_TNIL)
		c->mask = (uint64_t)luaL_checkinteger(L, -1);
	if (lua_getfield(L, OPTIONS, "max") != LUA_TNIL) {
		lua_Integer max = luaL_checkinteger(L, -1);
		luaL_argcheck(L, max >= 0, OPTIONS, "max is negative");
		c->max = (uint64_t)max < XC_ROWS_MAX ? (uint64_t)max : XC_ROWS_MAX;
	}
	read_part(L, c);
	lua_getfield(L, OPTIONS, "partial");
	c->partial = lua_toboolean(L, -1);
	lua_getfield(L, OPTIONS, "addresses");
	c->addresses |= lua_toboolean(L, -1);
	lua_pop(L, 4);
}

static void find_next(lua_State *L, struct chains *c, const struct xc_type *type)
{
	c->next = xc_fixed_find_number(L, type, luaL_checkstring(L, NEXT));
	if (!xc_fixed_is_address(&c->next, c->host->process->arch->word))
		xc_bind_fail(L, XC_ERR_USAGE, "%s of %s is not a pointer", lua_tostring(L, NEXT), xc_type_name(type));
}

/* ---- lists ---- */

/* Raise the error; or, when a partial result is accepted, keep the first one. */
static void fail(lua_State *L, const struct chains *c, struct xc_error *err)
{
	if (!c->partial)
		xc_bind_raise(L, err);
	xc_error_free(c->host->raised);
	c->host->raised = err;
	if (lua_isnil(L, WHY)) {
		lua_pushstring(L, err->message);
		lua_replace(L, WHY);
	}
}

static bool add(lua_State *L, struct chains *c, xc_addr node)
{
	struct xc_nodes *nodes = c->nodes;
	if (nodes->count >= c->max) {
		c->full = true;
		fail(L, c, xc_error_new(XC_ERR_LIMIT, "more than %llu nodes", (unsigned long long)c->max));
		return false;
	}
	if (nodes->count == nodes->room)
		xc_nodes_grow(L, nodes);
	nodes->items[nodes->count++] = node;
	return true;
}

static void read_heads(lua_State *L, struct chains *c)
{
	for (size_t i = 0; i < c->heads; i++) {
		lua_rawgeti(L, HEADS, (lua_Integer)(c->first + i));
		xc_addr head = (xc_addr)luaL_checkinteger(L, -1) & c->mask;
		lua_pop(L, 1);
		if (head && !add(L, c, head))
			return;
		if (i % 65536 == 65535)
			xc_limit_spend(L, 4096);
	}
}

static const uint8_t *bytes_ahead(const struct chains *c, size_t i, size_t end)
{
	if (i + AHEAD >= end)
		return NULL;
	return xc_memory_view_bytes(&c->host->views, c->nodes->items[i + AHEAD] + c->next.offset, 8);
}

/* Read the next-pointer of a node. False: it cannot be read. */
static bool load_next(const struct chains *c, xc_addr node, xc_addr *next_out)
{
	xc_addr at = node + c->next.offset;
	unsigned size = c->next.reading.size;
	uint64_t bits;
	const uint8_t *bytes = xc_memory_view_bytes(&c->host->views, at, sizeof bits);
	if (bytes)
		memcpy(&bits, bytes, sizeof bits);
	else if (!xc_bind_load(c->host, at, size, &bits))
		return false;
	*next_out = bits & ~UINT64_C(0) >> (64 - size * 8) & c->mask;
	return true;
}

/* Is the list at a node where it was before? The node at the last level whose number is a power of two is kept
 * (Brent). */
static bool is_cycle(struct chains *c, size_t list, xc_addr next)
{
	return list < c->last->count && c->last->items[list] == next;
}

/* The successor of a node; 0 at the end of its list. An unreadable node has none. */
static xc_addr next_of(lua_State *L, struct chains *c, size_t i)
{
	xc_addr node = c->nodes->items[i], next;
	if (!load_next(c, node, &next)) {
		struct xc_error *err = xc_bind_fault(c->host, node + c->next.offset, c->next.reading.size);
		fail(L, c, xc_error_wrap(err, "node 0x%llx", (unsigned long long)node));
		c->nodes->items[i] = 0;
		return 0;
	}
	if (next == node || is_cycle(c, i - c->level, next)) {
		fail(L, c,
		     xc_error_new(XC_ERR_FORMAT, "cycle: node 0x%llx leads back to node 0x%llx",
				  (unsigned long long)node, (unsigned long long)next));
		return 0;
	}
	return next;
}

static void keep_mark(lua_State *L, struct chains *c, size_t left, xc_addr mark)
{
	if (left == c->last->room)
		xc_nodes_grow(L, c->last);
	c->last->items[left] = mark;
}

/* Advance all lists of the level. The index of a remaining list is its index in `last`. Returns the number of nodes
 * of the level that could be read. */
static size_t step(lua_State *L, struct chains *c)
{
	size_t end = c->nodes->count, left = 0, read = 0;
	bool marks = (c->levels & (c->levels - 1)) == 0;
	for (size_t i = c->level; i < end; i++) {
		const uint8_t *ahead = bytes_ahead(c, i, end);
		size_t list = i - c->level;
		if (ahead)
			__builtin_prefetch(ahead);
		if (i % 65536 == 0)
			xc_limit_spend(L, 4096);
		xc_addr next = next_of(L, c, i), node = c->nodes->items[i];
		read += node != 0;
		if (!next || c->full)
			continue;
		keep_mark(L, c, left, marks || list >= c->last->count ? node : c->last->items[list]);
		left += add(L, c, next);
	}
	c->last->count = left;
	c->level = end;
	return read;
}

/* Unreadable nodes are left out. */
static void pack(struct xc_nodes *nodes)
{
	size_t kept = 0;
	for (size_t i = 0; i < nodes->count; i++)
		if (nodes->items[i])
			nodes->items[kept++] = nodes->items[i];
	nodes->count = kept;
}

/* ---- the function ---- */

/* Push the table of levels. */
static void follow_all(lua_State *L, struct chains *c)
{
	read_heads(L, c);
	lua_newtable(L);
	while (c->level < c->nodes->count) {
		c->levels++;
		lua_pushinteger(L, (lua_Integer)step(L, c));
		lua_rawseti(L, -2, (lua_Integer)c->levels);
	}
	pack(c->nodes);
}

static int chains(lua_State *L)
{
	lua_settop(L, OPTIONS);
	lua_pushnil(L);
	struct chains c = {.host = xc_bind_host(L)};
	struct xc_rows rows = {.count = 0};
	const struct xc_type *type = xc_bind_shape(xc_bind_check_type(L, TYPE));
	luaL_checktype(L, HEADS, LUA_TTABLE);
	if (lua_isnil(L, FIELDS)) {
		lua_newtable(L);
		lua_replace(L, FIELDS);
	}
	luaL_checktype(L, FIELDS, LUA_TTABLE);
	read_options(L, &c);
	find_next(L, &c, type);
	xc_rows_find(L, type, FIELDS, &rows);
	c.nodes = xc_nodes_push(L);
	c.last = xc_nodes_push(L);
	follow_all(L, &c);
	int levels = lua_gettop(L);
	xc_nodes_release(L, c.last);
	rows.nodes = c.nodes->items;
	rows.count = c.nodes->count;
	xc_rows_push_tables(L, &rows);
	struct xc_error *err = NULL;
	size_t count = xc_rows_fill(L, &rows, &err);
	if (err)
		fail(L, &c, xc_error_wrap(err, "node 0x%llx", (unsigned long long)c.nodes->items[count]));
	xc_rows_push_columns(L, &rows, FIELDS);
	if (c.addresses) {
		xc_rows_push_addresses(L, &rows, count);
		lua_rawseti(L, -2, 1);
	}
	xc_nodes_release(L, c.nodes);
	lua_pushinteger(L, (lua_Integer)count);
	lua_pushvalue(L, WHY);
	lua_pushvalue(L, levels);
	return 4;
}

void xc_bind_chains_open(lua_State *L)
{
	static const luaL_Reg functions[] = {
		{"chains", chains},
		{NULL, NULL},
	};
	luaL_setfuncs(L, functions, 0);
}
