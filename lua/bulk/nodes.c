#include "lua/bulk/nodes.h"

enum { FIRST = 4096 };

static const char nodes_key;

void xc_nodes_release(lua_State *L, struct xc_nodes *nodes)
{
	void *user;
	lua_Alloc allocate = lua_getallocf(L, &user);
	allocate(user, nodes->items, nodes->room * sizeof *nodes->items, 0);
	*nodes = (struct xc_nodes){0};
}

static int nodes_gc(lua_State *L)
{
	xc_nodes_release(L, lua_touserdata(L, 1));
	return 0;
}

struct xc_nodes *xc_nodes_push(lua_State *L)
{
	struct xc_nodes *nodes = lua_newuserdatauv(L, sizeof *nodes, 0);
	*nodes = (struct xc_nodes){0};
	lua_rawgetp(L, LUA_REGISTRYINDEX, &nodes_key);
	lua_setmetatable(L, -2);
	return nodes;
}

void xc_nodes_grow(lua_State *L, struct xc_nodes *nodes)
{
	void *user;
	lua_Alloc allocate = lua_getallocf(L, &user);
	size_t room = nodes->room ? nodes->room * 4 : FIRST, size = sizeof *nodes->items;
	xc_limit_make_room(L, room * size);
	xc_addr *items = allocate(user, nodes->items, nodes->room * size, room * size);
	if (!items)
		luaL_error(L, "not enough memory");
	nodes->items = items;
	nodes->room = room;
}

void xc_nodes_open(lua_State *L)
{
	lua_createtable(L, 0, 1);
	lua_pushcfunction(L, nodes_gc);
	lua_setfield(L, -2, "__gc");
	lua_rawsetp(L, LUA_REGISTRYINDEX, &nodes_key);
}
