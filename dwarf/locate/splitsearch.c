/* splitsearch: names from debug information are opened by core/process/finder alone. */
#include "dwarf/locate/splitsearch.h"

#include <string.h>

#include "core/store/archive.h"
#include "core/store/store.h"

struct look {
	const struct xc_debugsearch *search;
	xc_splitsearch_fn *consider;
	void *context;
};

/* Takes err. */
static bool try_source(const struct look *l, struct xc_error *err, struct xc_source *source)
{
	xc_error_free(err); /* a missing file is the usual case */
	return source && l->consider(l->context, source);
}

static bool try_open(const struct look *l, const char *root, const char *dir, const char *name, const char *suffix)
{
	struct xc_source *source = NULL;
	xc_auto(xc_freep) char *path = xc_asprintf("%s%s%s%s", dir ? dir : "", dir ? "/" : "", name, suffix);
	struct xc_error *err = xc_finder_open(root, path, &source);
	return try_source(l, err, source);
}

static const char *last_part(const char *name)
{
	const char *slash = strrchr(name, '/');
	return slash ? slash + 1 : name;
}

/* ---- packs ---- */

static const struct xc_archive *archive_of(const struct xc_debugsearch *s)
{
	return s->finder->archive ? s->finder->archive : s->process->archive;
}

static bool same_id(const struct xc_archive_file *file, const void *id, size_t size)
{
	return file->build_id.size == size && !memcmp(file->build_id.bytes, id, size);
}

/* By id, or by path when the file was packed under the id of another of its units. */
static bool from_archive(const struct look *l, enum xc_archive_kind kind, const void *id, size_t size, const char *path)
{
	const struct xc_archive *a = archive_of(l->search);
	for (size_t i = 0; i < xc_archive_file_count(a); i++) {
		struct xc_source *source = NULL;
		const struct xc_archive_file *file = xc_archive_file(a, i);
		if (file->kind != kind || (!same_id(file, id, size) && (!path || strcmp(path, file->path) != 0)))
			continue;
		struct xc_error *err = xc_archive_inflate(a, (int)i, NULL, &source);
		if (try_source(l, err, source))
			return true;
	}
	return false;
}

/* ---- the store ---- */

bool xc_splitsearch_stored(const struct xc_debugsearch *search, uint64_t id, uint32_t has, xc_splitsearch_fn *consider,
			   void *context)
{
	enum { MAX_FILES = 64 };
	struct look l = {.search = search, .consider = consider, .context = context};
	struct xc_store *store = archive_of(search) ? NULL : search->finder->store;
	uint32_t numbers[MAX_FILES];
	struct xc_store_file file;
	bool taken = false;
	size_t found = xc_store_find_split(store, id, numbers, MAX_FILES);
	for (size_t i = 0; i < found && i < MAX_FILES && !taken; i++)
		taken = xc_store_file(store, numbers[i], &file) && (file.has & has) &&
			try_open(&l, NULL, NULL, file.path, "");
	if (taken && search->stored)
		*search->stored = true;
	return taken;
}

/* ---- a .dwo ---- */

static bool by_roots(const struct look *l, const char *dir, const char *name)
{
	const char *roots[XC_FINDER_ROOTS];
	size_t count = xc_finder_roots(l->search->finder, l->search->process, roots);
	for (size_t i = 0; i < count; i++)
		if (try_open(l, roots[i], dir, name, ""))
			return true;
	return false;
}

static bool by_debug_dirs(const struct look *l, const char *dir, const char *name)
{
	const struct xc_finder *f = l->search->finder;
	for (size_t i = 0; i < f->debug_dir_count; i++)
		if ((dir && try_open(l, f->debug_dirs[i], dir, name, "")) ||
		    try_open(l, f->debug_dirs[i], NULL, name, "") ||
		    try_open(l, f->debug_dirs[i], NULL, last_part(name), ""))
			return true;
	return false;
}

