/* bind_graph_list: queries about all nodes of a graph: the largest, those of a kind, unreachable ones, and flame
 * graphs. */
#include <stdlib.h>
#include <string.h>

#include "lua/graph/bind_graph.h"
#include "lua/report/bind_report.h"

enum { OPTIONS = 2, TOP = 20, TOP_MOST = 1 << 20, FRAMES = 1000000, DEPTH = 100 };

/* The number of a kind by its name; UINT32_MAX: no node has it, or name nil (any kind). */
static uint32_t kind_number(lua_State *L, int index, bool *any_out)
{
	*any_out = lua_isnil(L, index);
	if (*any_out)
		return UINT32_MAX;
	luaL_checktype(L, index, LUA_TSTRING);
	lua_getiuservalue(L, 1, 1);
	lua_pushvalue(L, index);
	uint32_t number = lua_rawget(L, -2) == LUA_TNIL ? UINT32_MAX : (uint32_t)lua_tointeger(L, -1);
	lua_pop(L, 2);
	return number;
}

static void set_integer(lua_State *L, const char *key, uint64_t value)
{
	lua_pushinteger(L, (lua_Integer)value);
	lua_setfield(L, -2, key);
}

static void set_text(lua_State *L, const char *key, const char *value)
{
	lua_pushstring(L, value);
	lua_setfield(L, -2, key);
}

/* Argument 2 as a table of options; `allowed` lists them. */
static void check_options(lua_State *L, int index, const char *allowed)
{
	if (lua_isnoneornil(L, index)) {
		lua_settop(L, index - 1);
		lua_newtable(L);
	}
	luaL_checktype(L, index, LUA_TTABLE);
	lua_settop(L, index);
	xc_report_check_names(L, index, allowed);
}

/* An option with two values; the first is the default. */
static bool is_second(lua_State *L, int table, const char *key, const char *first, const char *second)
{
	lua_getfield(L, table, key);
	const char *word = lua_type(L, -1) == LUA_TSTRING ? lua_tostring(L, -1) : lua_isnil(L, -1) ? first : "";
	if (strcmp(word, first) != 0 && strcmp(word, second) != 0)
		xc_bind_fail(L, XC_ERR_USAGE, "%s: expected \"%s\" or \"%s\"", key, first, second);
	bool second_it_is = strcmp(word, second) == 0;
	lua_pop(L, 1);
	return second_it_is;
}

static lua_Integer integer_option(lua_State *L, int table, const char *key, lua_Integer normal, lua_Integer most)
{
	int is_integer = 1;
	if (lua_getfield(L, table, key) != LUA_TNIL)
		normal = lua_tointegerx(L, -1, &is_integer);
	if (!is_integer || normal < 0 || normal > most)
		xc_bind_fail(L, XC_ERR_USAGE, "%s: expected an integer from 0 to %lld", key, (long long)most);
	lua_pop(L, 1);
	return normal;
}

/* ---- the largest ---- */

static void push_node(lua_State *L, const struct xc_refgraph *g, uint32_t node)
{
	lua_createtable(L, 0, 5);
	set_integer(L, "addr", g->addr[node]);
	set_integer(L, "size", g->size[node]);
	set_text(L, "kind", g->kinds.items[g->kind[node]]);
	if (!g->kept[node])
		return;
	set_integer(L, "retained", g->kept_bytes[node]);
	set_integer(L, "count", g->kept[node]);
}

/* g:top{by =, kind =, limit =} */
static int top(lua_State *L)
{
	const struct xc_refgraph *g = xc_graph_check_retained(L);
	bool any;
	check_options(L, OPTIONS, "by kind limit");
	bool by_size = is_second(L, OPTIONS, "by", "retained", "size");
	size_t limit = (size_t)integer_option(L, OPTIONS, "limit", TOP, TOP_MOST);
	lua_getfield(L, OPTIONS, "kind");
	uint32_t kind = kind_number(L, OPTIONS + 1, &any);
	uint32_t *nodes = lua_newuserdatauv(L, (limit + 1) * sizeof *nodes, 0);
	size_t found = !any && kind == UINT32_MAX ? 0 : xc_refgraph_top(g, !by_size, kind, nodes, limit);
	xc_limit_spend(L, g->count / 4);
	lua_createtable(L, (int)found, 0);
	for (size_t i = 0; i < found; i++) {
		push_node(L, g, nodes[i]);
		lua_rawseti(L, -2, (lua_Integer)i + 1);
	}
	return 1;
}

/* ---- by kind, by root ---- */

struct numbered {
	uint64_t weight;
	uint32_t number;
};

