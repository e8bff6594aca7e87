/* plugin_result: converts reports to tables: fields by key, tables as lists of rows by column. Unknown values are
 * nil. */
#include "lua/plugin/plugin_result.h"

#include <stdlib.h>
#include <string.h>

#include <lauxlib.h>

#include "core/base/text.h"

enum { MAX_DEPTH = 256 };

static void push_cell(lua_State *L, const struct xc_cell *cell)
{
	switch (cell->kind) {
	case XC_FIELD_TEXT:
	case XC_FIELD_VALUE:
		lua_pushstring(L, cell->text);
		break;
	case XC_FIELD_COUNT:
	case XC_FIELD_INTEGER:
	case XC_FIELD_BYTES:
	case XC_FIELD_ADDRESS:
		lua_pushinteger(L, (lua_Integer)cell->number);
		break;
	case XC_FIELD_BOOL:
		lua_pushboolean(L, cell->number != 0);
		break;
	case XC_FIELD_SECONDS:
	case XC_FIELD_NUMBER:
	case XC_FIELD_RATIO:
		lua_pushnumber(L, cell->real);
		break;
	case XC_FIELD_NULL:
		lua_pushnil(L);
		break;
	}
}

static void push_table(lua_State *L, const struct xc_table *table)
{
	lua_newtable(L);
	for (size_t row = 0; row < table->row_count; row++) {
		lua_newtable(L);
		for (size_t i = 0; i < table->column_count; i++) {
			push_cell(L, &table->cells[row * table->column_count + i]);
			lua_setfield(L, -2, table->columns[i].key);
		}
		lua_rawseti(L, -2, (lua_Integer)row + 1);
	}
}

static void push_histogram(lua_State *L, const struct xc_histogram *histogram)
{
	lua_newtable(L);
	for (size_t i = 0; i < histogram->bucket_count; i++) {
		lua_newtable(L);
		push_cell(L, &histogram->buckets[i].lo);
		lua_setfield(L, -2, "lo");
		push_cell(L, &histogram->buckets[i].hi);
		lua_setfield(L, -2, "hi");
		lua_pushinteger(L, (lua_Integer)histogram->buckets[i].count);
		lua_setfield(L, -2, "count");
		lua_rawseti(L, -2, (lua_Integer)i + 1);
	}
}

/* Weights by "a;b;c", for paths with a weight of their own. The path is a Lua string, since raising would leak
 * others. */
static void push_tree(lua_State *L, const struct xc_stacktree *tree)
{
	lua_newtable(L);
	size_t depth = 0;
	for (const struct xc_stacktree_node *node = &tree->root; (node = xc_stacktree_next(node, &depth));) {
		int count = 0;
		if (!node->self)
			continue;
		for (const struct xc_stacktree_node *at = node; at->parent && count < MAX_DEPTH; at = at->parent) {
			luaL_checkstack(L, 4, NULL);
			if (count > 0) { /* the path so far goes after it */
				lua_pushfstring(L, "%s;%s", at->name, lua_tostring(L, -1));
				lua_remove(L, -2);
			} else {
				lua_pushstring(L, at->name);
			}
			count++;
		}
		lua_pushinteger(L, (lua_Integer)node->self);
		lua_settable(L, -3);
	}
}

/* Store the value at the top under a key of the table below; a NULL key drops it. */
static void set(lua_State *L, const char *key)
{
	if (key)
		lua_setfield(L, -2, key);
	else
		lua_pop(L, 1);
}

static void add_note(lua_State *L, const char *text)
{
	luaL_getsubtable(L, -1, "notes");
	lua_pushstring(L, text);
	lua_rawseti(L, -2, (lua_Integer)lua_rawlen(L, -2) + 1);
	lua_pop(L, 1);
}

static void add_item(lua_State *L, const struct xc_item *item)
{
	switch (item->kind) {
	case XC_ITEM_FIELD:
		push_cell(L, &item->field.cell);
		set(L, item->field.key);
		break;
	case XC_ITEM_TABLE:
		push_table(L, item->table);
		set(L, item->key);
		break;
	case XC_ITEM_MESSAGE:
		add_note(L, item->message.text);
		break;
	case XC_ITEM_TEXT:
		lua_pushstring(L, item->text);
		set(L, item->key);
		break;
	case XC_ITEM_TREE:
		push_tree(L, item->tree);
		set(L, item->key);
		break;
	case XC_ITEM_HISTOGRAM:
		push_histogram(L, item->histogram);
		set(L, item->key);
		break;
	case XC_ITEM_DOCUMENT:
		lua_pushstring(L, item->document.text);
		set(L, item->key);
		break;
	case XC_ITEM_STACKS:
		break;
	}
}

static const char *short_key(const char *key, const char *plugin)
{
	size_t len = plugin ? strlen(plugin) : 0;
	return len && strncmp(key, plugin, len) == 0 && key[len] == '.' ? key + len + 1 : key;
}

void xc_plugin_result_push(lua_State *L, const struct xc_report *report, const char *plugin, const char *error,
			   const struct xc_stacktree *tree)
{
	luaL_checkstack(L, 12, NULL);
	lua_newtable(L);
	lua_newtable(L);
	for (const struct xc_section *s = report->sections; s; s = s->next) {
		lua_newtable(L);
		for (const struct xc_item *item = s->items; item; item = item->next)
			add_item(L, item);
		lua_setfield(L, -2, short_key(s->key, plugin));
	}
	lua_setfield(L, -2, "sections");
	lua_newtable(L);
	lua_Integer number = 0;
	for (const struct xc_output_line *line = report->output; line; line = line->next) {
		lua_pushlstring(L, line->text, line->len);
		lua_rawseti(L, -2, ++number);
	}
	lua_setfield(L, -2, "output");
	lua_pushstring(L, error);
	lua_setfield(L, -2, "error");
	if (tree) {
		push_tree(L, tree);
		lua_setfield(L, -2, "flame");
	}
}
