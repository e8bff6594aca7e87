/* plugin_manifest: tables are accessed raw, so that metatables of a plugin have no effect; in a function that Lua
 * calls, so that raised errors are caught. Strings go to the arena of all plugins. */
#include "lua/plugin/plugin_manifest.h"

#include <stdlib.h>
#include <string.h>

#include "core/text/suggest.h"
#include "lua/vm/bind.h"

enum { MAX_ENTRIES = 1000, MAX_TEXT = 1 << 20, MAX_TEXTS = 4 << 20 };

/* A manifest is a table: a second of waiting, and of CPU time, is plenty. */
static const struct xc_limits limits = {.instructions = 1000000, .memory = 32 << 20, .seconds = 1, .may_starve = true};

/* The state of reading one manifest. */
struct reading {
	struct xc_arena *arena;
	struct xc_plugin *plugin;
	size_t *left; /* bytes left for its texts: a table may repeat one string a thousand times */
};

/* Reads the value at the top of the stack and leaves it there. */
typedef void reader(lua_State *L, const struct reading *r, void *into);

/* A key that a table may have. */
struct key {
	const char *name;
	int kind; /* LUA_T… */
	reader *read;
	size_t offset; /* offset of the destination in the struct of its table */
	bool required;
};

/* ---- names and lists ---- */

bool xc_plugin_is_name(const char *name)
{
	size_t len = strlen(name);
	return len > 0 && len <= 60 && name[0] >= 'a' && name[0] <= 'z' &&
	       strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789_") == len && strcmp(name, "lib") != 0;
}

bool xc_plugin_asks(const struct xc_plugin_match *match)
{
	return match->modules.count || match->symbols.count || match->strings.count || match->types.count;
}

const struct xc_plugin_entry *xc_plugin_entry(const struct xc_plugin_entries *entries, const char *name)
{
	for (size_t i = 0; i < entries->count; i++)
		if (strcmp(entries->items[i].name, name) == 0)
			return &entries->items[i];
	return NULL;
}

/* ---- values ---- */

/* lua_tolstring would convert an integer to a string in place, and so change the table. */
static const char *text_at_top(lua_State *L, const char *what)
{
	size_t len;
	if (lua_type(L, -1) != LUA_TSTRING)
		xc_bind_fail(L, XC_ERR_FORMAT, "%s: expected a string, not a %s", what, luaL_typename(L, -1));
	const char *text = lua_tolstring(L, -1, &len);
	if (len > MAX_TEXT || strlen(text) != len)
		xc_bind_fail(L, XC_ERR_FORMAT, "%s: too long, or with a NUL in it", what);
	return text;
}

/* In the arena. */
static const char *keep_text(lua_State *L, const struct reading *r, const char *what)
{
	const char *text = text_at_top(L, what);
	size_t len = strlen(text);
	if (len > *r->left)
		xc_bind_fail(L, XC_ERR_LIMIT, "%s: all texts together are more than %d MiB", what, MAX_TEXTS >> 20);
	*r->left -= len;
	return xc_arena_strdup(r->arena, text);
}

static void read_text(lua_State *L, const struct reading *r, void *into)
{
	*(const char **)into = keep_text(L, r, "text");
}

static void read_present(lua_State *L, const struct reading *r, void *into)
{
	(void)L;
	(void)r;
	*(bool *)into = true;
}

static void read_nothing(lua_State *L, const struct reading *r, void *into)
{
	(void)L;
	(void)r;
	(void)into;
}

static void read_names(lua_State *L, const struct reading *r, void *into)
{
	struct xc_plugin_names *names = into;
	size_t count = lua_rawlen(L, -1);
	if (count == 0 || count > MAX_ENTRIES)
		xc_bind_fail(L, XC_ERR_FORMAT, "expected a list of names");
	names->items = xc_arena_alloc(r->arena, count * sizeof *names->items);
	for (size_t i = 0; i < count; i++) {
		lua_rawgeti(L, -1, (lua_Integer)i + 1);
		names->items[i] = keep_text(L, r, "a name in a list");
		names->count = i + 1;
		lua_pop(L, 1);
	}
}

/* ---- tables ---- */

static const struct key *find_key(lua_State *L, const struct key *keys, const char *name)
{
	struct xc_suggestion near = xc_suggest(name);
	for (const struct key *key = keys; key->name; key++) {
		if (strcmp(key->name, name) == 0)
			return key;
		xc_suggest_consider(&near, key->name);
	}
	if (near.best)
		xc_bind_fail(L, XC_ERR_FORMAT, "unknown key '%s': did you mean '%s'?", name, near.best);
	xc_bind_fail(L, XC_ERR_FORMAT, "unknown key '%s'", name);
	return NULL;
}