static int by_weight(const void *a, const void *b)
{
	const struct numbered *x = a, *y = b;
	return x->weight != y->weight ? (x->weight > y->weight ? -1 : 1) : x->number < y->number ? -1 : 1;
}

/* g:kinds() */
static int kinds(lua_State *L)
{
	const struct xc_refgraph *g = xc_graph_check_retained(L);
	size_t count = g->kinds.count;
	struct xc_refgraph_kind *found = lua_newuserdatauv(L, (count + 1) * sizeof *found, 0);
	struct numbered *order = lua_newuserdatauv(L, (count + 1) * sizeof *order, 0);
	memset(found, 0, (count + 1) * sizeof *found);
	xc_limit_make_room(L, g->count * UINT64_C(8));
	xc_refgraph_by_kind(g, found);
	xc_limit_spend(L, g->count);
	for (size_t i = 0; i < count; i++)
		order[i] = (struct numbered){found[i].bytes, (uint32_t)i};
	if (count)
		qsort(order, count, sizeof *order, by_weight);
	lua_createtable(L, (int)count, 0);
	for (size_t i = 0, told = 0; i < count; i++) {
		const struct xc_refgraph_kind *kind = &found[order[i].number];
		if (!kind->count)
			continue;
		lua_createtable(L, 0, 6);
		set_text(L, "kind", g->kinds.items[order[i].number]);
		set_integer(L, "count", kind->count);
		set_integer(L, "bytes", kind->bytes);
		set_integer(L, "retained", kind->retained);
		set_integer(L, "unreached", kind->unreached);
		set_integer(L, "unreached_bytes", kind->unreached_bytes);
		lua_rawseti(L, -2, (lua_Integer)++told);
	}
	return 1;
}

static void push_holder(lua_State *L, const struct xc_refgraph *g, size_t name, const uint64_t *nearest)
{
	const struct xc_refgraph_holder *holder = &g->holders[name];
	lua_createtable(L, 0, 6);
	if (name < g->root_names.count) {
		set_text(L, "name", g->root_names.items[name]);
		set_integer(L, "near_bytes", nearest[name]);
		set_integer(L, "near_count", nearest[g->root_names.count + name]);
	}
	set_integer(L, "roots", holder->roots);
	set_integer(L, "bytes", holder->bytes);
	set_integer(L, "count", holder->count);
}

/* g:roots() */
static int roots(lua_State *L)
{
	(void)xc_graph_check_ways(L);
	const struct xc_refgraph *g = xc_graph_check_retained(L);
	size_t names = g->root_names.count;
	xc_limit_make_room(L, g->count * UINT64_C(4));
	uint64_t *nearest = lua_newuserdatauv(L, (names + 1) * 2 * sizeof *nearest, 0);
	memset(nearest, 0, (names + 1) * 2 * sizeof *nearest);
	xc_refgraph_nearest(g, nearest, nearest + names);
	struct numbered *order = lua_newuserdatauv(L, (names + 1) * sizeof *order, 0);
	for (size_t i = 0; i < names; i++)
		order[i] = (struct numbered){g->holders[i].bytes, (uint32_t)i};
	if (names)
		qsort(order, names, sizeof *order, by_weight);
	lua_createtable(L, (int)names + 1, 0);
	for (size_t i = 0; i < names; i++) {
		push_holder(L, g, order[i].number, nearest);
		lua_rawseti(L, -2, (lua_Integer)i + 1);
	}
	if (g->holders[names].count) {
		push_holder(L, g, names, nearest);
		lua_rawseti(L, -2, (lua_Integer)names + 1);
	}
	return 1;
}

/* ---- what nothing reaches ---- */

struct walk {
	uint32_t kind, next;
	bool any;
};

/* Upvalue 1: the iteration; 2: the graph, which it keeps alive. */
static int next_unreached(lua_State *L)
{
	struct walk *w = lua_touserdata(L, lua_upvalueindex(1));
	const struct xc_refgraph *g = ((struct xc_lua_graph *)lua_touserdata(L, lua_upvalueindex(2)))->graph;
	while (g && w->next < g->count) {
		uint32_t node = w->next++;
		if (node % 4096 == 0)
			xc_limit_spend(L, 1024);
		if (g->from[node] != XC_NO_NODE || (!w->any && g->kind[node] != w->kind))
			continue;
		lua_pushinteger(L, (lua_Integer)g->addr[node]);
		lua_pushinteger(L, (lua_Integer)g->size[node]);
		lua_pushstring(L, g->kinds.items[g->kind[node]]);
		return 3;
	}
	lua_pushnil(L);
	return 1;
}

