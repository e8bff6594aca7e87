/* require: there is no package.path, package.cpath or searcher, which would reach any file of the host. */
#include "lua/vm/require.h"

#include <stdlib.h>
#include <string.h>

#include "lua/vm/bind.h"
#include "lua/vm/plugindir.h"

enum { NAME_MAX_LENGTH = 100 };

/* The modules that are being loaded: a table in the registry. */
static const char loading_key;

/* "redis.keys" to "redis/keys.lua". False: not a valid name of a part. */
static bool path_of(const char *name, char *path)
{
	size_t len = strlen(name);
	if (len > NAME_MAX_LENGTH || strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789_.") != len)
		return false;
	if (!strchr(name, '.') || name[0] == '.' || name[len - 1] == '.' || strstr(name, ".."))
		return false;
	for (size_t i = 0; i < len; i++)
		path[i] = name[i] == '.' ? '/' : name[i];
	strcpy(path + len, ".lua");
	return true;
}

static struct xc_error *read_from(const char *dir_path, const char *path, char **text_out, size_t *len_out)
{
	struct xc_plugindir dir;
	struct xc_error *err = xc_plugindir_open(dir_path, &dir);
	if (err)
		return err;
	err = xc_plugindir_read(&dir, path, text_out, len_out);
	xc_plugindir_close(&dir);
	return err;
}

static struct xc_error *read_part(const struct xc_host *host, const char *path, char **text_out, size_t *len_out)
{
	for (size_t i = 0; i < host->options.module_dir_count; i++) {
		struct xc_error *err = read_from(host->options.module_dirs[i], path, text_out, len_out);
		if (!err || err->code != XC_ERR_NOT_FOUND)
			return err;
		xc_error_free(err);
	}
	return xc_error_new(XC_ERR_NOT_FOUND, "there is no %s in any plugin directory", path);
}

/* Push the part as a function. */
static void load_part(lua_State *L, const char *path)
{
	char *text = NULL;
	size_t len = 0;
	const char *chunk = lua_pushfstring(L, "@%s", path);
	xc_bind_raise(L, read_part(xc_bind_host(L), path, &text, &len));
	int status = luaL_loadbufferx(L, text, len, chunk, "t"); /* never raises */
	free(text);
	xc_limit_check(L, status);
	if (status != LUA_OK)
		lua_error(L);
	lua_remove(L, -2);
}

/* Look up a name in the table at the top; if it has a value, push it and return true. */
static bool has(lua_State *L, const char *name)
{
	if (lua_getfield(L, -1, name) != LUA_TNIL)
		return true;
	lua_pop(L, 1);
	return false;
}

static int require(lua_State *L)
{
	char path[NAME_MAX_LENGTH + 8];
	size_t len;
	const char *name = luaL_checklstring(L, 1, &len);
	lua_settop(L, 1);
	luaL_getsubtable(L, LUA_REGISTRYINDEX, LUA_LOADED_TABLE); /* 2 */
	if (has(L, name))
		return 1;
	if (strlen(name) != len || !path_of(name, path))
		return xc_bind_fail(
			L, XC_ERR_USAGE,
			"require \"%.100s\": expected a part of a plugin, \"NAME.part\", or a walker, \"lib.walk\"",
			name);
	lua_rawgetp(L, LUA_REGISTRYINDEX, &loading_key); /* 3 */
	if (has(L, name))
		return xc_bind_fail(L, XC_ERR_USAGE, "require \"%s\": it requires itself, or failed to load", name);
	lua_pushboolean(L, true);
	lua_setfield(L, 3, name);
	load_part(L, path);
	lua_pushvalue(L, 1);
	lua_call(L, 1, 1);
	lua_pushnil(L);
	lua_setfield(L, 3, name);
	if (lua_isnil(L, -1)) {
		lua_pop(L, 1);
		lua_pushboolean(L, true);
	}
	lua_pushvalue(L, -1);
	lua_setfield(L, 2, name);
	return 1;
}

void xc_require_open(lua_State *L)
{
	lua_newtable(L);
	lua_rawsetp(L, LUA_REGISTRYINDEX, &loading_key);
	lua_pushcfunction(L, require);
	lua_setglobal(L, "require");
}