/* Call a reader protected, and prefix its error with the key. */
struct keyed {
	const struct key *key;
	const struct reading *reading;
	void *into;
};

static int read_keyed(lua_State *L)
{
	const struct keyed *k = lua_touserdata(L, 2);
	lua_settop(L, 1);
	k->key->read(L, k->reading, k->into);
	return 0;
}

static void read_value(lua_State *L, const struct key *key, const struct reading *r, void *into)
{
	struct keyed keyed = {key, r, into};
	if (lua_type(L, -1) != key->kind)
		xc_bind_fail(L, XC_ERR_FORMAT, "%s: expected a %s, not a %s", key->name, lua_typename(L, key->kind),
			     luaL_typename(L, -1));
	lua_pushcfunction(L, read_keyed);
	lua_pushvalue(L, -2);
	lua_pushlightuserdata(L, &keyed);
	int status = lua_pcall(L, 2, 0, 0);
	xc_limit_check(L, status);
	if (status == LUA_OK)
		return;
	struct xc_error *err = xc_bind_error_take(L);
	xc_bind_raise(L, xc_error_wrap(err, "%s", key->name));
}

/* Read the table at the top of the stack into a struct, by its keys. */
static void read_table(lua_State *L, const struct key *keys, const struct reading *r, void *into)
{
	luaL_checkstack(L, 8, NULL);
	lua_pushnil(L);
	while (lua_next(L, -2)) {
		if (lua_type(L, -2) != LUA_TSTRING)
			xc_bind_fail(L, XC_ERR_FORMAT, "a key that is a %s, not a name", luaL_typename(L, -2));
		const struct key *key = find_key(L, keys, lua_tostring(L, -2));
		read_value(L, key, r, (char *)into + key->offset);
		lua_pop(L, 1);
	}
	for (const struct key *key = keys; key->name; key++) {
		lua_pushstring(L, key->name);
		lua_rawget(L, -2);
		if (key->required && lua_isnil(L, -1))
			xc_bind_fail(L, XC_ERR_FORMAT, "'%s' is missing", key->name);
		lua_pop(L, 1);
	}
}

/* ---- commands and flames ---- */

static const struct key command_keys[] = {
	{"about", LUA_TSTRING, read_text, offsetof(struct xc_plugin_entry, about), true},
	{"usage", LUA_TSTRING, read_text, offsetof(struct xc_plugin_entry, usage), false},
	{"run", LUA_TFUNCTION, read_nothing, 0, true},
	{0},
};

static const struct key flame_keys[] = {
	{"about", LUA_TSTRING, read_text, offsetof(struct xc_plugin_entry, about), true},
	{"unit", LUA_TSTRING, read_text, offsetof(struct xc_plugin_entry, unit), false},
	{"run", LUA_TFUNCTION, read_nothing, 0, true},
	{0},
};

static int by_name(const void *a, const void *b)
{
	const struct xc_plugin_entry *left = a, *right = b;
	return strcmp(left->name, right->name);
}

static size_t count_entries(lua_State *L)
{
	size_t count = 0;
	for (lua_pushnil(L); lua_next(L, -2); lua_pop(L, 1))
		count++;
	return count;
}

static void read_command(lua_State *L, const struct reading *r, void *into)
{
	read_table(L, command_keys, r, into);
}

static void read_flame(lua_State *L, const struct reading *r, void *into)
{
	read_table(L, flame_keys, r, into);
}

static void read_entries(lua_State *L, const struct reading *r, reader *read, struct xc_plugin_entries *entries)
{
	size_t count = count_entries(L);
	if (count > MAX_ENTRIES)
		xc_bind_fail(L, XC_ERR_FORMAT, "more than %d", MAX_ENTRIES);
	entries->items = xc_arena_alloc(r->arena, (count + 1) * sizeof *entries->items);
	for (lua_pushnil(L); lua_next(L, -2); lua_pop(L, 1)) {
		struct xc_plugin_entry *entry = &entries->items[entries->count++];
		if (lua_type(L, -2) != LUA_TSTRING || !xc_plugin_is_name(lua_tostring(L, -2)))
			xc_bind_fail(L, XC_ERR_FORMAT, "names are lower-case letters, digits and _");
		entry->name = xc_arena_strdup(r->arena, lua_tostring(L, -2));
		const struct key key = {entry->name, LUA_TTABLE, read, 0, false};
		read_value(L, &key, r, entry);
	}
	if (count)
		qsort(entries->items, count, sizeof *entries->items, by_name);
}

static void read_commands(lua_State *L, const struct reading *r, void *into)
{
	read_entries(L, r, read_command, into);
}

