/* bind_top: xcore.top: the k largest items, in a binary heap whose root is removed first.
 *
 * Items are kept in a Lua table, one slot for each place of the heap; the heap is a userdata, so that Lua's memory
 * limit applies. Of equal weights the later one is removed first. */
#include <stdlib.h>
#include <string.h>

#include "lua/bind/bind_class.h"

enum { FIRST = 16, MOST = 1000000 };

static const struct xc_bind_class top_class;

struct entry {
	lua_Integer integer;
	lua_Number number;
	bool is_integer;
	uint64_t order;
	lua_Integer slot; /* index in the table of items */
};

/* User values: 1 the entries, 2 the items. */
struct lua_top {
	struct entry *entries;
	size_t k, count, capacity;
	uint64_t added;
};

static struct lua_top *self_of(lua_State *L)
{
	return xc_bind_class_check(L, 1, &top_class);
}

static int compare_weights(const struct entry *a, const struct entry *b)
{
	if (a->is_integer && b->is_integer)
		return a->integer < b->integer ? -1 : a->integer > b->integer;
	return a->number < b->number ? -1 : a->number > b->number;
}

/* Is a removed before b? */
static bool goes_first(const struct entry *a, const struct entry *b)
{
	int order = compare_weights(a, b);
	return order ? order < 0 : a->order > b->order;
}

static void swap(struct entry *a, struct entry *b)
{
	struct entry kept = *a;
	*a = *b;
	*b = kept;
}

static void sift_up(struct entry *entries, size_t at)
{
	for (; at && goes_first(&entries[at], &entries[(at - 1) / 2]); at = (at - 1) / 2)
		swap(&entries[at], &entries[(at - 1) / 2]);
}

static void sift_down(struct entry *entries, size_t count)
{
	for (size_t at = 0, child; (child = 2 * at + 1) < count; at = child) {
		if (child + 1 < count && goes_first(&entries[child + 1], &entries[child]))
			child++;
		if (!goes_first(&entries[child], &entries[at]))
			return;
		swap(&entries[child], &entries[at]);
	}
}

static void make_room(lua_State *L, struct lua_top *self)
{
	if (self->count < self->capacity)
		return;
	size_t capacity = self->capacity ? self->capacity * 2 : FIRST;
	struct entry *grown = lua_newuserdatauv(L, capacity * sizeof *grown, 0);
	if (self->count)
		memcpy(grown, self->entries, self->count * sizeof *grown);
	lua_setiuservalue(L, 1, 1);
	self->entries = grown;
	self->capacity = capacity;
}

/* Store the item (argument 3) in its slot, in place of the previous one. */
static void keep_item(lua_State *L, lua_Integer slot)
{
	lua_getiuservalue(L, 1, 2);
	lua_pushvalue(L, 3);
	lua_rawseti(L, -2, slot);
	lua_pop(L, 1);
}

static int top_add(lua_State *L)
{
	struct lua_top *self = self_of(L);
	int is_integer;
	struct entry entry = {.number = luaL_checknumber(L, 2), .order = self->added++};
	entry.integer = lua_tointegerx(L, 2, &is_integer);
	entry.is_integer = is_integer;
	lua_settop(L, 3);
	if (entry.number != entry.number)
		return xc_bind_fail(L, XC_ERR_USAGE, "a weight that is not a number");
	if (self->count < self->k) {
		make_room(L, self);
		entry.slot = (lua_Integer)self->count + 1;
		keep_item(L, entry.slot);
		self->entries[self->count] = entry;
		sift_up(self->entries, self->count++);
	} else if (goes_first(&self->entries[0], &entry)) {
		entry.slot = self->entries[0].slot;
		keep_item(L, entry.slot);
		self->entries[0] = entry;
		sift_down(self->entries, self->count);
	}
	return 0;
}

static void push_weight(lua_State *L, const struct entry *entry)
{
	if (entry->is_integer)
		lua_pushinteger(L, entry->integer);
	else
		lua_pushnumber(L, entry->number);
}

static int top_least(lua_State *L)
{
	const struct lua_top *self = self_of(L);
	if (self->count < self->k)
		lua_pushnil(L);
	else
		push_weight(L, &self->entries[0]);
	return 1;
}

static int by_weight(const void *a, const void *b)
{
	const struct entry *left = a, *right = b;
	return goes_first(left, right) ? 1 : -1; /* no two entries are equal: they differ in order */
}

static int top_items(lua_State *L)
{
	const struct lua_top *self = self_of(L);
	lua_settop(L, 1);
	xc_limit_spend(L, self->count * 8);
	struct entry *sorted = lua_newuserdatauv(L, (self->count + 1) * sizeof *sorted, 0);
	if (self->count)
		memcpy(sorted, self->entries, self->count * sizeof *sorted);
	qsort(sorted, self->count, sizeof *sorted, by_weight);
	lua_getiuservalue(L, 1, 2);
	lua_createtable(L, (int)self->count, 0);
	for (size_t i = 0; i < self->count; i++) {
		lua_createtable(L, 0, 2);
		push_weight(L, &sorted[i]);
		lua_setfield(L, -2, "weight");
		lua_rawgeti(L, 3, sorted[i].slot);
		lua_setfield(L, -2, "item");
		lua_rawseti(L, -2, (lua_Integer)i + 1);
	}
	return 1;
}

static int new_top(lua_State *L)
{
	lua_Integer k = luaL_checkinteger(L, 1);
	if (k < 1 || k > MOST)
		return xc_bind_fail(L, XC_ERR_USAGE, "k: 1 to %d", MOST);
	struct lua_top *self = xc_bind_class_new(L, &top_class, sizeof *self);
	self->k = (size_t)k;
	lua_newtable(L);
	lua_setiuservalue(L, -2, 2);
	return 1;
}

static const luaL_Reg methods[] = {{"add", top_add}, {"least", top_least}, {"items", top_items}, {NULL, NULL}};
static const struct xc_bind_class top_class = {.name = "xcore.Top", .noun = "a top list", .methods = methods};

void xc_bind_top_open(lua_State *L)
{
	xc_bind_class_open(L, &top_class);
	lua_pushcfunction(L, new_top);
	lua_setfield(L, -2, "top");
}
