/* bind_report_tree: trees of weighted paths, in a section or for a flame graph. */
#include <string.h>

#include "core/report/stacktree.h"
#include "lua/report/bind_report.h"

enum { PATH = 1000 }; /* names of one path */

/* User value 1: its section, or the report. */
struct lua_tree {
	struct xc_stacktree *tree;
	struct xc_lua_report *owner;
};

static const struct xc_bind_class tree_class;

static struct lua_tree *new_tree(lua_State *L, int holder, struct xc_lua_report *owner)
{
	struct lua_tree *self = xc_bind_class_new(L, &tree_class, sizeof *self);
	lua_pushvalue(L, holder);
	lua_setiuservalue(L, -2, 1);
	self->owner = owner;
	return self;
}

int xc_report_section_tree(lua_State *L)
{
	struct xc_lua_section *section = xc_report_check_section(L);
	const char *key = xc_report_check_key(L, 2);
	lua_settop(L, 3);
	const struct xc_report_options options = xc_report_check_options(L, 3, "title unit");
	struct lua_tree *self = new_tree(L, 1, section->owner);
	xc_report_spend_item(L, section,
			     (options.title ? strlen(options.title) : 0) + (options.unit ? strlen(options.unit) : 0));
	self->tree = xc_report_new_tree(section->owner->report, options.title, options.unit);
	xc_section_tree(section->section, key, self->tree)->label = self->tree->title;
	return 1;
}

void xc_report_push_tree(lua_State *L, struct xc_stacktree *tree)
{
	xc_report_push(L);
	new_tree(L, lua_gettop(L), lua_touserdata(L, -1))->tree = tree;
	lua_remove(L, -2);
}

/* The table keeps the strings alive. */
static size_t check_path(lua_State *L, const char **names)
{
	size_t count = lua_rawlen(L, 2);
	if (count == 0 || count > PATH)
		xc_bind_fail(L, XC_ERR_USAGE, "a path has 1 to %d names, not %d", PATH, (int)count);
	for (size_t i = 0; i < count; i++) {
		if (lua_rawgeti(L, 2, (lua_Integer)i + 1) != LUA_TSTRING)
			xc_bind_fail(L, XC_ERR_USAGE, "a path must be a list of strings, but item %d is a %s value",
				     (int)i + 1, luaL_typename(L, -1));
		names[i] = lua_tostring(L, -1);
		lua_pop(L, 1);
	}
	return count;
}

struct xc_stacktree *xc_report_check_tree(lua_State *L, int arg)
{
	struct lua_tree *self = xc_bind_class_check(L, arg, &tree_class);
	if (!self->tree->building)
		xc_bind_fail(L, XC_ERR_USAGE, "the tree is finished: nothing can be added");
	return self->tree;
}

void xc_report_spend_frames(lua_State *L, int arg, size_t frames)
{
	struct lua_tree *self = xc_bind_class_check(L, arg, &tree_class);
	xc_report_spend(L, self->owner, frames * (2 * sizeof(struct xc_stacktree_node) + 16));
}

/* New names are always at the end of the path. */
static int tree_add(lua_State *L)
{
	struct lua_tree *self = xc_bind_class_check(L, 1, &tree_class);
	const char *names[PATH];
	luaL_checktype(L, 2, LUA_TTABLE);
	size_t count = check_path(L, names), before = self->tree->node_count;
	const struct xc_cell weight = xc_report_check_cell(L, 3, XC_FIELD_COUNT, "weight");
	if (weight.kind == XC_FIELD_NULL)
		xc_bind_fail(L, XC_ERR_USAGE, "weight: expected an integer");
	(void)xc_report_check_tree(L, 1);
	xc_report_spend(L, self->owner, count);
	xc_stacktree_add(self->tree, names, count, weight.number);
	uint64_t bytes = 0;
	for (size_t made = self->tree->node_count - before; made; made--)
		bytes += 2 * sizeof(struct xc_stacktree_node) + strlen(names[count - made]);
	xc_report_spend(L, self->owner, bytes);
	return 0;
}

static const luaL_Reg methods[] = {{"add", tree_add}, {NULL, NULL}};
static const struct xc_bind_class tree_class = {.name = "xcore.Tree", .noun = "a tree", .methods = methods};

void xc_report_open_tree(lua_State *L)
{
	xc_bind_class_open(L, &tree_class);
}
