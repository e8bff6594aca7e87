/* pretty: values are appended to a text one after the other; tables are visited with sorted keys, so that equal
 * tables look equal. A list whose items are tables with string keys becomes columns. */
#include "lua/shell/pretty.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "dwarf/format/format.h"
#include "dwarf/format/wrap.h"

enum { MAX_KEYS = 64, MAX_ITEMS = 100, MAX_DEPTH = 4, MAX_CELL = 60, MAX_COLUMNS = 12, MAX_STRING = 2000 };

struct pretty {
	lua_State *L;
	struct xc_text *text;
	unsigned width, depth;
};

static void write_item(struct pretty *p, int index, unsigned indent);

static void write_string(struct pretty *p, int index)
{
	size_t len;
	const char *bytes = lua_tolstring(p->L, index, &len);
	xc_text_char(p->text, '"');
	xc_text_escaped(p->text, bytes, len < MAX_STRING ? len : MAX_STRING);
	xc_text_add(p->text, len < MAX_STRING ? "\"" : "\"…");
}

static void write_target_value(struct pretty *p, int index, unsigned indent)
{
	const struct xc_lua_value *self = xc_bind_test(p->L, index);
	struct xc_value value = xc_bind_value(p->L, self);
	struct xc_format_options options = xc_format_defaults();
	struct xc_text *flat = xc_bind_scratch(p->L);
	if (self->form == XC_FORM_POINTER || self->form == XC_FORM_REFERENCE) {
		xc_text_char(flat, '(');
		xc_text_name(flat, xc_type_name(value.type));
		xc_text_add(flat, self->form == XC_FORM_POINTER ? ") " : " &) ");
	}
	xc_format_value(flat, &value, &options);
	xc_wrap(p->text, xc_text_string(flat), flat->len, indent, p->width);
}

/* A value without a special form: by tostring, escaped. */
static void write_other(struct pretty *p, int index)
{
	size_t len;
	const char *bytes = xc_bind_tolstring(p->L, index, &len);
	xc_text_name(p->text, bytes);
	lua_pop(p->L, 1);
}

