/* bind_find: t:find: a byte string, pointers into a range, or structs by the values of members, anywhere in memory. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/elf/arch.h"
#include "lua/bind/bind_class.h"
#include "lua/bulk/find.h"
#include "lua/bulk/fixed.h"

enum { HITS = 256, MAX_RANGES = 1 << 20 };

static const uint64_t BUDGET = 64 << 20; /* bytes between two checks of the limits */

/* The state of an iterator. Objects that it borrows from are upvalues. */
struct search {
	struct xc_find find;
	size_t count, given, batch;
	uint64_t left; /* hits that may still be returned */
	xc_addr hits[HITS];
};

/* ---- where ---- */

static int by_lo(const void *a, const void *b)
{
	const struct xc_range *x = a, *y = b;
	return x->lo < y->lo ? -1 : x->lo > y->lo;
}

/* Sort ranges, and merge those that touch. */
static size_t merge(struct xc_range *ranges, size_t count)
{
	size_t kept = 0;
	qsort(ranges, count, sizeof *ranges, by_lo);
	for (size_t i = 0; i < count; i++) {
		struct xc_range *last = kept ? &ranges[kept - 1] : NULL;
		if (last && (last->hi == UINT64_MAX || ranges[i].lo <= last->hi + 1))
			last->hi = ranges[i].hi > last->hi ? ranges[i].hi : last->hi;
		else
			ranges[kept++] = ranges[i];
	}
	return kept;
}

static struct xc_range *push_ranges(lua_State *L, size_t count)
{
	return lua_newuserdatauv(L, (count + 1) * sizeof(struct xc_range), 0);
}

/* One end of the range that is on top of the stack: {lo, hi}, or a mapping. */
static xc_addr range_end(lua_State *L, const char *name, int index)
{
	if (lua_getfield(L, -1, name) == LUA_TNIL) {
		lua_pop(L, 1);
		lua_geti(L, -1, index);
	}
	xc_addr addr = xc_bind_check_address(L, lua_gettop(L));
	lua_pop(L, 1);
	return addr;
}

/* Replace the list on top of the stack by the ranges. */
static const struct xc_range *read_within(lua_State *L, size_t *count_out)
{
	luaL_checktype(L, -1, LUA_TTABLE);
	lua_Integer count = luaL_len(L, -1);
	if (count < 0 || count > MAX_RANGES)
		xc_bind_fail(L, XC_ERR_LIMIT, "within: more than %d ranges", MAX_RANGES);
	struct xc_range *ranges = push_ranges(L, (size_t)count);
	for (lua_Integer i = 0; i < count; i++) {
		if (lua_geti(L, -2, i + 1) != LUA_TTABLE)
			xc_bind_fail(L, XC_ERR_USAGE, "within: a list of {lo, hi} or mappings");
		ranges[i] = (struct xc_range){range_end(L, "lo", 1), range_end(L, "hi", 2)};
		if (ranges[i].lo > ranges[i].hi)
			xc_bind_fail(L, XC_ERR_USAGE, "within: the range ends before it starts");
		lua_pop(L, 1);
	}
	*count_out = merge(ranges, (size_t)count);
	lua_remove(L, -2);
	return ranges;
}

/* Push all readable mappings, writable or not as given in the field `writable` of the table at the index. */
static const struct xc_range *push_mapped(lua_State *L, int writable, size_t *count_out)
{
	const struct xc_process *process = xc_bind_host(L)->process;
	struct xc_range *ranges = push_ranges(L, process->mapping_count);
	size_t count = 0;
	for (size_t i = 0; i < process->mapping_count; i++) {
		const struct xc_mapping *mapping = &process->mappings[i];
		bool wanted = lua_isnil(L, writable) || mapping->writable == (bool)lua_toboolean(L, writable);
		if (mapping->readable && wanted)
			ranges[count++] = (struct xc_range){mapping->lo, mapping->hi};
	}
	if (process->mapping_count == 0) /* consists of segments only */
		ranges[count++] = (struct xc_range){0, UINT64_MAX};
	*count_out = merge(ranges, count);
	return ranges;
}

/* ---- what ---- */