static void read_flames(lua_State *L, const struct reading *r, void *into)
{
	read_entries(L, r, read_flame, into);
}

/* ---- the whole ---- */

static const struct key match_keys[] = {
	{"modules", LUA_TTABLE, read_names, offsetof(struct xc_plugin_match, modules), false},
	{"symbols", LUA_TTABLE, read_names, offsetof(struct xc_plugin_match, symbols), false},
	{"strings", LUA_TTABLE, read_names, offsetof(struct xc_plugin_match, strings), false},
	{"types", LUA_TTABLE, read_names, offsetof(struct xc_plugin_match, types), false},
	{0},
};

static void read_match(lua_State *L, const struct reading *r, void *into)
{
	read_table(L, match_keys, r, into);
}

static void read_name(lua_State *L, const struct reading *r, void *into)
{
	const char *name = text_at_top(L, "text");
	(void)into;
	if (!xc_plugin_is_name(name))
		xc_bind_fail(L, XC_ERR_FORMAT,
			     "'%.60s' is not a valid name of a plugin: lower-case letters, digits and _", name);
	if (r->plugin->name && strcmp(r->plugin->name, name) != 0)
		xc_bind_fail(L, XC_ERR_FORMAT, "its name is '%s', but that of its file '%s'", name, r->plugin->name);
	r->plugin->name = xc_arena_strdup(r->arena, name);
}

static const struct key plugin_keys[] = {
	{"name", LUA_TSTRING, read_name, 0, true},
	{"about", LUA_TSTRING, read_text, offsetof(struct xc_plugin, about), true},
	{"doc", LUA_TSTRING, read_text, offsetof(struct xc_plugin, doc), false},
	{"match", LUA_TTABLE, read_match, offsetof(struct xc_plugin, match), false},
	{"analyze", LUA_TFUNCTION, read_present, offsetof(struct xc_plugin, analyzes), false},
	{"claims", LUA_TFUNCTION, read_present, offsetof(struct xc_plugin, claims), false},
	{"stacks", LUA_TFUNCTION, read_present, offsetof(struct xc_plugin, stacks), false},
	{"samples", LUA_TFUNCTION, read_present, offsetof(struct xc_plugin, samples), false},
	{"commands", LUA_TTABLE, read_commands, offsetof(struct xc_plugin, commands), false},
	{"flames", LUA_TTABLE, read_flames, offsetof(struct xc_plugin, flames), false},
	{0},
};

static int read_plugin(lua_State *L)
{
	const struct reading *r = lua_touserdata(L, 2);
	lua_settop(L, 1);
	if (!lua_istable(L, 1))
		return xc_bind_fail(L, XC_ERR_FORMAT, "it returns a %s, not the table of a plugin",
				    luaL_typename(L, 1));
	/* First, so that even a broken one has a name. */
	lua_pushliteral(L, "name");
	if (lua_rawget(L, 1) == LUA_TSTRING)
		read_name(L, r, NULL);
	lua_pop(L, 1);
	read_table(L, plugin_keys, r, r->plugin);
	if (!xc_plugin_asks(&r->plugin->match) &&
	    (r->plugin->analyzes || r->plugin->claims || r->plugin->stacks || r->plugin->samples))
		return xc_bind_fail(
			L, XC_ERR_FORMAT,
			"it has '%s' but no 'match': which targets are meant? modules = {\"*\"} matches all",
			r->plugin->analyzes ? "analyze"
			: r->plugin->claims ? "claims"
			: r->plugin->stacks ? "stacks"
					    : "samples");
	return 0;
}

static struct xc_error *read_returned(struct xc_host *host, const struct reading *r)
{
	lua_State *L = host->L;
	lua_settop(L, 1); /* also when it returned nothing */
	lua_pushcfunction(L, read_plugin);
	lua_insert(L, 1);
	lua_pushlightuserdata(L, (void *)(uintptr_t)r);
	return xc_host_call(host, 2);
}

struct xc_error *xc_plugin_manifest_read(struct xc_plugin *plugin, struct xc_arena *arena,
					 const char *const *module_dirs, size_t module_dir_count)
{
	const struct xc_host_options options = {.name = plugin->file,
						.limits = limits,
						.module_dirs = module_dirs,
						.module_dir_count = module_dir_count};
	size_t left = MAX_TEXTS;
	const struct reading reading = {arena, plugin, &left};
	struct xc_host *host = xc_host_new(&options);
	struct xc_error *err = xc_host_run(host, plugin->path, plugin->text, plugin->len, NULL, 0);
	if (!err)
		err = read_returned(host, &reading);
	if (err && !strstr(err->message, plugin->path))
		err = xc_error_wrap(err, "%s", plugin->file);
	xc_host_free(host);
	return err;
}
