/* rows: a block of rows is read that fits the first-level cache, then stored in Lua, a table at a time. Rows given
 * by their addresses (nodes of a list, anywhere in memory) are prefetched. */
#include "lua/bulk/rows.h"

enum {
	AHEAD = 64,   /* rows */
	COPIED = 512, /* bytes of a row at once */
};

static xc_addr row_at(const struct xc_rows *rows, size_t i)
{
	return rows->nodes ? rows->nodes[i] - rows->back : rows->start + i * rows->stride;
}

/* The bytes of a row in mapped memory, to prefetch; NULL when it must be read in another way. */
static inline const uint8_t *fetch(struct xc_host *host, const struct xc_rows *rows, size_t i)
{
	if (i >= rows->count || !rows->direct)
		return NULL;
	const uint8_t *bytes = xc_memory_view_bytes(&host->views, row_at(rows, i), rows->direct);
	if (bytes) {
		__builtin_prefetch(bytes);
		__builtin_prefetch(bytes + rows->direct - 8);
	}
	return bytes;
}

/* Read a row whose bytes are in mapped memory. */
static inline void read_direct(const struct xc_rows *rows, const uint8_t *bytes, uint64_t *numbers)
{
	for (int f = 0; f < rows->field_count; f++) {
		uint64_t bits;
		memcpy(&bits, bytes + rows->fields[f].offset, sizeof bits);
		numbers[(size_t)f * rows->block] = xc_fixed_number(&rows->fields[f].reading, bits);
	}
}

/* Read a row from memory that must be copied, or across segments. */
static struct xc_error *read_slowly(struct xc_host *host, struct xc_rows *rows, xc_addr addr, uint64_t *numbers)
{
	uint8_t copy[COPIED];
	if (rows->direct && rows->direct <= sizeof copy &&
	    xc_space_peek(host->process->space, addr, copy, rows->direct) == rows->direct) {
		read_direct(rows, copy, numbers);
		return NULL;
	}
	for (int f = 0; f < rows->field_count; f++) {
		struct xc_error *err = xc_fixed_load(host, &rows->fields[f], addr, &numbers[(size_t)f * rows->block]);
		if (err) {
			rows->failed_field = f;
			return err;
		}
	}
	return NULL;
}

/* May reading continue after a row that cannot be read? */
static bool pass_over(struct xc_rows *rows, struct xc_rows_block *block, size_t at, struct xc_error **err_out)
{
	if (!rows->partial)
		return false;
	xc_error_free(*err_out);
	*err_out = NULL;
	block->failed[at >> 6] |= UINT64_C(1) << (at & 63);
	rows->missing++;
	return true;
}

size_t xc_rows_read(struct xc_host *host, struct xc_rows *rows, size_t from, struct xc_rows_block *block,
		    struct xc_error **err_out)
{
	uint64_t *numbers = block->numbers;
	const uint8_t *fetched[AHEAD]; /* a ring */
	memset(block->failed, 0, sizeof block->failed);
	size_t count = rows->count - from < rows->block ? rows->count - from : rows->block;
	for (size_t at = 0; at < AHEAD; at++)
		fetched[at] = fetch(host, rows, from + at);
	for (size_t at = 0; at < count; at++) {
		const uint8_t *bytes = fetched[at % AHEAD];
		fetched[at % AHEAD] = fetch(host, rows, from + at + AHEAD);
		if (bytes)
			read_direct(rows, bytes, numbers + at);
		else if ((*err_out = read_slowly(host, rows, row_at(rows, from + at), numbers + at)) &&
			 !pass_over(rows, block, at, err_out))
			return at;
	}
	return count;
}

/* Store numbers in the table at `index`, as its items from `from` + 1 on. */
static void fill_table(lua_State *L, int index, size_t from, const uint64_t *numbers, size_t count,
		       enum xc_fixed_form form)
{
	for (size_t i = 0; i < count; i++) {
		xc_rows_push_number(L, numbers[i], form);
		lua_rawseti(L, index, (lua_Integer)(from + i + 1));
	}
}

/* Store false for the rows of a block that could not be read. */
static void fill_failed(lua_State *L, const struct xc_rows *rows, size_t from, size_t count,
			struct xc_rows_block *block)
{
	for (size_t word = 0; word <= count / 64 && word < XC_ROWS_NUMBERS / 64; word++)
		for (; block->failed[word]; block->failed[word] &= block->failed[word] - 1) {
			size_t at = from + 64 * word + (size_t)__builtin_ctzll(block->failed[word]);
			for (int f = 0; f < rows->field_count; f++) {
				lua_pushboolean(L, false);
				lua_rawseti(L, rows->first + f, (lua_Integer)at + 1);
			}
		}
}