static void aim_at_pointers(lua_State *L, struct xc_find *find)
{
	luaL_checktype(L, -1, LUA_TTABLE);
	find->kind = XC_FIND_POINTER;
	find->size = xc_bind_host(L)->process->arch->word;
	find->align = find->size;
	find->aim = (struct xc_range){range_end(L, "lo", 1), range_end(L, "hi", 2)};
	if (find->aim.lo > find->aim.hi)
		xc_bind_fail(L, XC_ERR_USAGE, "pointer_to: the range ends before it starts");
}

static void aim_at_bytes(lua_State *L, struct xc_find *find)
{
	find->kind = XC_FIND_BYTES;
	find->bytes = (const uint8_t *)luaL_checklstring(L, -1, &find->size);
	find->align = 1;
}

/* The range of numbers that a test allows, limited to the range of the member. False: it is empty. */
static bool word_test(const struct xc_fixed *fixed, uint64_t lo, uint64_t hi, struct xc_find_test *test)
{
	const struct xc_reading *reading = &fixed->reading;
	unsigned width = reading->kind == XC_READ_BITS ? reading->bit_size : reading->size * 8u;
	test->kind = XC_FIND_WORD;
	test->shift = reading->kind == XC_READ_BITS ? reading->bit_offset : 0;
	test->mask = ~UINT64_C(0) >> (64 - width);
	if (reading->is_signed || width < 64) {
		int64_t least = reading->is_signed ? -(int64_t)(test->mask >> 1) - 1 : 0;
		int64_t most = (int64_t)(reading->is_signed ? test->mask >> 1 : test->mask);
		int64_t from = (int64_t)lo > least ? (int64_t)lo : least, to = (int64_t)hi < most ? (int64_t)hi : most;
		if (from > to)
			return false;
		lo = (uint64_t)from;
		hi = (uint64_t)to;
	}
	test->lo = lo;
	test->span = hi - lo;
	return lo <= hi || reading->is_signed;
}

static uint64_t integer_at(lua_State *L, int index, const char *name)
{
	int is_integer;
	const struct xc_lua_value *value = xc_bind_test(L, index);
	if (value)
		return xc_bind_address_of(L, value);
	if (lua_isboolean(L, index))
		return (uint64_t)lua_toboolean(L, index);
	lua_Integer number = lua_tointegerx(L, index, &is_integer);
	if (!is_integer || lua_type(L, index) != LUA_TNUMBER)
		xc_bind_fail(L, XC_ERR_USAGE, "signature: %s is not an integer", name);
	return (uint64_t)number;
}

static double number_at(lua_State *L, int index, const char *name)
{
	if (lua_type(L, index) != LUA_TNUMBER)
		xc_bind_fail(L, XC_ERR_USAGE, "signature: %s is not a number", name);
	return lua_tonumber(L, index);
}

static uint64_t enumerator(lua_State *L, const struct xc_type *type, const char *name)
{
	size_t count = 0;
	const struct xc_type *bare = xc_bind_shape(type);
	const struct xc_enumerator *items = bare->kind == XC_TYPE_ENUM ? xc_type_enumerators(bare, &count) : NULL;
	for (size_t i = 0; i < count; i++)
		if (strcmp(items[i].name, name) == 0)
			return items[i].value;
	xc_bind_fail(L, XC_ERR_USAGE, "signature: '%s' is neither \"pointer\" nor \"null or pointer\"%s", name,
		     bare->kind == XC_TYPE_ENUM ? ", nor an enumerator of the member" : "");
	return 0;
}

/* The test given by the string on top of the stack. */
static bool named_test(lua_State *L, const struct xc_fixed *fixed, struct xc_find_test *test)
{
	const char *name = lua_tostring(L, -1);
	bool or_null = strcmp(name, "null or pointer") == 0;
	if (!or_null && strcmp(name, "pointer") != 0) {
		uint64_t value = enumerator(L, fixed->reading.type, name);
		return word_test(fixed, value, value, test);
	}
	test->kind = or_null ? XC_FIND_ADDRESS_OR_NULL : XC_FIND_ADDRESS;
	test->mask = ~UINT64_C(0) >> (64 - fixed->reading.size * 8u);
	return true;
}