static int compare(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* The string keys of a table, sorted. They live as long as the table. *more_out: there are other keys, or too many. */
static size_t string_keys(lua_State *L, int table, const char **keys, bool *more_out)
{
	size_t count = 0;
	*more_out = false;
	lua_pushnil(L);
	while (lua_next(L, table)) {
		lua_pop(L, 1);
		if (lua_type(L, -1) != LUA_TSTRING || count >= MAX_KEYS)
			*more_out |= lua_type(L, -1) != LUA_TNUMBER;
		else
			keys[count++] = lua_tostring(L, -1);
	}
	qsort(keys, count, sizeof *keys, compare);
	return count;
}

static void line(struct pretty *p, unsigned indent)
{
	xc_text_printf(p->text, "\n%*s", (int)indent, "");
}

/* ---- lists of records ---- */

static bool is_record(lua_State *L, int index)
{
	if (!lua_istable(L, index) || luaL_getmetafield(L, index, "__tostring") != LUA_TNIL)
		return false;
	lua_pushnil(L);
	if (!lua_next(L, index))
		return false;
	bool named = lua_type(L, -2) == LUA_TSTRING;
	lua_pop(L, 2);
	return named && lua_rawlen(L, index) == 0;
}

/* Fields of the API that are addresses. */
static bool is_address(const char *key)
{
	static const char *const names[] = {"addr", "bias", "cfa", "hi", "lo", "pc", "sp"};
	for (size_t i = 0; i < XC_COUNT(names); i++)
		if (strcmp(key, names[i]) == 0)
			return true;
	return false;
}

/* A cell is the value on one line; a scalar string has no quotes. */
static void write_cell(struct pretty *p, const char *key, int index)
{
	size_t len;
	if (lua_isinteger(p->L, index) && is_address(key)) {
		xc_text_printf(p->text, "0x%llx", (unsigned long long)lua_tointeger(p->L, index));
	} else if (lua_type(p->L, index) == LUA_TSTRING) {
		xc_text_name(p->text, lua_tostring(p->L, index));
	} else if (xc_bind_test(p->L, index)) {
		struct xc_value value = xc_bind_value(p->L, xc_bind_test(p->L, index));
		struct xc_format_options options = xc_format_defaults();
		options.length = MAX_CELL;
		xc_format_value(p->text, &value, &options);
	} else if (lua_istable(p->L, index) && luaL_getmetafield(p->L, index, "__tostring") == LUA_TNIL) {
		xc_text_add(p->text, lua_rawlen(p->L, index) > 0 ? "{…}" : "{}");
	} else {
		const char *bytes = xc_bind_tolstring(p->L, index, &len);
		xc_text_name(p->text, bytes);
		lua_pop(p->L, 1);
	}
}

static unsigned columns_of(const char *bytes, size_t len)
{
	unsigned count = 0;
	for (size_t i = 0; i < len; i++)
		count += ((unsigned char)bytes[i] & 0xc0) != 0x80;
	return count;
}

/* Called for every cell: row 0 is the header. With `widths` NULL it only measures into `measured`. */
static void lay_rows(struct pretty *p, int list, const char **keys, size_t count, const unsigned *widths,
		     unsigned *measured)
{
	lua_State *L = p->L;
	lua_Integer rows = (lua_Integer)lua_rawlen(L, list);
	rows = rows < MAX_ITEMS ? rows : MAX_ITEMS;
	for (lua_Integer row = 0; row <= rows; row++) {
		for (size_t i = 0; i < count; i++) {
			size_t start = p->text->len;
			if (row == 0) {
				xc_text_name(p->text, keys[i]);
			} else {
				lua_rawgeti(L, list, row);
				lua_pushstring(L, keys[i]);
				if (lua_istable(L, -2) && lua_rawget(L, -2) != LUA_TNIL)
					write_cell(p, keys[i], lua_gettop(L));
				lua_pop(L, 2);
			}
			unsigned wide = columns_of(p->text->bytes ? p->text->bytes + start : "", p->text->len - start);
			if (!widths) {
				measured[i] = wide > measured[i] ? wide : measured[i];
				p->text->len = start;
			} else if (i + 1 < count) {
				xc_text_printf(p->text, "%*s", (int)(widths[i] - wide + 2), "");
			}
		}
		if (widths && row < rows)
			xc_text_char(p->text, '\n');
	}
	if (widths && rows < (lua_Integer)lua_rawlen(L, list))
		xc_text_printf(p->text, "\n… %lld more", (long long)((lua_Integer)lua_rawlen(L, list) - rows));
}

static bool write_records(struct pretty *p, int list)
{
	const char *keys[MAX_KEYS] = {0};
	unsigned widths[MAX_COLUMNS] = {0};
	bool more;
	lua_rawgeti(p->L, list, 1);
	int first = lua_gettop(p->L);
	size_t count = is_record(p->L, first) ? string_keys(p->L, first, keys, &more) : 0;
	if (count == 0 || count > MAX_COLUMNS)
		return false;
	lay_rows(p, list, keys, count, NULL, widths);
	lay_rows(p, list, keys, count, widths, NULL);
	return true;
}

/* ---- tables ---- */

static void write_table(struct pretty *p, int table, unsigned indent)
{
	lua_State *L = p->L;
	const char *keys[MAX_KEYS] = {0};
	bool more;
	size_t count = string_keys(L, table, keys, &more);
	lua_Integer items = (lua_Integer)lua_rawlen(L, table);
	if (count == 0 && items == 0 && !more) {
		xc_text_add(p->text, "{}");
		return;
	}
	if (p->depth >= MAX_DEPTH) {
		xc_text_add(p->text, "{…}");
		return;
	}
	p->depth++;
	xc_text_char(p->text, '{');
	for (lua_Integer i = 1; i <= items && i <= MAX_ITEMS; i++) {
		line(p, indent + 2);
		lua_rawgeti(L, table, i);
		write_item(p, lua_gettop(L), indent + 2);
		lua_pop(L, 1);
		xc_text_char(p->text, ',');
	}
	for (size_t i = 0; i < count; i++) {
		line(p, indent + 2);
		xc_text_name(p->text, keys[i]);
		xc_text_add(p->text, " = ");
		lua_pushstring(L, keys[i]);
		lua_rawget(L, table);
		write_item(p, lua_gettop(L), indent + 2);
		lua_pop(L, 1);
		xc_text_char(p->text, ',');
	}
	if (more || items > MAX_ITEMS) {
		line(p, indent + 2);
		xc_text_add(p->text, "…");
	}
	line(p, indent);
	xc_text_char(p->text, '}');
	p->depth--;
}

static void write_item(struct pretty *p, int index, unsigned indent)
{
	lua_State *L = p->L;
	int top = lua_gettop(L);
	luaL_checkstack(L, 12, NULL);
	if (lua_type(L, index) == LUA_TSTRING)
		write_string(p, index);
	else if (xc_bind_test(L, index))
		write_target_value(p, index, indent);
	else if (!lua_istable(L, index) || luaL_getmetafield(L, index, "__tostring") != LUA_TNIL)
		write_other(p, index);
	else if (p->depth > 0 || !write_records(p, index))
		write_table(p, index, indent);
	lua_settop(L, top);
}

void xc_pretty_write(lua_State *L, int index, struct xc_text *text, unsigned width)
{
	struct pretty p = {.L = L, .text = text, .width = width};
	write_item(&p, lua_absindex(L, index), 0);
}
