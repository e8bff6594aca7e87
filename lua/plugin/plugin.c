/* plugin: finding plugins. Names come from directories; reading a manifest takes a Lua state of its own (about 60
 * µs), so that no plugin can affect the next. */
#include "lua/plugin/plugin.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/text/suggest.h"
#include "core/base/text.h"

enum { MAX_PLUGINS = 1000, MAX_ENTRIES = 100000 };

/* ---- finding ---- */

/* The name of the plugin in a directory entry, malloc'ed, and its file below the directory; NULL for other files. */
static char *name_of(int dir, const char *entry, char **path_out)
{
	size_t len = strlen(entry);
	bool file = len > 4 && strcmp(entry + len - 4, ".lua") == 0;
	xc_auto(xc_freep) char *name = xc_asprintf("%.*s", (int)(file ? len - 4 : len), entry);
	if (!xc_plugin_is_name(name))
		return NULL;
	xc_auto(xc_freep) char *path = xc_asprintf("%s%s", entry, file ? "" : "/init.lua");
	if (faccessat(dir, path, F_OK, AT_SYMLINK_NOFOLLOW) < 0)
		return NULL;
	*path_out = xc_take(path);
	return xc_take(name);
}

static int by_name(const void *a, const void *b)
{
	const struct xc_plugin *const *left = a, *const *right = b;
	return strcmp((*left)->name, (*right)->name);
}

/* The earlier directory takes precedence, and in one directory NAME.lua over NAME/init.lua. */
static void add(struct xc_plugins *plugins, const struct xc_plugindir *dir, const char *name, const char *path)
{
	for (size_t i = 0; i < plugins->count; i++) {
		struct xc_plugin *other = plugins->items[i];
		if (strcmp(other->name, name) != 0)
			continue;
		if (other->dir == dir && strchr(other->path, '/')) {
			other->path = xc_arena_strdup(&plugins->arena, path);
			other->file = xc_arena_printf(&plugins->arena, "%s/%s", dir->path, path);
		}
		return;
	}
	if (plugins->count >= MAX_PLUGINS)
		return;
	struct xc_plugin *plugin = xc_arena_alloc(&plugins->arena, sizeof *plugin);
	plugin->name = xc_arena_strdup(&plugins->arena, name);
	plugin->path = xc_arena_strdup(&plugins->arena, path);
	plugin->file = xc_arena_printf(&plugins->arena, "%s/%s", dir->path, path);
	plugin->dir = dir;
	plugins->items = xc_grow(plugins->items, plugins->count, &plugins->capacity, sizeof(struct xc_plugin *));
	plugins->items[plugins->count++] = plugin;
}

