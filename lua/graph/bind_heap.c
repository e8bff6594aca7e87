/* bind_heap: the heap in Lua: blocks with states and types, and references between them.
 *
 * A block is an object of 16 bytes that holds its index; its properties are looked up on access. The heap itself
 * belongs to the process: it is walked once, and graph and types are computed when they are first needed. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "dwarf/types/ctype.h"
#include "heap/graph/claim.h"
#include "heap/graph/graph.h"
#include "heap/query/objects.h"
#include "heap/types/typing.h"
#include "heap/query/whatis.h"
#include "heap/session/session.h"
#include "lua/bind/bind_class.h"
#include "lua/graph/bind_rule.h"
#include "lua/bind/eval_context.h"

enum { REFS_MOST = 100000 };

static const struct xc_bind_class block_class, heap_class;

struct block {
	struct xc_heap *heap;
	uint32_t index;
};

struct heap {
	struct xc_heap *heap;
};

static struct xc_heap *heap_of(lua_State *L, int arg)
{
	return ((struct heap *)xc_bind_class_check(L, arg, &heap_class))->heap;
}

static const struct xc_typing *typing_of(lua_State *L, struct xc_heap *heap)
{
	xc_bind_raise(L, xc_heap_analyze(heap));
	return heap->typing;
}

static struct xc_graph *graph_of(lua_State *L, struct xc_heap *heap)
{
	struct xc_graph *graph;
	xc_bind_raise(L, xc_graph_of(heap, &graph));
	return graph;
}

/* Called before blocks are looked up: claims change them. */
static struct xc_heap *settled(lua_State *L, int arg)
{
	struct xc_heap *heap = heap_of(L, arg);
	xc_claims_apply(heap);
	return heap;
}

static void push_block(lua_State *L, struct xc_heap *heap, uint32_t index)
{
	struct block *block = xc_bind_class_new(L, &block_class, sizeof *block);
	*block = (struct block){heap, index};
}

static void push_text(lua_State *L, const char *text)
{
	if (text)
		lua_pushstring(L, text);
	else
		lua_pushnil(L);
}

/* ---- a block ---- */

static void block_addr(lua_State *L, void *self)
{
	const struct block *b = self;
	lua_pushinteger(L, (lua_Integer)xc_block_addr(&b->heap->blocks, b->index));
}

static void block_size(lua_State *L, void *self)
{
	const struct block *b = self;
	lua_pushinteger(L, (lua_Integer)xc_block_size(&b->heap->blocks, b->index));
}

static void block_state(lua_State *L, void *self)
{
	const struct block *b = self;
	if (xc_block_state(&b->heap->blocks, b->index) == XC_BLOCK_LIVE)
		(void)graph_of(L, b->heap); /* which distinguishes live from leaked */
	lua_pushstring(L, xc_object_state(b->heap, b->index));
}

static void block_kept(lua_State *L, void *self)
{
	const struct block *b = self;
	push_text(L, xc_block_free_word(xc_block_state(&b->heap->blocks, b->index)));
}

static void block_type(lua_State *L, void *self)
{
	const struct block *b = self;
	push_text(L, xc_typing_name(typing_of(L, b->heap), b->index));
}

static void block_count(lua_State *L, void *self)
{
	const struct block *b = self;
	lua_pushinteger(L, (lua_Integer)xc_typing_count(typing_of(L, b->heap), b->index));
}

static void block_confidence(lua_State *L, void *self)
{
	const struct block *b = self;
	const struct xc_typed *typed = xc_typing_get(typing_of(L, b->heap), b->index);
	push_text(L, typed ? xc_confidence_word((enum xc_confidence)typed->confidence) : NULL);
}

static void block_via(lua_State *L, void *self)
{
	const struct block *b = self;
	const struct xc_typed *typed = xc_typing_get(typing_of(L, b->heap), b->index);
	push_text(L, typed ? typed->via : NULL);
}

/* The object, or the array of objects; nil for untyped blocks. */
static void block_value(lua_State *L, void *self)
{
	const struct block *b = self;
	const struct xc_typing *typing = typing_of(L, b->heap);
	const struct xc_typed *typed = xc_typing_get(typing, b->index);
	if (!typed || !typed->type) {
		lua_pushnil(L);
		return;
	}
	const struct xc_type *type = typed->type;
	if (typed->shape == XC_TYPED_ARRAY || typed->shape == XC_TYPED_TEXT)
		type = xc_ctype_array(b->heap->process, type, xc_typing_count(typing, b->index));
	xc_bind_push_place(L, type, xc_block_addr(&b->heap->blocks, b->index) + typed->offset, NULL);
}

static int block_equal(lua_State *L)
{
	const struct block *a = xc_bind_class_test(L, 1, &block_class), *b = xc_bind_class_test(L, 2, &block_class);
	lua_pushboolean(L, a && b && a->heap == b->heap && a->index == b->index);
	return 1;
}

