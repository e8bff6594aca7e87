/* bind_graph_scan: g:scan: columns become rows, a block at a time. Each step of heap/objgraph/refgraph_scan.h is
 * bounded in words, so that limits are checked between steps however large an array is. */
#include <string.h>

#include "core/elf/arch.h"
#include "heap/objgraph/refgraph_scan.h"
#include "lua/graph/bind_graph.h"
#include "lua/report/bind_report.h"

enum { WHAT = 2, BLOCK = 4096, WORDS = 1 << 16 };

static const uint64_t MOST = UINT64_C(1) << 28;

/* The field as an integer; `normal` is its default. Raises. */
static int64_t integer_field(lua_State *L, int table, const char *name, int64_t normal)
{
	int is_integer = 1;
	if (lua_getfield(L, table, name) != LUA_TNIL)
		normal = lua_tointegerx(L, -1, &is_integer);
	if (!is_integer)
		xc_bind_fail(L, XC_ERR_USAGE, "%s: expected an integer, not a %s value", name, luaL_typename(L, -1));
	lua_pop(L, 1);
	return normal;
}

static void read_offsets(lua_State *L, struct xc_refscan *scan)
{
	scan->at_count = 1;
	if (lua_getfield(L, WHAT, "at") != LUA_TNIL) {
		luaL_checktype(L, -1, LUA_TTABLE);
		size_t count = lua_rawlen(L, -1);
		if (count == 0 || count > XC_REFSCAN_WORDS)
			xc_bind_fail(L, XC_ERR_USAGE, "at: 1 to %d offsets, not %zu", XC_REFSCAN_WORDS, count);
		scan->at_count = (unsigned)count;
		for (size_t i = 0; i < count; i++) {
			lua_rawgeti(L, -1, (lua_Integer)i + 1);
			lua_Integer at = lua_isinteger(L, -1) ? lua_tointeger(L, -1) : INT64_MAX;
			if (at > XC_REFSCAN_REACH || at < -XC_REFSCAN_REACH)
				xc_bind_fail(L, XC_ERR_USAGE, "at: offset %zu is invalid or too large", i + 1);
			scan->at[i] = (int32_t)at;
			lua_pop(L, 1);
		}
	}
	lua_pop(L, 1);
}

static unsigned small_field(lua_State *L, int table, const char *name, int64_t normal, int64_t most)
{
	int64_t value = integer_field(L, table, name, normal);
	if (value < 0 || value > most)
		xc_bind_fail(L, XC_ERR_USAGE, "%s: expected 0 to %lld, not %lld", name, (long long)most,
			     (long long)value);
	return (unsigned)value;
}

/* The tag with that name; false when there is none. `width`: the default of its width and, with 0, of its place. */
static bool read_tag(lua_State *L, const struct xc_refscan *scan, const char *name, unsigned width,
		     struct xc_reftag *tag_out)
{
	bool is_there = lua_getfield(L, WHAT, name) != LUA_TNIL;
	int tag = lua_gettop(L);
	if (is_there) {
		luaL_checktype(L, tag, LUA_TTABLE);
		xc_report_check_names(L, tag, "lo hi shift mask at width");
		int64_t at = integer_field(L, tag, "at", 0);
		if (at > XC_REFSCAN_REACH || at < -XC_REFSCAN_REACH)
			xc_bind_fail(L, XC_ERR_USAGE, "%s.at is too large", name);
		*tag_out = (struct xc_reftag){.at = (int32_t)at,
					      .width = small_field(L, tag, "width", at ? scan->width : width, 8),
					      .shift = small_field(L, tag, "shift", 0, 63),
					      .mask = (uint64_t)integer_field(L, tag, "mask", -1),
					      .lo = integer_field(L, tag, "lo", INT64_MIN),
					      .hi = integer_field(L, tag, "hi", INT64_MAX)};
	}
	lua_settop(L, tag - 1);
	return is_there;
}

