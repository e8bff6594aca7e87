/* plugin_new: two Lua files (plugin_new.lua, plugin_new_test.lua, embedded in the program) with @WORDS@ replaced. */
#include "lua/plugin/plugin_new.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/embed.h"
#include "core/base/text.h"
#include "core/base/userdir.h"
#include "dwarf/lookup/lookup.h"
#include "dwarf/types/type.h"
#include "dwarf/elf/name.h"
#include "lua/plugin/plugin.h"

XC_EMBED(xc_plugin_new_bytes, "lua/plugin/plugin_new.lua");
XC_EMBED(xc_plugin_new_test_bytes, "lua/plugin/plugin_new_test.lua");

/* ---- types and variables of a target ---- */

/* Characters that are safe in a Lua string and in a comment. */
static bool is_type_name(const char *name)
{
	static const char allowed[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_:<>,*() ";
	size_t len = strlen(name);
	return len > 0 && len < 200 && strspn(name, allowed) == len;
}

/* The name of a module comes from the target: a name that could end a Lua string, or is a pattern, is not written. */
static bool is_plain(const char *name)
{
	size_t len = strlen(name);
	return len > 0 && strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.+-") == len;
}

static bool is_record(const struct xc_type *type)
{
	type = xc_type_strip(type);
	return type->kind == XC_TYPE_STRUCT || type->kind == XC_TYPE_CLASS || type->kind == XC_TYPE_UNION;
}

struct xc_error *xc_plugin_new_type(const struct xc_process *process, struct xc_arena *arena, const char *name,
				    const char **type_out)
{
	const char *plain = xc_name_without_keyword(name);
	size_t len = strlen(name);
	struct xc_definition found;
	const struct xc_query query = {.name = plain, .kinds = XC_NAME_TYPE};
	if (process && !xc_lookup_one(process, &query, &found)) {
		struct xc_text near = {0};
		struct xc_error *err = xc_error_new(XC_ERR_NOT_FOUND, "no type '%s' in %s", name, process->target);
		if (xc_lookup_similar(process, &query, 3, &near))
			err = xc_error_hint(err, "near: %s", xc_text_string(&near));
		xc_text_fini(&near);
		return err;
	}
	if (process && !is_record(xc_type_get(xc_types_of(process), &found.die)))
		return xc_error_new(XC_ERR_USAGE, "'%s' has no fields: expected a struct, class or union", name);
	bool typedefed = plain != name || strchr(name, ':') || (len > 2 && strcmp(name + len - 2, "_t") == 0);
	if (process)
		*type_out = xc_arena_strdup(arena, xc_type_name(xc_type_get(xc_types_of(process), &found.die)));
	else
		*type_out = xc_arena_printf(arena, "%s%s", typedefed ? "" : "struct ", name);
	return NULL;
}

struct search {
	const struct xc_process *process;
	const char *type;
	struct xc_arena *arena;
	const char *found;
};

static bool consider(void *context, const char *name, const struct xc_definition *definition)
{
	struct search *s = context;
	Dwarf_Die die = definition->die;
	const struct xc_type *type = xc_type_strip(xc_type_of(xc_types_of(s->process), &die));
	if (type->kind == XC_TYPE_POINTER)
		type = xc_type_strip(type->target);
	if (definition->declaration || strcmp(xc_type_name(type), s->type) != 0 || !is_type_name(name))
		return true;
	s->found = xc_arena_strdup(s->arena, name);
	return false;
}

const char *xc_plugin_new_variable(const struct xc_process *process, struct xc_arena *arena, const char *type)
{
	struct search s = {process, type, arena, NULL};
	if (process->module_count)
		xc_lookup_each(process, process->modules[0], XC_NAME_VARIABLE, consider, &s);
	return s.found;
}

/* ---- texts ---- */

struct word {
	const char *name, *text;
};

static char *fill(const char *pattern, const struct word *words)
{
	struct xc_text text = {0};
	while (*pattern) {
		const struct word *word = words;
		while (word->name && strncmp(pattern, word->name, strlen(word->name)) != 0)
			word++;
		if (word->name) {
			xc_text_add(&text, word->text);
			pattern += strlen(word->name);
		} else {
			xc_text_char(&text, *pattern++);
		}
	}
	return xc_text_take(&text);
}

static char *analyze_text(const struct xc_plugin_new *what)
{
	if (!what->variable)
		return xc_strdup(
			"\t-- With a function `analyze = function(t, report) … end` here, `xcore analyze` shows what "
			"it adds.\n");
	return xc_asprintf("\tanalyze = function(t, report)\n"
			   "\t\tlocal v = t:var \"%s\"\n"
			   "\t\tlocal section = report:section(\"%s\", \"%s\")\n"
			   "\t\tif v then show(section, v) else section:note(\"%s is NULL\") end\n"
			   "\tend,\n",
			   what->variable, what->name, what->variable, what->variable);
}

/* ---- files ---- */

static struct xc_error *make_fresh(const char *path)
{
	if (mkdir(path, 0755) == 0)
		return NULL;
	if (errno == EEXIST)
		return xc_error_new(XC_ERR_USAGE, "%s already exists", path);
	return xc_error_errno(errno, "%s", path);
}

static struct xc_error *write_file(const char *dir, const char *name, const char *text)
{
	xc_auto(xc_freep) char *path = xc_asprintf("%s/%s", dir, name);
	int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0644);
	if (fd < 0)
		return xc_error_errno(errno, "%s", path);
	size_t len = strlen(text);
	ssize_t written = write(fd, text, len);
	struct xc_error *err =
		written == (ssize_t)len ? NULL : xc_error_errno(written < 0 ? errno : ENOSPC, "%s", path);
	if (close(fd) < 0 && !err)
		err = xc_error_errno(errno, "%s", path);
	return err;
}