/* The test given by the value on top of the stack: a value, {lo, hi}, or a string. False: nothing can pass it. */
static bool read_test(lua_State *L, const char *name, const struct xc_fixed *fixed, struct xc_find_test *test)
{
	enum xc_reading_kind kind = fixed->reading.kind;
	int lo = lua_gettop(L), hi = lo;
	if (kind == XC_READ_SLOWLY)
		xc_bind_fail(L, XC_ERR_UNSUPPORTED, "signature: %s cannot be compared in bulk", name);
	test->offset = fixed->offset;
	if (lua_type(L, lo) == LUA_TSTRING)
		return named_test(L, fixed, test);
	if (lua_istable(L, lo)) {
		lua_geti(L, lo, 1);
		lua_geti(L, lo, 2);
		hi = lua_gettop(L);
		lo = hi - 1;
	}
	if (kind != XC_READ_FLOAT && kind != XC_READ_DOUBLE)
		return word_test(fixed, integer_at(L, lo, name), integer_at(L, hi, name), test);
	test->kind = kind == XC_READ_FLOAT ? XC_FIND_SINGLE : XC_FIND_DOUBLE;
	test->low = number_at(L, lo, name);
	test->high = number_at(L, hi, name);
	return true;
}

/* How selective a test is. */
static int by_rarity(const void *a, const void *b)
{
	const struct xc_find_test *x = a, *y = b;
	if (x->kind != y->kind)
		return x->kind < y->kind ? -1 : 1;
	uint64_t left = x->span ? x->span : x->lo == 0, right = y->span ? y->span : y->lo == 0;
	return left < right ? -1 : left > right;
}

/* The largest power of two, at most a word, that divides the size of a struct: alignment is never larger. */
static uint64_t natural_align(lua_State *L, const struct xc_type *type, uint64_t size)
{
	uint64_t asked = xc_type_alignment(type), word = xc_bind_host(L)->process->arch->word, natural = size & -size;
	natural = natural < word ? natural : word;
	return asked > natural && (asked & (asked - 1)) == 0 && asked <= 4096 ? asked : natural;
}

/* Push the tests of the table {member = condition} on top of the stack. *possible_out: can anything pass? */
static struct xc_find_test *push_tests(lua_State *L, const struct xc_type *type, struct xc_find *find,
				       bool *possible_out)
{
	int table = lua_gettop(L);
	luaL_checktype(L, table, LUA_TTABLE);
	struct xc_find_test *tests = lua_newuserdatauv(L, XC_FIND_TESTS * sizeof *tests, 0);
	lua_pushnil(L);
	while (lua_next(L, table)) {
		if (find->test_count == XC_FIND_TESTS)
			xc_bind_fail(L, XC_ERR_LIMIT, "signature: more than %d members", XC_FIND_TESTS);
		if (lua_type(L, -2) != LUA_TSTRING)
			xc_bind_fail(L, XC_ERR_USAGE, "signature: members must be named by strings");
		const char *name = lua_tostring(L, -2);
		struct xc_fixed fixed = xc_fixed_find_number(L, type, name);
		struct xc_find_test *test = &tests[find->test_count++];
		*test = (struct xc_find_test){.kind = XC_FIND_WORD};
		if (fixed.offset > XC_FIND_SPAN - 8)
			xc_bind_fail(L, XC_ERR_LIMIT, "signature: %s is more than %d bytes into the struct", name,
				     XC_FIND_SPAN - 8);
		*possible_out = read_test(L, name, &fixed, test) && *possible_out;
		if (fixed.offset + fixed.reading.size > find->size) /* a flexible array */
			find->size = (size_t)fixed.offset + fixed.reading.size;
		lua_settop(L, table + 2);
	}
	qsort(tests, find->test_count, sizeof *tests, by_rarity);
	return tests;
}

/* Replace {type, tests} on top of the stack by the tests. */
static void aim_at_structs(lua_State *L, struct xc_find *find, bool *possible_out)
{
	int table = lua_gettop(L);
	uint64_t size;
	luaL_checktype(L, table, LUA_TTABLE);
	lua_geti(L, table, 1);
	const struct xc_type *type = xc_bind_shape(xc_bind_check_type(L, table + 1));
	if (!xc_type_size(type, &size) || size == 0 || size > XC_FIND_SPAN)
		xc_bind_fail(L, XC_ERR_USAGE, "signature: the struct must have 1 to %d bytes", XC_FIND_SPAN);
	lua_geti(L, table, 2);
	find->kind = XC_FIND_STRUCT;
	find->size = (size_t)size;
	find->align = natural_align(L, type, size);
	find->tests = push_tests(L, type, find, possible_out);
	if (find->test_count == 0)
		xc_bind_fail(L, XC_ERR_USAGE, "signature: expected members and their values");
	lua_replace(L, table);
	lua_settop(L, table);
}

