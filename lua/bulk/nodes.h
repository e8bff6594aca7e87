/* nodes: a growing list of addresses of structs, in memory that counts for the script's limit. */
#ifndef XC_NODES_H
#define XC_NODES_H

#include "lua/vm/bind.h"

struct xc_nodes {
	xc_addr *items;
	size_t count, room;
};

/* Push an empty list; it is freed with the pushed userdata. */
struct xc_nodes *xc_nodes_push(lua_State *L);

/* Make room for more items; raises limits. */
void xc_nodes_grow(lua_State *L, struct xc_nodes *nodes);

/* Free the items now. */
void xc_nodes_release(lua_State *L, struct xc_nodes *nodes);

/* Called once, when the state is created. */
void xc_nodes_open(lua_State *L);

#endif
