/* bind_report_table: tables of a section, one row per call. The cells of a row are checked on the C stack and copied
 * by the report. */
#include <string.h>

#include "lua/report/bind_report.h"

static const struct xc_bind_class table_class;

struct column {
	enum xc_field_kind kind;
	bool secret;
};

/* User value 1: its section. */
struct lua_table {
	struct xc_lua_section *section;
	struct xc_table *table;
	size_t count;
	struct column columns[];
};

/* Column `index` of the list at argument 3. Its strings are pushed and stay. */
static struct xc_column check_column(lua_State *L, lua_Integer index)
{
	luaL_checkstack(L, 16, "columns");
	if (lua_rawgeti(L, 3, index) != LUA_TTABLE)
		xc_bind_fail(L, XC_ERR_USAGE, "column %d: expected a table {key, kind}", (int)index);
	int spec = lua_gettop(L);
	lua_rawgeti(L, spec, 1);
	const char *key = xc_report_check_key(L, spec + 1);
	const char *name = lua_rawgeti(L, spec, 2) == LUA_TSTRING ? lua_tostring(L, -1) : "?";
	const struct xc_report_options options = xc_report_check_options(L, spec, "label secret verbose");
	enum xc_field_kind kind = xc_report_kind(name);
	if (kind == XC_FIELD_NULL)
		xc_bind_fail(L, XC_ERR_USAGE,
			     "column '%s': '%.20s' is not a kind: text count integer number bytes address bool seconds "
			     "ratio",
			     key, name);
	if (strcmp(key, "unknown") == 0)
		xc_bind_fail(L, XC_ERR_USAGE, "a column cannot be named 'unknown': JSON keeps reasons there");
	const char *label = options.label ? options.label : xc_report_push_label(L, key, true);
	return (struct xc_column){.key = key, .label = label, .kind = kind, .verbose = options.verbose};
}

static bool is_secret(lua_State *L, lua_Integer index)
{
	lua_rawgeti(L, 3, index);
	lua_pushliteral(L, "secret");
	lua_rawget(L, -2); /* checked by check_column */
	bool secret = lua_toboolean(L, -1);
	lua_pop(L, 2);
	return secret;
}

static void check_different(lua_State *L, const struct xc_column *columns, size_t count)
{
	for (size_t i = 0; i < count; i++)
		for (size_t k = 0; k < i; k++)
			if (strcmp(columns[i].key, columns[k].key) == 0)
				xc_bind_fail(L, XC_ERR_USAGE, "two columns are named '%s'", columns[i].key);
}

int xc_report_section_table(lua_State *L)
{
	struct xc_lua_section *section = xc_report_check_section(L);
	const char *key = xc_report_check_key(L, 2);
	luaL_checktype(L, 3, LUA_TTABLE);
	size_t count = lua_rawlen(L, 3), bytes = strlen(key);
	struct xc_column columns[XC_REPORT_COLUMNS];
	if (count == 0 || count > XC_REPORT_COLUMNS)
		xc_bind_fail(L, XC_ERR_USAGE, "table '%s': expected 1 to %d columns", key, XC_REPORT_COLUMNS);
	lua_settop(L, 3);
	struct lua_table *self = xc_bind_class_new(L, &table_class, sizeof *self + count * sizeof *self->columns);
	self->section = section;
	self->count = count;
	lua_pushvalue(L, 1);
	lua_setiuservalue(L, 4, 1);
	for (size_t i = 0; i < count; i++) {
		columns[i] = check_column(L, (lua_Integer)i + 1);
		self->columns[i] = (struct column){columns[i].kind, is_secret(L, (lua_Integer)i + 1)};
		bytes += sizeof columns[i] + strlen(columns[i].key) + strlen(columns[i].label);
	}
	check_different(L, columns, count);
	xc_report_spend_item(L, section, bytes);
	self->table = xc_section_table(section->section, key, columns, count);
	lua_settop(L, 4);
	return 1;
}

static int table_row(lua_State *L)
{
	struct lua_table *self = xc_bind_class_check(L, 1, &table_class);
	struct xc_cell cells[XC_REPORT_COLUMNS];
	uint64_t bytes = self->count * sizeof *cells;
	int given = lua_gettop(L) - 1;
	if (given < 0 || (size_t)given > self->count)
		xc_bind_fail(L, XC_ERR_USAGE, "a row has %d values, but there are %d columns", given, (int)self->count);
	if (self->table->row_count >= XC_REPORT_ROWS)
		xc_bind_fail(L, XC_ERR_LIMIT, "the table has more than %d rows", XC_REPORT_ROWS);
	lua_settop(L, 1 + (int)self->count);
	for (size_t i = 0; i < self->count; i++) {
		cells[i] = xc_report_check_cell(L, 2 + (int)i, self->columns[i].kind, self->table->columns[i].key);
		cells[i].secret = self->columns[i].secret;
		bytes += cells[i].text ? strlen(cells[i].text) : 0;
	}
	xc_report_spend(L, self->section->owner, bytes);
	xc_table_row(self->section->section, self->table, cells);
	return 0;
}

static const luaL_Reg methods[] = {{"row", table_row}, {NULL, NULL}};
static const struct xc_bind_class table_class = {.name = "xcore.Table", .noun = "a table", .methods = methods};

void xc_report_open_table(lua_State *L)
{
	xc_bind_class_open(L, &table_class);
}