/* ---- the iterator ---- */

/* Upvalues: the search, then the objects that it borrows from. */
static int next_hit(lua_State *L)
{
	struct search *search = lua_touserdata(L, lua_upvalueindex(1));
	while (search->given == search->count) {
		if (search->find.done || search->left == 0)
			return 0;
		uint64_t before = search->find.looked;
		size_t room = search->batch < search->left ? search->batch : (size_t)search->left;
		search->count = xc_find_run(&search->find, search->hits, room, BUDGET);
		search->given = 0;
		/* The first hit is needed soon; later ones come in batches. */
		search->batch = search->batch < HITS ? search->batch * 2 : HITS;
		xc_limit_spend(L, (search->find.looked - before) / 64 + 1);
	}
	search->left--;
	lua_pushinteger(L, (lua_Integer)search->hits[search->given++]);
	return 1;
}

/* Push the pattern, which the search borrows. False: nothing can match. */
static bool push_aim(lua_State *L, struct xc_find *find)
{
	bool possible = true;
	int bytes = lua_getfield(L, 2, "bytes"), pointers = lua_getfield(L, 2, "pointer_to");
	int structs = lua_getfield(L, 2, "signature");
	if ((bytes != LUA_TNIL) + (pointers != LUA_TNIL) + (structs != LUA_TNIL) != 1)
		xc_bind_fail(L, XC_ERR_USAGE, "find: expected one of bytes, pointer_to and signature");
	if (structs != LUA_TNIL) {
		aim_at_structs(L, find, &possible);
		lua_replace(L, -3);
		lua_pop(L, 1);
		return possible;
	}
	lua_pop(L, 1);
	if (pointers != LUA_TNIL)
		aim_at_pointers(L, find);
	lua_pop(L, 1);
	if (bytes != LUA_TNIL)
		aim_at_bytes(L, find);
	if (find->size == 0 || find->size > XC_FIND_SPAN)
		xc_bind_fail(L, XC_ERR_USAGE, "find: 1 to %d bytes", XC_FIND_SPAN);
	return true;
}

static void read_numbers(lua_State *L, struct search *search)
{
	search->left = UINT64_MAX;
	if (lua_getfield(L, 2, "align") != LUA_TNIL) {
		lua_Integer align = luaL_checkinteger(L, -1);
		if (align < 1 || align > 1 << 30 || (align & (align - 1)))
			xc_bind_fail(L, XC_ERR_USAGE, "align must be a power of two");
		search->find.align = (uint64_t)align;
	}
	if (lua_getfield(L, 2, "max") != LUA_TNIL) {
		lua_Integer max = luaL_checkinteger(L, -1);
		search->left = max < 0 ? 0 : (uint64_t)max;
	}
	lua_pop(L, 2);
}

static void push_where(lua_State *L, struct xc_find *find)
{
	if (lua_getfield(L, 2, "within") != LUA_TNIL) {
		find->ranges = read_within(L, &find->range_count);
		return;
	}
	lua_getfield(L, 2, "writable");
	find->ranges = push_mapped(L, lua_gettop(L), &find->range_count);
	lua_replace(L, -3);
	lua_pop(L, 1);
}

static int target_find(lua_State *L)
{
	struct xc_host *host = xc_bind_check_target(L);
	luaL_checktype(L, 2, LUA_TTABLE);
	lua_settop(L, 2);
	struct search *search = lua_newuserdatauv(L, sizeof *search, 0);
	*search = (struct search){.find.space = host->process->space, .batch = 1};
	bool possible = push_aim(L, &search->find);
	read_numbers(L, search);
	push_where(L, &search->find);
	if (!possible)
		search->find.range_count = 0;
	search->find.buffer = lua_newuserdatauv(L, xc_find_buffer_size(&search->find), 0);
	lua_pushcclosure(L, next_hit, 4);
	return 1;
}

void xc_bind_find_open(lua_State *L)
{
	static const luaL_Reg methods[] = {{"find", target_find}, {NULL, NULL}};
	xc_bind_class_add(L, &xc_bind_target_class, methods);
}
