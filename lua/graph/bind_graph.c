/* bind_graph: xcore.graph: nodes, references and roots are stored in the arrays of heap/objgraph/refgraph.h, a block
 * of rows at a time, so that their memory is charged to the run's limits before it is allocated. */
#include "lua/graph/bind_graph.h"

#include <string.h>

enum { BLOCK = 4096, KINDS = 1, ROOTS = 2 };

/* A finalizer may still use the graph after its own has run. */
static struct xc_lua_graph *check_graph(lua_State *L)
{
	struct xc_lua_graph *self = xc_bind_class_check(L, 1, &xc_graph_class);
	if (!self->graph)
		xc_bind_fail(L, XC_ERR_USAGE, "the graph is no longer available");
	return self;
}

struct xc_lua_graph *xc_graph_check_open(lua_State *L)
{
	struct xc_lua_graph *self = check_graph(L);
	if (self->graph->finished)
		xc_bind_fail(L, XC_ERR_USAGE, "the graph is finished: nothing can be added");
	return self;
}

void xc_graph_settle(lua_State *L, struct xc_lua_graph *self)
{
	xc_limit_hold(L, &self->counted, xc_refgraph_bytes(self->graph));
}

void xc_graph_make_room(lua_State *L, struct xc_lua_graph *self, size_t nodes, size_t rows, size_t targets)
{
	xc_bind_raise(L, xc_refgraph_fits(self->graph, nodes, rows, targets));
	uint64_t cost = xc_refgraph_reserve_cost(self->graph, nodes, rows, targets);
	if (cost == 0)
		return;
	xc_limit_make_room(L, cost);
	xc_refgraph_reserve(self->graph, nodes, rows, targets);
	xc_graph_settle(L, self);
}

struct xc_refgraph *xc_graph_check_asked(lua_State *L)
{
	struct xc_lua_graph *self = check_graph(L);
	struct xc_refgraph *g = self->graph;
	if (g->finished)
		return g;
	xc_limit_make_room(L, xc_refgraph_finish_cost(g));
	xc_limit_spend(L, g->count + g->target_count);
	xc_refgraph_finish(g);
	xc_graph_settle(L, self);
	return g;
}

/* ---- columns ---- */

struct xc_column_arg xc_graph_check_column(lua_State *L, int index, const char *name)
{
	struct xc_column_arg column = {.index = index, .name = name};
	if (lua_istable(L, index)) {
		column.count = lua_rawlen(L, index);
		return column;
	}
	if (!lua_isinteger(L, index) && !xc_bind_test(L, index))
		xc_bind_fail(L, XC_ERR_USAGE, "%s: expected an integer or a column, not a %s value", name,
			     luaL_typename(L, index));
	column.single = true;
	column.value = xc_bind_check_address(L, index);
	return column;
}

size_t xc_graph_rows(lua_State *L, const struct xc_column_arg *columns, size_t count)
{
	const struct xc_column_arg *first = NULL;
	for (size_t i = 0; i < count; i++) {
		if (columns[i].single)
			continue;
		if (first && first->count != columns[i].count)
			xc_bind_fail(L, XC_ERR_USAGE, "%s has %zu rows and %s %zu", first->name, first->count,
				     columns[i].name, columns[i].count);
		first = &columns[i];
	}
	return first ? first->count : 1;
}

bool xc_graph_item_slow(lua_State *L, const struct xc_column_arg *column, size_t i, uint64_t *item_out)
{
	bool is_there = lua_toboolean(L, -1);
	int is_integer = 0;
	if (is_there && xc_bind_test(L, lua_gettop(L))) {
		*item_out = xc_bind_check_address(L, lua_gettop(L));
		is_integer = 1;
	} else if (is_there) {
		*item_out = (uint64_t)lua_tointegerx(L, -1, &is_integer);
	}
	if (is_there && !is_integer)
		xc_bind_fail(L, XC_ERR_USAGE, "%s: row %zu is a %s value, not an integer", column->name, i + 1,
			     luaL_typename(L, -1));
	lua_pop(L, 1);
	return is_there;
}

