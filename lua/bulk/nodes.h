/* nodes: addresses of structs, collected while their number is not known yet; in memory that counts for the script's limit. */
#ifndef XC_NODES_H
#define XC_NODES_H

#include "lua/vm/bind.h"

struct xc_nodes {
	xc_addr *items;
	size_t count, room;
};

/* Push an empty list, which is freed with what was pushed. */
struct xc_nodes *xc_nodes_push(lua_State *L);

/* Make room for more; raises limits. */
void xc_nodes_grow(lua_State *L, struct xc_nodes *nodes);

/* Free the items now. */
void xc_nodes_release(lua_State *L, struct xc_nodes *nodes);

/* Once, when the state is made. */
void xc_nodes_open(lua_State *L);

#endif