/* g:unreached(kind) */
static int unreached(lua_State *L)
{
	bool any;
	(void)xc_graph_check_ways(L);
	lua_settop(L, 2);
	uint32_t kind = kind_number(L, 2, &any);
	struct walk *w = lua_newuserdatauv(L, sizeof *w, 0);
	*w = (struct walk){.kind = kind, .any = any};
	lua_pushvalue(L, 1);
	lua_pushcclosure(L, next_unreached, 2);
	return 1;
}

/* ---- flame graphs ---- */

enum { TREE = 2, FILL_OPTIONS, NAME, NUMBERS };

/* The number of the text at the top of the stack, which is popped. */
static uint32_t label_number(lua_State *L, struct xc_refgraph *g)
{
	lua_pushvalue(L, -1);
	if (lua_rawget(L, NUMBERS) == LUA_TNIL) {
		if (g->label_names.count > FRAMES)
			xc_bind_fail(L, XC_ERR_LIMIT, "more than %d different names", FRAMES);
		lua_pop(L, 1);
		lua_pushvalue(L, -1);
		lua_pushinteger(L, xc_refgraph_name(&g->label_names, lua_tostring(L, -1)));
		lua_rawset(L, NUMBERS);
		lua_pushvalue(L, -1);
		lua_rawget(L, NUMBERS);
	}
	uint32_t number = (uint32_t)lua_tointeger(L, -1);
	lua_pop(L, 2);
	return number;
}

/* Call `name` for every node; `above` is the parent of each node in the tree. */
static void make_labels(lua_State *L, struct xc_lua_graph *self, const uint32_t *above)
{
	struct xc_refgraph *g = self->graph;
	unsigned number = ++self->fills;
	xc_limit_make_room(L, g->count * sizeof *g->labels);
	xc_refgraph_label(g);
	xc_graph_settle(L, self);
	for (size_t node = 0; node < g->count; node++) {
		if (node % 4096 == 0)
			xc_graph_settle(L, self);
		if (g->from[node] == XC_NO_NODE)
			continue;
		lua_pushvalue(L, NAME);
		lua_pushinteger(L, (lua_Integer)g->addr[node]);
		lua_pushstring(L, g->kinds.items[g->kind[node]]);
		if (above[node] < g->count)
			lua_pushinteger(L, (lua_Integer)g->addr[above[node]]);
		else
			lua_pushnil(L);
		lua_call(L, 3, 1);
		if (self->fills != number)
			xc_bind_fail(L, XC_ERR_USAGE, "a graph cannot be filled while its names are computed");
		if (lua_isnil(L, -1)) {
			lua_pop(L, 1);
			lua_pushstring(L, g->kinds.items[g->kind[node]]);
		}
		if (lua_type(L, -1) != LUA_TSTRING)
			xc_bind_fail(L, XC_ERR_USAGE, "name: expected a string or nil, not a %s value",
				     luaL_typename(L, -1));
		g->labels[node] = label_number(L, g);
	}
}

/* g:fill(tree, {by =, name =, depth =}) */
static int fill(lua_State *L)
{
	struct xc_refgraph *g = xc_graph_check_ways(L);
	struct xc_lua_graph *self = lua_touserdata(L, 1);
	struct xc_stacktree *tree = xc_report_check_tree(L, TREE);
	check_options(L, FILL_OPTIONS, "by name depth");
	bool by_dominator = is_second(L, FILL_OPTIONS, "by", "path", "dominator");
	unsigned depth = (unsigned)integer_option(L, FILL_OPTIONS, "depth", DEPTH, 1000);
	if (by_dominator)
		(void)xc_graph_check_retained(L);
	lua_getfield(L, FILL_OPTIONS, "name");
	lua_newtable(L);
	xc_refgraph_unlabel(g);
	if (!lua_isnil(L, NAME)) {
		luaL_checktype(L, NAME, LUA_TFUNCTION);
		make_labels(L, self, by_dominator ? g->above : g->from);
		tree = xc_report_check_tree(L, TREE); /* the function for names may have rendered the tree */
	}
	xc_limit_make_room(L, g->count * UINT64_C(12));
	size_t before = tree->node_count;
	struct xc_error *err = xc_refgraph_fill(g, tree, by_dominator, depth, FRAMES);
	xc_refgraph_unlabel(g);
	xc_graph_settle(L, self);
	bool too_many = err != NULL;
	xc_error_free(err);
	xc_report_spend_frames(L, TREE, tree->node_count - before); /* they exist, complete or not */
	if (too_many)
		xc_bind_fail(L, XC_ERR_LIMIT, "more than %d different paths", FRAMES);
	xc_limit_spend(L, g->count);
	return 0;
}

const luaL_Reg xc_graph_lists[] = {{"top", top},   {"kinds", kinds}, {"roots", roots}, {"unreached", unreached},
				   {"fill", fill}, {NULL, NULL}};