/* ---- names ---- */

/* The number of the string at the top of the stack, which is popped; the table of numbers is at `index`. */
static uint32_t number_of(lua_State *L, int index, struct xc_refgraph_names *names, const char *what)
{
	if (lua_type(L, -1) != LUA_TSTRING)
		xc_bind_fail(L, XC_ERR_USAGE, "%s: expected a string, not a %s value", what, luaL_typename(L, -1));
	lua_pushvalue(L, -1);
	bool is_new = lua_rawget(L, index) == LUA_TNIL;
	uint32_t number = (uint32_t)lua_tointeger(L, -1);
	lua_pop(L, 1);
	if (is_new && names->count >= XC_REFGRAPH_NAMES)
		xc_bind_fail(L, XC_ERR_LIMIT, "%s: more than %d different names", what, XC_REFGRAPH_NAMES);
	if (is_new) {
		number = (uint32_t)names->count;
		lua_pushvalue(L, -1);
		lua_pushinteger(L, number);
		lua_rawset(L, index);
		(void)xc_refgraph_name(names, lua_tostring(L, -1));
	}
	lua_pop(L, 1);
	return number;
}

/* ---- adding ---- */

enum { NODES_KIND = 4, NODES_NUMBERS };

static void add_nodes(lua_State *L, struct xc_lua_graph *self, const struct xc_column_arg *columns, size_t from,
		      size_t to, uint32_t kind)
{
	struct xc_refgraph *g = self->graph;
	uint64_t addr, size;
	xc_graph_make_room(L, self, to - from, 0, 0);
	for (size_t i = from; i < to; i++) {
		if (!xc_graph_item(L, &columns[0], i, &addr) || !xc_graph_item(L, &columns[1], i, &size))
			continue;
		if (!columns[2].single) {
			lua_rawgeti(L, NODES_KIND, (lua_Integer)i + 1);
			kind = number_of(L, NODES_NUMBERS, &g->kinds, "kind");
		}
		if ((int64_t)size < 0)
			xc_bind_fail(L, XC_ERR_USAGE, "sizes: row %zu is negative", i + 1);
		if (addr)
			xc_refgraph_node(g, addr, size, kind);
	}
	xc_limit_spend(L, (to - from) / 4);
}

/* g:nodes(addresses, sizes, kind) */
static int graph_nodes(lua_State *L)
{
	struct xc_lua_graph *self = xc_graph_check_open(L);
	uint32_t kind = 0;
	lua_settop(L, NODES_KIND);
	lua_getiuservalue(L, 1, KINDS);
	struct xc_column_arg columns[3] = {xc_graph_check_column(L, 2, "addresses"),
					   xc_graph_check_column(L, 3, "sizes"),
					   {.index = NODES_KIND, .single = true, .name = "kinds"}};
	if (lua_istable(L, NODES_KIND)) {
		columns[2].single = false;
		columns[2].count = lua_rawlen(L, NODES_KIND);
	} else {
		lua_pushvalue(L, NODES_KIND);
		kind = number_of(L, NODES_NUMBERS, &self->graph->kinds, "kind");
	}
	size_t count = xc_graph_rows(L, columns, XC_COUNT(columns));
	for (size_t from = 0; from < count; from += BLOCK)
		add_nodes(L, self, columns, from, count - from < BLOCK ? count : from + BLOCK, kind);
	return 0;
}

static void add_edges(lua_State *L, struct xc_lua_graph *self, const struct xc_column_arg *columns, size_t from,
		      size_t to)
{
	uint64_t source, target;
	xc_graph_make_room(L, self, 0, to - from, to - from);
	for (size_t i = from; i < to; i++) {
		if (!xc_graph_item(L, &columns[0], i, &source) || !xc_graph_item(L, &columns[1], i, &target) ||
		    !source || !target)
			continue;
		xc_refgraph_row(self->graph, source, false);
		xc_refgraph_to(self->graph, target);
	}
	xc_limit_spend(L, (to - from) / 4);
}