static int block_text(lua_State *L)
{
	const struct block *b = xc_bind_class_check(L, 1, &block_class);
	char text[32];
	snprintf(text, sizeof text, "block 0x%" PRIx64, xc_block_addr(&b->heap->blocks, b->index));
	lua_pushstring(L, text);
	return 1;
}

static const struct xc_bind_property block_properties[] = {
	{"addr", block_addr},   {"size", block_size},   {"state", block_state},           {"kept", block_kept},
	{"type", block_type},   {"count", block_count}, {"confidence", block_confidence}, {"via", block_via},
	{"value", block_value}, {NULL, NULL},
};
static const luaL_Reg block_methods[] = {{NULL, NULL}};
static const luaL_Reg block_metamethods[] = {{"__eq", block_equal}, {"__tostring", block_text}, {NULL, NULL}};

static const struct xc_bind_class block_class = {
	.name = "xcore.Block",
	.noun = "a block",
	.properties = block_properties,
	.methods = block_methods,
	.metamethods = block_metamethods,
};

/* ---- all blocks ---- */

/* The state of an iteration, a userdata of its own. */
struct walk {
	struct xc_heap *heap;
	struct xc_object_filter filter; /* the strings belong to the table of options, which the closure holds */
	uint32_t next;
};

static int next_block(lua_State *L)
{
	struct walk *w = lua_touserdata(L, lua_upvalueindex(1));
	uint64_t looked = 0;
	while (w->next < w->heap->blocks.count) {
		uint32_t block = w->next++;
		if (xc_object_wanted(w->heap, &w->filter, block)) {
			push_block(L, w->heap, block);
			return 1;
		}
		if (++looked % 4096 == 0)
			xc_limit_spend(L, 4096);
	}
	lua_pushnil(L);
	return 1;
}

static const char *text_option(lua_State *L, const char *key)
{
	lua_getfield(L, 2, key);
	if (!lua_isnil(L, -1) && lua_type(L, -1) != LUA_TSTRING)
		xc_bind_fail(L, XC_ERR_USAGE, "%s: expected a string", key);
	const char *text = lua_tostring(L, -1);
	lua_pop(L, 1); /* the table holds it */
	return text;
}

/* h:blocks{state = "live", type = "struct client", min = 100} */
static int blocks(lua_State *L)
{
	struct xc_heap *heap = settled(L, 1);
	static const char *const states[] = {"live", "leaked", "free", "unknown"};
	lua_settop(L, 2);
	struct walk *w = lua_newuserdatauv(L, sizeof *w, 0);
	*w = (struct walk){.heap = heap};
	if (!lua_isnil(L, 2)) {
		luaL_checktype(L, 2, LUA_TTABLE);
		w->filter.state = text_option(L, "state");
		w->filter.type = text_option(L, "type");
		lua_getfield(L, 2, "min");
		w->filter.least = (uint64_t)luaL_optinteger(L, -1, 0);
		lua_pop(L, 1);
	}
	bool known = !w->filter.state;
	for (size_t i = 0; i < XC_COUNT(states) && !known; i++)
		known = strcmp(states[i], w->filter.state) == 0;
	if (!known)
		xc_bind_fail(L, XC_ERR_USAGE, "state: \"live\", \"leaked\", \"free\" or \"unknown\", not \"%s\"",
			     w->filter.state);
	if (w->filter.state)
		(void)graph_of(L, heap);
	if (w->filter.type)
		(void)typing_of(L, heap);
	lua_pushvalue(L, 2);
	lua_pushcclosure(L, next_block, 2);
	return 1;
}

/* ---- questions ---- */

/* h:at(addr) → block, offset; nil when no block is there */
static int at(lua_State *L)
{
	struct xc_heap *heap = settled(L, 1);
	xc_addr addr = xc_bind_check_address(L, 2);
	uint32_t block = xc_blocks_find(&heap->blocks, addr);
	if (block == XC_NO_BLOCK) {
		lua_pushnil(L);
		return 1;
	}
	push_block(L, heap, block);
	lua_pushinteger(L, (lua_Integer)(addr - xc_block_addr(&heap->blocks, block)));
	return 2;
}

/* h:whatis(addr) → "struct client (heap, live, 352 bytes) .querybuf" */
static int whatis(lua_State *L)
{
	struct xc_heap *heap = settled(L, 1);
	xc_addr addr = xc_bind_check_address(L, 2);
	(void)typing_of(L, heap);
	const struct xc_what what = xc_what(heap->process, heap, addr);
	xc_what_text(heap->process, heap, &what, xc_bind_scratch(L));
	return xc_bind_push_scratch(L);
}