size_t xc_rows_fill(lua_State *L, struct xc_rows *rows, struct xc_error **err_out)
{
	struct xc_rows_block block;
	for (size_t from = 0; from < rows->count && rows->field_count > 0; from += rows->block) {
		xc_limit_spend(L, XC_ROWS_NUMBERS / 16);
		size_t count = xc_rows_read(xc_bind_host(L), rows, from, &block, err_out);
		for (int f = 0; f < rows->field_count; f++)
			fill_table(L, rows->first + f, from, block.numbers + (size_t)f * rows->block, count,
				   rows->fields[f].form);
		fill_failed(L, rows, from, count, &block);
		if (*err_out)
			return from + count;
	}
	return rows->count;
}

void xc_rows_push_tables(lua_State *L, struct xc_rows *rows)
{
	luaL_checkstack(L, rows->field_count + 10, "fields");
	rows->first = lua_gettop(L) + 1;
	/* The collector would scan these empty tables while the next one is created. */
	lua_gc(L, LUA_GCSTOP);
	for (int f = 0; f < rows->field_count; f++)
		lua_createtable(L, (int)rows->count, 0);
	lua_gc(L, LUA_GCRESTART);
}

void xc_rows_push_columns(lua_State *L, const struct xc_rows *rows, int arg)
{
	lua_createtable(L, 1, rows->field_count);
	for (int f = 0; f < rows->field_count; f++) {
		lua_geti(L, arg, f + 1);
		lua_pushvalue(L, rows->first + f);
		lua_rawset(L, -3);
	}
}

void xc_rows_find(lua_State *L, const struct xc_type *type, int arg, struct xc_rows *rows)
{
	lua_Integer count = luaL_len(L, arg);
	count = count > 0 ? count : 0;
	if (count > XC_ROWS_FIELDS)
		xc_bind_fail(L, XC_ERR_LIMIT, "more than %d fields", XC_ROWS_FIELDS);
	struct xc_fixed *fields = lua_newuserdatauv(L, (size_t)(count + 1) * sizeof *fields, 0);
	lua_createtable(L, (int)count, 0);
	rows->direct = 1;
	for (lua_Integer i = 0; i < count; i++) {
		lua_geti(L, arg, i + 1);
		if (lua_type(L, -1) != LUA_TSTRING)
			xc_bind_fail(L, XC_ERR_USAGE, "a field is named by a string, not by a %s",
				     luaL_typename(L, -1));
		fields[i] = xc_fixed_find_number(L, type, lua_tostring(L, -1));
		if (fields[i].reading.kind == XC_READ_SLOWLY || fields[i].offset > UINT32_MAX)
			rows->direct = 0;
		else if (rows->direct && fields[i].offset + 8 > rows->direct)
			rows->direct = fields[i].offset + 8;
		lua_rawseti(L, -2, i + 1);
	}
	lua_replace(L, arg); /* a repeated request gives the same result, and does not raise */
	rows->fields = fields;
	rows->field_count = (int)count;
	rows->block = XC_ROWS_NUMBERS / (size_t)(count ? count : 1);
}

bool xc_rows_is_partial(lua_State *L, int arg)
{
	if (lua_isnil(L, arg))
		return false;
	luaL_checktype(L, arg, LUA_TTABLE);
	lua_getfield(L, arg, "partial");
	bool partial = lua_toboolean(L, -1);
	lua_pop(L, 1);
	return partial;
}

static xc_addr address_at(lua_State *L, size_t row)
{
	if (xc_bind_test(L, lua_gettop(L)))
		return xc_bind_check_address(L, lua_gettop(L));
	return (xc_addr)xc_bind_fail(L, XC_ERR_USAGE, "addresses: row %zu is a %s value, not an address", row,
				     luaL_typename(L, -1));
}

const xc_addr *xc_rows_addresses(lua_State *L, int arg, size_t count, bool partial)
{
	xc_limit_make_room(L, count * sizeof(xc_addr));
	xc_addr *nodes = lua_newuserdatauv(L, (count + 1) * sizeof *nodes, 0);
	for (size_t i = 0; i < count; i++) {
		lua_rawgeti(L, arg, (lua_Integer)i + 1);
		if (lua_isinteger(L, -1))
			nodes[i] = (xc_addr)lua_tointeger(L, -1);
		else if (partial && !lua_toboolean(L, -1))
			nodes[i] = 0;
		else
			nodes[i] = address_at(L, i + 1);
		lua_pop(L, 1);
	}
	return nodes;
}

/* "row 17 (0x…): .next: …" */
int xc_rows_raise(lua_State *L, struct xc_error *err, const struct xc_rows *rows, size_t row, int arg)
{
	lua_geti(L, arg, rows->failed_field + 1);
	return xc_bind_raise(L, xc_error_wrap(err, "row %zu (0x%llx): %s", row + 1,
					      (unsigned long long)rows->nodes[row], lua_tostring(L, -1)));
}

void xc_rows_push_addresses(lua_State *L, const struct xc_rows *rows, size_t count)
{
	lua_createtable(L, (int)count, 0);
	for (size_t i = 0; i < count; i++) {
		lua_pushinteger(L, (lua_Integer)row_at(rows, i));
		lua_rawseti(L, -2, (lua_Integer)i + 1);
	}
}