/* g:edges(from, to) */
static int graph_edges(lua_State *L)
{
	struct xc_lua_graph *self = xc_graph_check_open(L);
	lua_settop(L, 3);
	const struct xc_column_arg columns[2] = {xc_graph_check_column(L, 2, "from"),
						 xc_graph_check_column(L, 3, "to")};
	size_t count = xc_graph_rows(L, columns, XC_COUNT(columns));
	for (size_t from = 0; from < count; from += BLOCK)
		add_edges(L, self, columns, from, count - from < BLOCK ? count : from + BLOCK);
	return 0;
}

/* g:root(addr, name) */
static int graph_root(lua_State *L)
{
	struct xc_lua_graph *self = xc_graph_check_open(L);
	uint64_t addr;
	lua_settop(L, 3);
	const struct xc_column_arg column = xc_graph_check_column(L, 2, "addr");
	lua_getiuservalue(L, 1, ROOTS);
	lua_pushvalue(L, 3);
	uint32_t name = number_of(L, 4, &self->graph->root_names, "name");
	size_t count = xc_graph_rows(L, &column, 1);
	xc_limit_make_room(L, xc_refgraph_roots_cost(self->graph, count));
	for (size_t i = 0; i < count; i++)
		if (xc_graph_item(L, &column, i, &addr) && addr)
			xc_refgraph_root(self->graph, addr, name);
	xc_graph_settle(L, self);
	xc_limit_spend(L, count / 4);
	return 0;
}

/* ---- the object ---- */

/* Repeated nodes and dangling references are known once the graph is finished. Argument 1 of an index is the object. */
static void graph_repeated(lua_State *L, void *self)
{
	(void)self;
	lua_pushinteger(L, (lua_Integer)xc_graph_check_asked(L)->repeated);
}

static void graph_missing(lua_State *L, void *self)
{
	(void)self;
	lua_pushinteger(L, (lua_Integer)check_graph(L)->graph->missing);
}

static void graph_strays(lua_State *L, void *self)
{
	(void)self;
	lua_pushinteger(L, (lua_Integer)xc_graph_check_asked(L)->strays);
}

static int graph_gc(lua_State *L)
{
	struct xc_lua_graph *self = lua_touserdata(L, 1);
	xc_window_fini(&self->window);
	xc_refgraph_free(self->graph);
	self->graph = NULL;
	xc_limit_hold(L, &self->counted, 0);
	return 0;
}

static const struct xc_bind_property properties[] = {
	{"repeated", graph_repeated}, {"missing", graph_missing}, {"strays", graph_strays}, {NULL, NULL}};
static const luaL_Reg methods[] = {
	{"nodes", graph_nodes}, {"edges", graph_edges}, {"scan", xc_graph_scan}, {"root", graph_root}, {NULL, NULL}};
static const luaL_Reg metamethods[] = {{"__gc", graph_gc}, {NULL, NULL}};

const struct xc_bind_class xc_graph_class = {
	.name = "xcore.Graph",
	.noun = "a graph",
	.properties = properties,
	.methods = methods,
	.metamethods = metamethods,
};

static int graph_new(lua_State *L)
{
	struct xc_lua_graph *self = xc_bind_class_new(L, &xc_graph_class, sizeof *self);
	self->graph = xc_refgraph_new(0);
	lua_newtable(L);
	lua_setiuservalue(L, -2, KINDS);
	lua_newtable(L);
	lua_setiuservalue(L, -2, ROOTS);
	return 1;
}

void xc_bind_graph_open(lua_State *L)
{
	static const luaL_Reg functions[] = {{"graph", graph_new}, {NULL, NULL}};
	luaL_setfuncs(L, functions, 0);
	xc_bind_class_open(L, &xc_graph_class);
	xc_bind_class_add(L, &xc_graph_class, xc_graph_questions);
	xc_bind_class_add(L, &xc_graph_class, xc_graph_lists);
}