static void read_scan(lua_State *L, struct xc_refscan *scan)
{
	const struct xc_arch *arch = xc_bind_process(L)->arch;
	scan->swap = arch->big_endian != xc_arch_host()->big_endian;
	scan->width = small_field(L, WHAT, "width", arch->word, 8);
	scan->stride = (uint64_t)integer_field(L, WHAT, "stride", scan->width);
	scan->mask = (uint64_t)integer_field(L, WHAT, "mask", -1);
	scan->shift = small_field(L, WHAT, "shift", 0, 63);
	scan->base = (uint64_t)integer_field(L, WHAT, "base", 0);
	scan->most = (uint64_t)integer_field(L, WHAT, "max", (int64_t)MOST);
	lua_getfield(L, WHAT, "exact");
	scan->exact = lua_toboolean(L, -1);
	lua_pop(L, 1);
	read_offsets(L, scan);
	scan->tagged = read_tag(L, scan, "tag", 0, &scan->tag);
	scan->choosy = read_tag(L, scan, "unless", scan->width, &scan->unless);
	if (!xc_refscan_prepare(scan))
		xc_bind_fail(
			L, XC_ERR_USAGE,
			"words have a width of 4 or 8, tags of 1, 2, 4 or 8, a stride is positive, and no offset is "
			"more than %d",
			XC_REFSCAN_REACH);
}

/* The columns to read; they stay on the stack. */
struct reading {
	struct xc_column_arg columns[3];
	uint64_t offset, more;
};

static struct reading read_columns(lua_State *L)
{
	static const char *const names[] = {"from", "start", "count"};
	struct reading reading = {.offset = (uint64_t)integer_field(L, WHAT, "offset", 0),
				  .more = (uint64_t)integer_field(L, WHAT, "more", 0)};
	for (size_t i = 0; i < XC_COUNT(names); i++) {
		lua_getfield(L, WHAT, names[i]);
		reading.columns[i] = xc_graph_check_column(L, lua_gettop(L), names[i]);
	}
	return reading;
}

/* Rows from `from` up to `to`; empty ones are left out. */
static size_t fill_rows(lua_State *L, const struct reading *reading, size_t from, size_t to,
			struct xc_refscan_row *rows)
{
	size_t count = 0;
	for (size_t i = from; i < to; i++) {
		struct xc_refscan_row *row = &rows[count];
		if (!xc_graph_item(L, &reading->columns[0], i, &row->from) ||
		    !xc_graph_item(L, &reading->columns[1], i, &row->start) ||
		    !xc_graph_item(L, &reading->columns[2], i, &row->count) || !row->from || !row->start)
			continue;
		row->start += reading->offset;
		row->count += reading->more;
		count += row->count != 0;
	}
	return count;
}

static void scan_block(lua_State *L, struct xc_lua_graph *self, const struct xc_refscan *scan,
		       const struct xc_refscan_row *rows, size_t count)
{
	struct xc_refscan_place place = {0};
	while (place.row < count) {
		xc_graph_make_room(L, self, 0, count - place.row + 1, WORDS);
		xc_refscan_run(self->graph, scan, &self->window, rows, count, &place, WORDS);
		xc_limit_spend(L, WORDS / 16);
	}
}

/* g:scan{from =, start =, count =, …} */
int xc_graph_scan(lua_State *L)
{
	struct xc_lua_graph *self = xc_graph_check_open(L);
	struct xc_refscan scan = {0};
	luaL_checktype(L, WHAT, LUA_TTABLE);
	lua_settop(L, WHAT);
	xc_report_check_names(L, WHAT,
			      "from start count offset more max stride at width mask shift base exact tag unless");
	read_scan(L, &scan);
	const struct reading reading = read_columns(L);
	size_t count = xc_graph_rows(L, reading.columns, XC_COUNT(reading.columns));
	size_t before = self->graph->target_count;
	uint64_t missing = self->graph->missing;
	struct xc_refscan_row *rows = lua_newuserdatauv(L, BLOCK * sizeof *rows, 0);
	xc_window_fini(&self->window);
	xc_window_init(&self->window, xc_bind_process(L)->space);
	for (size_t from = 0; from < count; from += BLOCK) {
		size_t kept = fill_rows(L, &reading, from, count - from < BLOCK ? count : from + BLOCK, rows);
		scan_block(L, self, &scan, rows, kept);
	}
	xc_window_fini(&self->window);
	lua_pushinteger(L, (lua_Integer)(self->graph->target_count - before));
	lua_pushinteger(L, (lua_Integer)(self->graph->missing - missing));
	return 2;
}
