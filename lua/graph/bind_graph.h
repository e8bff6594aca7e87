/* bind_graph: declarations shared by the bindings of a plugin's object graph (heap/objgraph/refgraph.h). */
#ifndef XC_BIND_GRAPH_H
#define XC_BIND_GRAPH_H

#include "heap/objgraph/refgraph.h"
#include "lua/bind/bind_class.h"

/* User value 1: numbers of kinds by name; user value 2: of roots' names. */
struct xc_lua_graph {
	struct xc_refgraph *graph;
	uint64_t counted;        /* bytes that the limit has counted for it */
	struct xc_window window; /* of the running scan */
	unsigned fills;          /* nested calls of g:fill with names */
};

/* Argument 1 as a graph that is open for additions; raises otherwise. */
struct xc_lua_graph *xc_graph_check_open(lua_State *L);

/* The same as a graph for questions: it is finished now if it was not. */
struct xc_refgraph *xc_graph_check_asked(lua_State *L);

/* The same with its shortest paths, or with retained sizes. */
struct xc_refgraph *xc_graph_check_ways(lua_State *L);
struct xc_refgraph *xc_graph_check_retained(lua_State *L);

/* Update the memory that the limit counts. */
void xc_graph_settle(lua_State *L, struct xc_lua_graph *self);

/* Reserve room for more items, or raise. */
void xc_graph_make_room(lua_State *L, struct xc_lua_graph *self, size_t nodes, size_t rows, size_t targets);

/* An argument that is one number, or a column of them. */
struct xc_column_arg {
	int index; /* stack index; the value at it is a table unless `single` */
	bool single;
	uint64_t value; /* value, if single */
	size_t count;   /* of a column */
	const char *name;
};

struct xc_column_arg xc_graph_check_column(lua_State *L, int index, const char *name);

/* The number of rows: all columns must have the same length. */
size_t xc_graph_rows(lua_State *L, const struct xc_column_arg *columns, size_t count);

/* Item i (from 0); false for nil and false. Raises when it is not an integer. */
bool xc_graph_item_slow(lua_State *L, const struct xc_column_arg *column, size_t i, uint64_t *item_out);

static inline bool xc_graph_item(lua_State *L, const struct xc_column_arg *column, size_t i, uint64_t *item_out)
{
	*item_out = column->value;
	if (column->single)
		return true;
	lua_rawgeti(L, column->index, (lua_Integer)i + 1);
	if (!lua_isinteger(L, -1))
		return xc_graph_item_slow(L, column, i, item_out);
	*item_out = (uint64_t)lua_tointeger(L, -1);
	lua_pop(L, 1);
	return true;
}

/* Methods that other files define: bind_graph_scan.c, bind_graph_ask.c, bind_graph_list.c. */
int xc_graph_scan(lua_State *L);
extern const luaL_Reg xc_graph_questions[], xc_graph_lists[];
extern const struct xc_bind_class xc_graph_class;

#endif