static bool beside(const struct look *l, const char *path, const char *name)
{
	const char *rest, *root = xc_debugsearch_root(l->search, path, &rest);
	const char *slash = strrchr(rest, '/');
	xc_auto(xc_freep) char *dir = slash ? xc_asprintf("%.*s", (int)(slash - rest), rest) : xc_strdup(".");
	return (name[0] != '/' && try_open(l, root, dir, name, "")) || try_open(l, root, dir, last_part(name), "");
}

char *xc_splitsearch_path(const struct xc_debugsearch *s, const struct xc_skeleton *skeleton)
{
	const char *path = s->module->path, *slash = strrchr(path, '/');
	if (skeleton->name[0] == '/')
		return xc_strdup(skeleton->name);
	if (skeleton->dir && skeleton->dir[0] == '/')
		return xc_asprintf("%s/%s", skeleton->dir, skeleton->name);
	return xc_asprintf("%.*s/%s", slash ? (int)(slash - path) : 1, slash ? path : ".", skeleton->name);
}

bool xc_splitsearch_dwo(const struct xc_debugsearch *search, const char *path, const struct xc_skeleton *skeleton,
			xc_splitsearch_fn *consider, void *context)
{
	struct look l = {.search = search, .consider = consider, .context = context};
	const char *name = skeleton->name;
	const char *dir = name[0] != '/' && skeleton->dir && skeleton->dir[0] == '/' ? skeleton->dir : NULL;
	xc_auto(xc_freep) char *named = archive_of(search) ? xc_splitsearch_path(search, skeleton) : NULL;
	if (named)
		return from_archive(&l, XC_ARCHIVE_SPLIT, &skeleton->id, sizeof skeleton->id, named);
	return xc_splitsearch_stored(search, skeleton->id, XC_STORE_DWO, consider, context) ||
	       ((dir || name[0] == '/') && by_roots(&l, dir, name)) || by_debug_dirs(&l, dir, name) ||
	       beside(&l, path, name);
}

/* ---- a .dwp ---- */

static bool dwp_beside(const struct look *l, const char *path)
{
	const char *rest, *root = path ? xc_debugsearch_root(l->search, path, &rest) : NULL;
	return path && try_open(l, root, NULL, rest, ".dwp");
}

static bool dwp_by_id(const struct look *l, const char *root, const char *dir)
{
	const struct xc_module *m = l->search->module;
	const struct xc_build_id *id = m->build_id.size ? &m->build_id : &m->file_build_id;
	struct xc_source *source = NULL;
	struct xc_error *err = xc_finder_open_build_id(root, dir, id, ".dwp", &source);
	return try_source(l, err, source);
}

static bool dwp_by_debug_dirs(const struct look *l)
{
	const struct xc_finder *f = l->search->finder;
	for (size_t i = 0; i < f->debug_dir_count; i++)
		if (dwp_by_id(l, NULL, f->debug_dirs[i]) ||
		    try_open(l, f->debug_dirs[i], NULL, l->search->module->path, ".dwp") ||
		    try_open(l, f->debug_dirs[i], NULL, l->search->module->name, ".dwp"))
			return true;
	return false;
}

bool xc_splitsearch_dwp(const struct xc_debugsearch *search, const char *path, xc_splitsearch_fn *consider,
			void *context)
{
	struct look l = {.search = search, .consider = consider, .context = context};
	const struct xc_module *m = search->module;
	const struct xc_build_id *id = m->build_id.size ? &m->build_id : &m->file_build_id;
	const char *roots[XC_FINDER_ROOTS];
	if (archive_of(search))
		return from_archive(&l, XC_ARCHIVE_PACKAGE, id->bytes, id->size, NULL);
	if (dwp_beside(&l, path) || (m->file_path && m->file_path != path && dwp_beside(&l, m->file_path)) ||
	    dwp_by_debug_dirs(&l))
		return true;
	size_t count = xc_finder_roots(search->finder, search->process, roots);
	for (size_t i = 0; i < count; i++)
		if (dwp_by_id(&l, roots[i], "/usr/lib/debug"))
			return true;
	return false;
}
