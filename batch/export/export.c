/* export: the table of formats, and source paths as they appear in exports. */
#include "batch/export/export.h"

#include <string.h>

#include "core/report/scrub.h"
#include "core/base/text.h"

#define ADDRESS(name) &xc_export_##name,

const struct xc_export *const xc_exports[] = {XC_EXPORTS(ADDRESS) NULL};

const struct xc_export *xc_export_named(const char *name)
{
	for (const struct xc_export *const *e = xc_exports; *e; e++)
		if (strcmp((*e)->name, name) == 0)
			return *e;
	return NULL;
}

char *xc_export_list(void)
{
	struct xc_text list = {0};
	for (const struct xc_export *const *e = xc_exports; *e; e++) {
		xc_text_add(&list, list.len ? ", " : "");
		xc_text_add(&list, (*e)->name);
	}
	return xc_text_take(&list);
}

/* ---- paths ---- */

/* Removes the last component of a path under construction; false if there is none that could be removed. */
static bool drop_component(struct xc_text *path, size_t root)
{
	size_t at = path->len;
	while (at > root && path->bytes[at - 1] != '/')
		at--;
	if (path->len == root || strcmp(path->bytes + at, "..") == 0 || strcmp(path->bytes, "~") == 0)
		return false; /* the parent of a home directory is unknown */
	path->len = at > root ? at - 1 : root;
	path->bytes[path->len] = '\0';
	return true;
}

static void add_component(struct xc_text *path, size_t root, const char *name, size_t len)
{
	if (len == 0 || (len == 1 && name[0] == '.'))
		return;
	if (len == 2 && memcmp(name, "..", 2) == 0 && (drop_component(path, root) || root))
		return; /* "/" has no parent */
	if (path->len > root)
		xc_text_char(path, '/');
	xc_text_addn(path, name, len);
}

/* Removes "//", "." and, as far as names tell, "..": compilers prepend their working directory to the names they were
 * given. */
static char *tidy(const char *file)
{
	struct xc_text path = {0};
	size_t root = file[0] == '/';
	xc_text_addn(&path, file, root);
	while (*file) {
		size_t len = strcspn(file, "/");
		add_component(&path, root, file, len);
		file += len;
		file += *file == '/';
	}
	return xc_text_take(&path);
}

/* Removes the directory from the beginning of a path; false if the path does not begin with it. */
static bool cut_root(char *path, const char *root)
{
	size_t len = strlen(root);
	while (len && root[len - 1] == '/')
		len--;
	if (strncmp(path, root, len) != 0 || path[len] != '/' || !path[len + 1])
		return false;
	memmove(path, path + len + 1, strlen(path + len + 1) + 1);
	return true;
}

char *xc_export_path(const struct xc_export_options *options, const char *file)
{
	if (!file || !*file)
		return NULL;
	char *path = tidy(file);
	if (!options->source_root)
		return path;
	xc_auto(xc_freep) char *root = tidy(options->source_root);
	if (cut_root(path, root))
		return path;
	/* redacted records have "~" in place of the home directory */
	struct xc_text shown = {0};
	const struct xc_scrub none = {0};
	if (xc_scrub_text(&none, root, false, &shown))
		cut_root(path, shown.bytes);
	xc_text_fini(&shown);
	return path;
}

bool xc_export_whole(const char *path)
{
	return path[0] == '/' || xc_begins_with(path, "~/");
}

bool xc_export_inside(const struct xc_export_options *options, const char *file)
{
	xc_auto(xc_freep) char *path = xc_export_path(options, file);
	bool below = path && !xc_export_whole(path) && strcmp(path, "..") != 0 && strncmp(path, "../", 3) != 0;
	return below && (xc_export_whole(file) || !options->source_root);
}