static struct block *check_block(lua_State *L, int arg)
{
	return xc_bind_class_check(L, arg, &block_class);
}

/* h:refs(block) → the blocks that point to it, and how many roots do */
static int refs(lua_State *L)
{
	struct xc_heap *heap = settled(L, 1);
	uint32_t block = check_block(L, 2)->index;
	struct xc_graph *graph = graph_of(L, heap);
	uint64_t roots = 0;
	xc_graph_back(graph);
	lua_newtable(L);
	lua_Integer count = 0;
	for (uint32_t i = graph->back_start[block]; i < graph->back_start[block + 1] && count < REFS_MOST; i++) {
		push_block(L, heap, graph->back[i]);
		lua_rawseti(L, -2, ++count);
	}
	for (size_t i = 0; i < graph->root_count; i++)
		roots += graph->roots[i].block == block;
	lua_pushinteger(L, (lua_Integer)roots);
	return 2;
}

/* h:path(block) → the blocks from a root down to it, and the root's kind; nil for leaked ones */
static int path(lua_State *L)
{
	struct xc_heap *heap = settled(L, 1);
	uint32_t block = check_block(L, 2)->index;
	struct xc_graph *graph = graph_of(L, heap);
	const struct xc_root *root;
	uint32_t *chain;
	size_t count = xc_graph_path(graph, block, &chain, &root);
	if (count == 0) {
		lua_pushnil(L);
		return 1;
	}
	/* The chain is malloc'ed: it is moved to a userdata before anything can raise. */
	uint32_t *kept = xc_arena_alloc(xc_eval_context_arena(xc_eval_context_of(L)), count * sizeof *kept);
	memcpy(kept, chain, count * sizeof *kept);
	free(chain);
	lua_createtable(L, (int)(count < 1000 ? count : 1000), 0);
	for (size_t i = 0; i < count; i++) {
		push_block(L, heap, kept[i]);
		lua_rawseti(L, -2, (lua_Integer)i + 1);
	}
	lua_pushstring(L, xc_root_kind_word((enum xc_root_kind)root->kind));
	return 2;
}

/* h:totals() → by state: {live = {blocks, bytes}, …} */
static int totals(lua_State *L)
{
	const struct xc_heap *heap = settled(L, 1);
	const struct xc_heap_totals t = xc_heap_totals(heap);
	uint64_t count[3] = {0}, bytes[3] = {0};
	static const char *const keys[] = {"live", "free", "unknown"};
	for (unsigned state = 0; state < XC_BLOCK_STATES; state++) {
		unsigned i = state == XC_BLOCK_LIVE ? 0 : xc_block_is_free((enum xc_block_state)state) ? 1 : 2;
		count[i] += t.count[state];
		bytes[i] += t.bytes[state];
	}
	lua_createtable(L, 0, 3);
	for (unsigned i = 0; i < XC_COUNT(keys); i++) {
		lua_createtable(L, 0, 2);
		lua_pushinteger(L, (lua_Integer)count[i]);
		lua_setfield(L, -2, "blocks");
		lua_pushinteger(L, (lua_Integer)bytes[i]);
		lua_setfield(L, -2, "bytes");
		lua_setfield(L, -2, keys[i]);
	}
	return 1;
}

/* h:regions() → {{lo, hi, arena, what}, …}, in address order */
static int regions(lua_State *L)
{
	const struct xc_heap *heap = settled(L, 1);
	lua_createtable(L, (int)(heap->region_count < 1000 ? heap->region_count : 1000), 0);
	for (size_t i = 0; i < heap->region_count; i++) {
		const struct xc_region *region = &heap->regions[i];
		lua_createtable(L, 0, 4);
		lua_pushinteger(L, (lua_Integer)region->lo);
		lua_setfield(L, -2, "lo");
		lua_pushinteger(L, (lua_Integer)region->hi);
		lua_setfield(L, -2, "hi");
		lua_pushstring(L, region->arena < heap->arena_count ? heap->arenas[region->arena].name : NULL);
		lua_setfield(L, -2, "arena");
		lua_pushstring(L, region->what);
		lua_setfield(L, -2, "what");
		lua_rawseti(L, -2, (lua_Integer)i + 1);
	}
	return 1;
}