static void scan(struct xc_plugins *plugins, const struct xc_plugindir *dir)
{
	int fd = openat(dir->fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *listing = fd < 0 ? NULL : fdopendir(fd);
	if (!listing)
		return;
	for (unsigned i = 0; i < MAX_ENTRIES; i++) {
		const struct dirent *entry = readdir(listing);
		if (!entry)
			break;
		xc_auto(xc_freep) char *path = NULL;
		xc_auto(xc_freep) char *name = name_of(dir->fd, entry->d_name, &path);
		if (name)
			add(plugins, dir, name, path);
	}
	closedir(listing);
}

struct xc_error *xc_plugins_open(struct xc_plugins *plugins, const char *const *extra, size_t extra_count)
{
	*plugins = (struct xc_plugins){0};
	struct xc_error *err = xc_plugindirs_open(&plugins->dirs, extra, extra_count);
	if (err) {
		xc_plugins_fini(plugins);
		return err;
	}
	for (size_t i = 0; i < plugins->dirs.count; i++)
		scan(plugins, &plugins->dirs.items[i]);
	if (plugins->count)
		qsort(plugins->items, plugins->count, sizeof(struct xc_plugin *), by_name);
	return NULL;
}

static void fini(struct xc_plugin *plugin)
{
	xc_error_free(plugin->broken);
	free(plugin->text);
}

void xc_plugins_fini(struct xc_plugins *plugins)
{
	for (size_t i = 0; i < plugins->count; i++)
		fini(plugins->items[i]);
	for (struct xc_plugin *file = plugins->files; file; file = file->next)
		fini(file);
	free(plugins->items);
	xc_plugindirs_fini(&plugins->dirs);
	xc_arena_fini(&plugins->arena);
	*plugins = (struct xc_plugins){0};
}

/* ---- manifests ---- */

/* Load the text, without the manifest. */
static void load(struct xc_plugin *plugin)
{
	if (!plugin->loaded)
		plugin->broken = xc_plugindir_read(plugin->dir, plugin->path, &plugin->text, &plugin->len);
	plugin->loaded = true;
}

bool xc_plugin_mentions(struct xc_plugin *plugin, const char *word)
{
	load(plugin);
	return !plugin->broken && strstr(plugin->text, word);
}

static struct xc_error *read_manifest(struct xc_plugins *plugins, struct xc_plugin *plugin)
{
	size_t count;
	const char *const *dirs = xc_plugin_module_dirs(plugins, plugin, &count);
	return xc_plugin_manifest_read(plugin, &plugins->arena, dirs, count);
}

bool xc_plugin_read(struct xc_plugins *plugins, struct xc_plugin *plugin)
{
	if (plugin->read)
		return !plugin->broken;
	load(plugin);
	plugin->read = true;
	if (!plugin->broken)
		plugin->broken = read_manifest(plugins, plugin);
	return !plugin->broken;
}

struct xc_error *xc_plugins_named(struct xc_plugins *plugins, const char *name, struct xc_plugin **plugin_out)
{
	struct xc_suggestion near = xc_suggest(name);
	for (size_t i = 0; i < plugins->count; i++) {
		struct xc_plugin *plugin = plugins->items[i];
		xc_suggest_consider(&near, plugin->name);
		if (strcmp(plugin->name, name) != 0)
			continue;
		*plugin_out = plugin;
		if (xc_plugin_read(plugins, plugin))
			return NULL;
		return xc_error_hint(xc_error_new(plugin->broken->code, "%s", plugin->broken->message), "%s",
				     plugin->broken->hint ? plugin->broken->hint : "the plugin is broken");
	}
	struct xc_error *err = xc_error_new(XC_ERR_NOT_FOUND, "there is no plugin '%s'", name);
	if (plugins->dirs.refused_count) /* the plugin may be in a refused directory */
		return xc_error_hint(err, "%s", plugins->dirs.refused[0]->message);
	if (near.best)
		return xc_error_hint(err, "did you mean %s?", near.best);
	return xc_error_hint(err, "`xcore plugin list` lists the installed plugins; a script is a file: ./%s.lua",
			     name);
}

/* Read a file that the user names, wherever it is, but not a device or FIFO. */
static struct xc_error *read_file(const char *path, char **text_out, size_t *len_out)
{
	struct xc_source *source;
	const struct xc_source_options options = {.as_is = true};
	struct xc_error *err = xc_source_open(path, &options, &source);
	if (err)
		return err;
	if (source->size > XC_PLUGIN_FILE_MAX) {
		err = xc_error_new(XC_ERR_LIMIT, "%s: larger than %d MiB", path, XC_PLUGIN_FILE_MAX >> 20);
	} else {
		*len_out = source->size;
		*text_out = xc_alloc(source->size + 1);
		if (source->size)
			memcpy(*text_out, source->bytes, source->size);
	}
	xc_source_close(source);
	return err;
}

/* A script may do anything, and may fail without a target; only a file that returns a plugin's table is a plugin. */
struct xc_error *xc_plugins_file(struct xc_plugins *plugins, const char *file, struct xc_plugin **plugin_out)
{
	struct xc_plugin *plugin = xc_arena_alloc(&plugins->arena, sizeof *plugin);
	struct xc_error *err = read_file(file, &plugin->text, &plugin->len);
	if (err)
		return err;
	plugin->next = plugins->files;
	plugins->files = plugin;
	plugin->loaded = plugin->read = true;
	plugin->path = plugin->file = xc_arena_strdup(&plugins->arena, file);
	if (!(err = read_manifest(plugins, plugin)))
		*plugin_out = plugin;
	else if (!plugin->name) { /* not a plugin: a script */
		xc_error_free(xc_take(err));
		plugin->about = NULL;
		*plugin_out = plugin;
	}
	return err;
}

const char *const *xc_plugin_module_dirs(struct xc_plugins *plugins, const struct xc_plugin *plugin, size_t *count_out)
{
	const struct xc_plugindirs *dirs = &plugins->dirs;
	const char **paths = xc_arena_alloc(&plugins->arena, (dirs->count + 1) * sizeof *paths);
	size_t count = 0;
	if (plugin && plugin->dir)
		paths[count++] = plugin->dir->path;
	for (size_t i = 0; i < dirs->count; i++)
		if (!plugin || plugin->dir != &dirs->items[i])
			paths[count++] = dirs->items[i].path;
	*count_out = count;
	return paths;
}
