/* bind_graph_ask: queries about one node of a graph. */
#include "lua/graph/bind_graph.h"

enum { ADDRESSES = 100000 };

struct xc_refgraph *xc_graph_check_ways(lua_State *L)
{
	struct xc_refgraph *g = xc_graph_check_asked(L);
	if (!g->from) {
		xc_limit_make_room(L, xc_refgraph_find_paths_cost(g));
		xc_limit_spend(L, g->count);
		xc_refgraph_find_paths(g);
		xc_graph_settle(L, lua_touserdata(L, 1));
	}
	return g;
}

struct xc_refgraph *xc_graph_check_retained(lua_State *L)
{
	struct xc_refgraph *g = xc_graph_check_asked(L);
	if (!g->above) {
		xc_limit_make_room(L, xc_refgraph_retain_cost(g));
		xc_limit_spend(L, g->count * 4);
		xc_refgraph_retain(g);
		xc_graph_settle(L, lua_touserdata(L, 1));
	}
	return g;
}

/* With its roots in order. */
static struct xc_refgraph *check_rooted(lua_State *L)
{
	struct xc_refgraph *g = xc_graph_check_asked(L);
	if (!g->rooted) {
		xc_limit_make_room(L, xc_refgraph_root_of_cost(g));
		xc_limit_spend(L, g->root_count);
		xc_refgraph_root_of(g, XC_NO_NODE);
		xc_graph_settle(L, lua_touserdata(L, 1));
	}
	return g;
}

/* The node of argument 2; raises when there is none. */
static uint32_t check_node(lua_State *L, const struct xc_refgraph *g)
{
	xc_addr addr = xc_bind_check_address(L, 2);
	uint32_t node = xc_refgraph_find(g, addr);
	if (node == XC_NO_NODE)
		xc_bind_fail(L, XC_ERR_NOT_FOUND, "0x%llx is in no node of the graph", (unsigned long long)addr);
	return node;
}

static void push_address(lua_State *L, const struct xc_refgraph *g, uint32_t node)
{
	lua_pushinteger(L, (lua_Integer)g->addr[node]);
}

/* g:count() */
static int count(lua_State *L)
{
	const struct xc_refgraph *g = xc_graph_check_asked(L);
	lua_pushinteger(L, (lua_Integer)g->count);
	lua_pushinteger(L, (lua_Integer)g->edge_count);
	return 2;
}

/* g:find(addr) */
static int find(lua_State *L)
{
	const struct xc_refgraph *g = xc_graph_check_asked(L);
	uint32_t node = xc_refgraph_find(g, xc_bind_check_address(L, 2));
	if (node == XC_NO_NODE) {
		lua_pushnil(L);
		return 1;
	}
	push_address(L, g, node);
	lua_pushinteger(L, (lua_Integer)g->size[node]);
	lua_pushstring(L, g->kinds.items[g->kind[node]]);
	return 3;
}

/* g:path(addr) */
static int path(lua_State *L)
{
	const struct xc_refgraph *g = xc_graph_check_ways(L);
	uint32_t node = check_node(L, g), at = node;
	lua_Integer length = 1;
	if (g->from[node] == XC_NO_NODE) {
		lua_pushnil(L);
		return 1;
	}
	for (; g->from[at] < g->count; at = g->from[at])
		length++;
	const char *root = g->root_names.items[g->from[at] & ~XC_REFGRAPH_ROOT];
	xc_limit_make_room(L, (uint64_t)length * sizeof(lua_Number) * 2);
	lua_createtable(L, (int)length, 0);
	for (at = node; length > 0; at = g->from[at]) {
		push_address(L, g, at);
		lua_rawseti(L, -2, length--);
	}
	lua_pushstring(L, root);
	return 2;
}

/* The addresses of a row, and how many there are. */
static int push_row(lua_State *L, const struct xc_refgraph *g, const uint32_t *row, uint32_t total)
{
	lua_Integer most = luaL_optinteger(L, 3, ADDRESSES);
	luaL_argcheck(L, most >= 0, 3, "max is negative");
	uint32_t told = (uint64_t)most < total ? (uint32_t)most : total;
	xc_limit_make_room(L, (uint64_t)told * sizeof(lua_Number) * 2);
	lua_createtable(L, (int)told, 0);
	for (uint32_t i = 0; i < told; i++) {
		push_address(L, g, row[i]);
		lua_rawseti(L, -2, (lua_Integer)i + 1);
	}
	xc_limit_spend(L, told / 4);
	lua_pushinteger(L, total);
	return 2;
}

/* g:referrers(addr, max) */
static int referrers(lua_State *L)
{
	struct xc_refgraph *g = check_rooted(L);
	uint32_t node = check_node(L, g);
	push_row(L, g, g->back + g->back_start[node], g->back_start[node + 1] - g->back_start[node]);
	const struct xc_refgraph_root *root = xc_refgraph_root_of(g, node);
	if (!root)
		return 2;
	lua_pushstring(L, g->root_names.items[root->name]);
	return 3;
}

/* g:refers(addr, max) */
static int refers(lua_State *L)
{
	const struct xc_refgraph *g = xc_graph_check_asked(L);
	uint32_t node = check_node(L, g);
	return push_row(L, g, g->to + g->start[node], g->start[node + 1] - g->start[node]);
}

/* g:retained(addr) */
static int retained(lua_State *L)
{
	const struct xc_refgraph *g = xc_graph_check_retained(L);
	uint32_t node = check_node(L, g);
	if (!g->kept[node]) {
		lua_pushnil(L);
		return 1;
	}
	lua_pushinteger(L, (lua_Integer)g->kept_bytes[node]);
	lua_pushinteger(L, g->kept[node]);
	return 2;
}

/* g:dominator(addr) */
static int dominator(lua_State *L)
{
	const struct xc_refgraph *g = xc_graph_check_retained(L);
	uint32_t above = g->above[check_node(L, g)];
	if (above < g->count) {
		push_address(L, g, above);
		return 1;
	}
	lua_pushnil(L);
	if (above == XC_NO_NODE)
		return 1;
	lua_pushstring(L, g->root_names.items[above & ~XC_REFGRAPH_ROOT]);
	return 2;
}

const luaL_Reg xc_graph_questions[] = {{"count", count},         {"find", find},     {"path", path},
				       {"referrers", referrers}, {"refers", refers}, {"retained", retained},
				       {"dominator", dominator}, {NULL, NULL}};