/* h:types() → {["struct client"] = {blocks, bytes}, …}, live blocks only; untyped ones under "" */
static int types(lua_State *L)
{
	struct xc_heap *heap = settled(L, 1);
	const struct xc_typing *typing = typing_of(L, heap);
	uint64_t *sums = lua_newuserdatauv(L, (typing->item_count + 1) * 2 * sizeof *sums, 0);
	memset(sums, 0, (typing->item_count + 1) * 2 * sizeof *sums);
	for (uint32_t block = 0; block < heap->blocks.count; block++) {
		if (xc_block_state(&heap->blocks, block) != XC_BLOCK_LIVE)
			continue;
		sums[2 * typing->by_block[block]]++;
		sums[2 * typing->by_block[block] + 1] += xc_block_size(&heap->blocks, block);
	}
	lua_newtable(L);
	for (size_t i = 0; i < typing->item_count; i++) {
		if (!sums[2 * i])
			continue;
		const char *name = i && typing->items[i].type ? xc_type_name(typing->items[i].type) : "";
		if (lua_getfield(L, -1, name) == LUA_TNIL) {
			lua_pop(L, 1);
			lua_createtable(L, 0, 2);
			lua_pushvalue(L, -1);
			lua_setfield(L, -3, name);
		}
		lua_getfield(L, -1, "blocks");
		lua_pushinteger(L, luaL_optinteger(L, -1, 0) + (lua_Integer)sums[2 * i]);
		lua_setfield(L, -3, "blocks");
		lua_pop(L, 1);
		lua_getfield(L, -1, "bytes");
		lua_pushinteger(L, luaL_optinteger(L, -1, 0) + (lua_Integer)sums[2 * i + 1]);
		lua_setfield(L, -3, "bytes");
		lua_pop(L, 2);
	}
	return 1;
}

/* ---- claims ---- */

/* h:claim{addr = …, size = …, type = "struct request", array = true, what = "pool of requests"} */
static int claim(lua_State *L)
{
	struct xc_heap *heap = heap_of(L, 1);
	luaL_checktype(L, 2, LUA_TTABLE);
	lua_settop(L, 2);
	lua_getfield(L, 2, "addr"); /* 3 */
	lua_getfield(L, 2, "size");
	lua_getfield(L, 2, "type"); /* 5 */
	lua_getfield(L, 2, "array");
	lua_getfield(L, 2, "what");
	lua_getfield(L, 2, "alone"); /* 8 */
	lua_getfield(L, 2, "free");
	const struct xc_heap_claim made = {
		.addr = xc_bind_check_address(L, 3),
		.size = (uint64_t)luaL_optinteger(L, 4, 0),
		.type = lua_isnil(L, 5) ? NULL : xc_bind_check_type(L, 5),
		.is_array = lua_toboolean(L, 6),
		.what = luaL_optstring(L, 7, "a plugin's claim"),
		.is_alone = lua_toboolean(L, 8),
		.is_free = lua_toboolean(L, 9),
	};
	xc_bind_raise(L, xc_claim_add(heap, &made));
	return 0;
}

static int edge(lua_State *L)
{
	struct xc_heap *heap = heap_of(L, 1);
	xc_addr from = xc_bind_check_address(L, 2), to = xc_bind_check_address(L, 3);
	xc_bind_raise(L, xc_claim_add_edge(heap, from, to));
	return 0;
}

static int root(lua_State *L)
{
	struct xc_heap *heap = heap_of(L, 1);
	xc_bind_raise(L, xc_claim_add_root(heap, xc_bind_check_address(L, 2)));
	return 0;
}

static int rule(lua_State *L)
{
	xc_bind_rule(L, heap_of(L, 1));
	return 0;
}

static int header(lua_State *L)
{
	xc_bind_header(L, heap_of(L, 1));
	return 0;
}

static int length(lua_State *L)
{
	lua_pushinteger(L, (lua_Integer)settled(L, 1)->blocks.count);
	return 1;
}

static const struct xc_bind_property heap_properties[] = {{NULL, NULL}};
static const luaL_Reg heap_methods[] = {{"blocks", blocks},   {"at", at},       {"whatis", whatis}, {"refs", refs},
					{"path", path},       {"claim", claim}, {"edge", edge},     {"root", root},
					{"totals", totals},   {"types", types}, {"rule", rule},     {"header", header},
					{"regions", regions}, {NULL, NULL}};
static const luaL_Reg heap_metamethods[] = {{"__len", length}, {NULL, NULL}};

static const struct xc_bind_class heap_class = {
	.name = "xcore.Heap",
	.noun = "a heap",
	.properties = heap_properties,
	.methods = heap_methods,
	.metamethods = heap_metamethods,
};

/* t:heap() */
static int target_heap(lua_State *L)
{
	struct xc_host *host = xc_bind_check_target(L);
	struct heap *heap = xc_bind_class_new(L, &heap_class, sizeof *heap);
	heap->heap = xc_heap_of(host->process, NULL);
	return 1;
}

void xc_bind_heap_open(lua_State *L)
{
	static const luaL_Reg methods[] = {{"heap", target_heap}, {NULL, NULL}};
	xc_bind_class_open(L, &block_class);
	xc_bind_class_open(L, &heap_class);
	xc_bind_class_add(L, &xc_bind_target_class, methods);
}