static struct xc_error *write_files(const struct xc_plugin_new *what, const char *dir)
{
	xc_auto(xc_freep) char *analyze = analyze_text(what);
	xc_auto(xc_freep) char *match =
		what->module && is_plain(what->module)
			? xc_asprintf("modules = { \"%s\" }, types = { \"%s\" }", what->module,
				      xc_name_without_keyword(what->type))
			: xc_asprintf("types = { \"%s\" }", xc_name_without_keyword(what->type));
	xc_auto(xc_freep) char *otherwise =
		what->variable ? xc_asprintf("\"%s\"", what->variable)
			       : xc_strdup("error(xcore.error(\"usage\", \"which one? A variable or an address\"))");
	const struct word words[] = {{"@NAME@", what->name}, {"@TYPE@", what->type},   {"@MATCH@", match},
				     {"@ANALYZE@", analyze}, {"@DEFAULT@", otherwise}, {NULL, NULL}};
	xc_auto(xc_freep) char *plugin = fill(xc_plugin_new_bytes, words);
	xc_auto(xc_freep) char *test = fill(xc_plugin_new_test_bytes, words);
	xc_auto(xc_freep) char *tests = xc_asprintf("%s/test", dir);
	struct xc_error *err;
	if ((err = make_fresh(tests)) || (err = write_file(dir, "init.lua", plugin)))
		return err;
	return write_file(tests, "show.lua", test);
}

struct xc_error *xc_plugin_new(const struct xc_plugin_new *what)
{
	struct xc_error *err;
	if (!xc_plugin_is_name(what->name))
		return xc_error_new(XC_ERR_USAGE,
				    "'%s' is not a valid name of a plugin: lower-case letters, digits and _",
				    what->name);
	if (!is_type_name(what->type) || (what->variable && !is_type_name(what->variable)))
		return xc_error_new(XC_ERR_USAGE, "'%s' is not a valid name of a type",
				    is_type_name(what->type) ? what->variable : what->type);
	xc_auto(xc_freep) char *dir = xc_asprintf("%s/%s", what->dir, what->name);
	if (!xc_userdir_make(what->dir, 0755))
		return xc_error_errno(errno, "%s", what->dir);
	if ((err = make_fresh(dir)))
		return err;
	return write_files(what, dir);
}
