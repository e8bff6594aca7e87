/* debugsearch: names from a file are as untrusted as those from a core: a debuglink is a plain file name or it is
 * ignored, and all files are opened by core/process/finder.
 *
 * .gnu_debuglink: name, NUL, padding to 4, CRC-32 of the file (GDB manual 18.3). .gnu_debugaltlink: name, NUL,
 * build-id (dwz). .debug_sup: DWARF 5, 7.3.6. */
#include "dwarf/locate/debugsearch.h"

#include <string.h>
#include <zlib.h>

#include "core/store/archive.h"
#include "core/base/cursor.h"
#include "core/store/store.h"
#include "core/base/text.h"
#include "dwarf/locate/debuginfod.h"

static const char SYSTEM_DIR[] = "/usr/lib/debug";

struct wanted {
	struct xc_build_id id; /* size 0: the CRC decides */
	bool has_crc;
	uint32_t crc;
};

static struct xc_build_id module_id(const struct xc_module *m)
{
	return m->build_id.size ? m->build_id : m->file_build_id;
}

/* ---- references to the alternate file ---- */

static bool take_id(struct xc_build_id *id, const void *bytes, size_t size)
{
	if (size == 0 || size > XC_BUILD_ID_MAX)
		return false;
	id->size = (uint8_t)size;
	memcpy(id->bytes, bytes, size);
	return true;
}

static const char *altlink(Elf *elf, struct xc_build_id *id)
{
	const Elf_Data *data = xc_elffile_section(elf, ".gnu_debugaltlink");
	const char *name = data ? data->d_buf : NULL;
	size_t len = data ? strnlen(name, data->d_size) : 0;
	if (!len || len == data->d_size || !take_id(id, name + len + 1, data->d_size - len - 1))
		return NULL;
	return name;
}

/* .debug_sup: version (2), is_supplementary (1), name, checksum length, checksum. The file referred to has such a
 * section, too, with is_supplementary set and the same checksum; it may have no build-id. */
static const char *supplement(Elf *elf, bool supplementary, struct xc_build_id *id)
{
	const Elf_Data *data = xc_elffile_section(elf, ".debug_sup");
	uint64_t version, flag, size;
	const char *name = NULL;
	const void *bytes;
	if (!data)
		return NULL;
	struct xc_cursor c = xc_cursor(data->d_buf, data->d_size, ".debug_sup");
	struct xc_error *err;
	if ((err = xc_cursor_uint(&c, 2, &version)) || (err = xc_cursor_uint(&c, 1, &flag)) ||
	    (err = xc_cursor_string(&c, &name)) || (err = xc_cursor_uleb(&c, &size)) ||
	    (err = xc_cursor_take(&c, (size_t)size, &bytes))) {
		xc_error_free(err);
		return NULL;
	}
	return (flag != 0) == supplementary && take_id(id, bytes, (size_t)size) ? name : NULL;
}

static struct xc_build_id id_of(Elf *elf)
{
	struct xc_build_id id = xc_elffile_build_id(elf);
	if (!id.size)
		supplement(elf, true, &id);
	return id;
}

/* ---- checking a candidate ---- */

static bool crc_equal(const struct xc_source *source, uint32_t wanted)
{
	return (uint32_t)crc32_z(crc32_z(0, NULL, 0), source->bytes, (size_t)source->size) == wanted;
}

static void note_refused(const struct xc_debugsearch *s, const char *path, const struct wanted *w,
			 const struct xc_build_id *id)
{
	char ours[2 * XC_BUILD_ID_MAX + 1], theirs[2 * XC_BUILD_ID_MAX + 1];
	if (s->why->len)
		return; /* the first refused file is the most likely one */
	if (w->id.size)
		xc_text_printf(s->why, "%s has build-id %s, not %s: not used", path,
			       id->size ? xc_build_id_hex(id, theirs) : "(none)", xc_build_id_hex(&w->id, ours));
	else
		xc_text_printf(s->why, "the CRC of %s differs from the one in .gnu_debuglink: not used", path);
}

/* Takes source. */
static bool accept(const struct xc_debugsearch *s, struct xc_source *source, const struct wanted *w,
		   struct xc_elffile *file_out)
{
	struct xc_elffile file;
	if (!xc_elffile_open(&file, source, true))
		return false;
	struct xc_build_id id = id_of(file.elf);
	bool good = w->id.size ? xc_build_id_equal(&id, &w->id) : w->has_crc && crc_equal(file.source, w->crc);
	if (!good)
		note_refused(s, xc_finder_display_path(s->process, file.source->path), w, &id);
	else if (xc_elffile_has_dwarf(file.elf) || xc_elffile_has_symtab(file.elf)) {
		*file_out = file;
		return true;
	}
	xc_elffile_close(&file);
	return false;
}

static bool try_open(const struct xc_debugsearch *s, const char *root, const char *path, const struct wanted *w,
		     struct xc_elffile *file_out)
{
	struct xc_source *source = NULL;
	struct xc_error *err = xc_finder_open(root, path, &source);
	xc_error_free(err); /* a missing file is the usual case */
	return source && accept(s, source, w, file_out);
}

static bool try_build_id(const struct xc_debugsearch *s, const char *root, const char *dir, const struct wanted *w,
			 struct xc_elffile *file_out)
{
	struct xc_source *source = NULL;
	struct xc_error *err = xc_finder_open_build_id(root, dir, &w->id, ".debug", &source);
	xc_error_free(err);
	return source && accept(s, source, w, file_out);
}

/* Files that have all of this according to the store, which is verified. */
static bool by_store(const struct xc_debugsearch *s, const struct wanted *w, uint32_t has, struct xc_elffile *file_out)
{
	enum { MAX_FILES = 64 };
	uint32_t numbers[MAX_FILES];
	bool good = false;
	size_t found = xc_store_find(s->finder->store, &w->id, 2 * (size_t)w->id.size, numbers, MAX_FILES);
	for (size_t i = 0; i < found && i < MAX_FILES && !good; i++) {
		struct xc_store_file file;
		if (xc_store_file(s->finder->store, numbers[i], &file) && (file.has & has) == has)
			good = try_open(s, NULL, file.path, w, file_out);
	}
	if (good && s->stored)
		*s->stored = true;
	return good;
}

static bool by_build_id(const struct xc_debugsearch *s, const struct wanted *w, struct xc_elffile *file_out)
{
	const char *roots[XC_FINDER_ROOTS];
	size_t count = xc_finder_roots(s->finder, s->process, roots);
	if (!w->id.size)
		return false;
	for (size_t i = 0; i < s->finder->debug_dir_count; i++)
		if (try_build_id(s, NULL, s->finder->debug_dirs[i], w, file_out))
			return true;
	if (by_store(s, w, XC_STORE_DWARF, file_out))
		return true;
	for (size_t i = 0; i < count; i++)
		if (try_build_id(s, roots[i], SYSTEM_DIR, w, file_out))
			return true;
	return false;
}

static bool by_debuginfod(const struct xc_debugsearch *s, const struct wanted *w, enum xc_debuginfod_kind kind,
			  struct xc_elffile *file_out)
{
	struct xc_source *source = NULL;
	if (!s->finder->debuginfod)
		return false;
	const struct xc_debuginfod_request request = {
		.id = &w->id, .kind = kind, .what = s->module->name, .quiet = s->finder->quiet};
	struct xc_error *err = xc_debuginfod_fetch(&request, &source);
	if (err && !s->why->len)
		xc_text_add(s->why, err->message);
	xc_error_free(err);
	if (kind == XC_DEBUGINFOD_DEBUG)
		return source && accept(s, source, w, file_out);
	struct xc_elffile file;
	if (!source || !xc_elffile_open(&file, source, true))
		return false;
	struct xc_build_id id = xc_elffile_build_id(file.elf);
	bool good = xc_build_id_equal(&id, &w->id);
	if (good)
		*file_out = file;
	else
		xc_elffile_close(&file);
	return good;
}

/* ---- the place of the module's own file ---- */

const char *xc_debugsearch_root(const struct xc_debugsearch *s, const char *path, const char **rest)
{
	const char *roots[XC_FINDER_ROOTS];
	size_t count = xc_finder_roots(s->finder, s->process, roots);
	*rest = path;
	for (size_t i = 0; i < count; i++) {
		size_t len = roots[i] ? strlen(roots[i]) : 0;
		if (len && !strncmp(path, roots[i], len) && path[len] == '/') {
			*rest = path + len;
			return roots[i];
		}
	}
	/* the path of a live module is that of the process, whose root comes first */
	return s->process->live && path == s->module->file_path && count > 1 ? roots[0] : NULL;
}

/* Malloc'ed; "." for a bare name. */
static char *directory_of(const char *path)
{
	const char *slash = strrchr(path, '/');
	return slash ? xc_asprintf("%.*s", (int)(slash - path), path) : xc_strdup(".");
}

/* ---- .gnu_debuglink ---- */

static const char *debuglink(Elf *elf, uint32_t *crc)
{
	const Elf_Data *data = elf ? xc_elffile_section(elf, ".gnu_debuglink") : NULL;
	const char *name = data ? data->d_buf : NULL;
	size_t len = data ? strnlen(name, data->d_size) : 0;
	size_t at = (len + 4) & ~(size_t)3;
	if (!len || len == data->d_size || at > data->d_size || data->d_size - at < 4 || strchr(name, '/'))
		return NULL;
	size_t ident;
	const char *bytes = elf_getident(elf, &ident);
	*crc = (uint32_t)xc_load_uint(name + at, 4, bytes && bytes[EI_DATA] == ELFDATA2MSB);
	return name;
}

static bool by_debuglink(const struct xc_debugsearch *s, const struct wanted *w, struct xc_elffile *file_out)
{
	struct wanted checked = *w;
	const char *rest, *name = debuglink(s->elf, &checked.crc);
	const char *path = s->module->file_path ? s->module->file_path : s->module->path;
	if (!name)
		return false;
	checked.has_crc = true;
	const char *root = xc_debugsearch_root(s, path, &rest);
	xc_auto(xc_freep) char *dir = directory_of(rest);
	xc_auto(xc_freep) char *beside = xc_asprintf("%s/%s", dir, name);
	xc_auto(xc_freep) char *below = xc_asprintf("%s/.debug/%s", dir, name);
	xc_auto(xc_freep) char *global = xc_asprintf("%s/%s/%s", SYSTEM_DIR, dir, name);
	if (try_open(s, root, beside, &checked, file_out) || try_open(s, root, below, &checked, file_out))
		return true;
	for (size_t i = 0; i < s->finder->debug_dir_count; i++)
		if (try_open(s, s->finder->debug_dirs[i], beside, &checked, file_out) ||
		    try_open(s, s->finder->debug_dirs[i], name, &checked, file_out))
			return true;
	return try_open(s, root, global, &checked, file_out);
}

/* By the module's path or name below --debug-dir, as such trees are often laid out. */
static bool by_path(const struct xc_debugsearch *s, const struct wanted *w, struct xc_elffile *file_out)
{
	xc_auto(xc_freep) char *path = xc_asprintf("%s.debug", s->module->path);
	xc_auto(xc_freep) char *name = xc_asprintf("%s.debug", s->module->name);
	for (size_t i = 0; w->id.size && i < s->finder->debug_dir_count; i++) {
		const char *dir = s->finder->debug_dirs[i];
		if (try_open(s, dir, path, w, file_out) || try_open(s, dir, name, w, file_out) ||
		    try_open(s, dir, s->module->path, w, file_out) || try_open(s, dir, s->module->name, w, file_out))
			return true;
	}
	return false;
}

/* ---- packs ---- */

static const struct xc_archive *archive_of(const struct xc_debugsearch *s)
{
	return s->finder->archive ? s->finder->archive : s->process->archive;
}

static bool from_archive(const struct xc_debugsearch *s, int index, const struct wanted *w, struct xc_elffile *file_out)
{
	struct xc_source *source = NULL;
	if (index < 0)
		return false;
	struct xc_error *err = xc_archive_inflate(archive_of(s), index, NULL, &source);
	if (err && !s->why->len)
		xc_text_add(s->why, err->message);
	xc_error_free(err);
	return source && accept(s, source, w, file_out);
}

/* ---- the debug file ---- */

bool xc_debugsearch_debug(const struct xc_debugsearch *s, struct xc_elffile *file_out)
{
	struct wanted w = {.id = module_id(s->module)};
	if (archive_of(s)) {
		const struct xc_archive_module *m = xc_archive_module(archive_of(s), s->module->lo, s->module->path);
		w.has_crc = debuglink(s->elf, &w.crc) != NULL;
		return m && from_archive(s, m->debug, &w, file_out);
	}
	return by_build_id(s, &w, file_out) || by_path(s, &w, file_out) || by_debuglink(s, &w, file_out) ||
	       by_debuginfod(s, &w, XC_DEBUGINFOD_DEBUG, file_out) || by_store(s, &w, XC_STORE_SYMBOLS, file_out);
}

bool xc_debugsearch_executable(const struct xc_debugsearch *s, struct xc_elffile *file_out)
{
	struct wanted w = {.id = s->module->build_id};
	return !archive_of(s) && by_debuginfod(s, &w, XC_DEBUGINFOD_EXECUTABLE, file_out);
}

/* ---- the alternate file ---- */

static bool alt_by_name(const struct xc_debugsearch *s, const char *name, const char *path, const struct wanted *w,
			struct xc_elffile *file_out)
{
	const char *rest, *root = xc_debugsearch_root(s, path, &rest);
	if (name[0] == '/')
		return try_open(s, root, name, w, file_out);
	xc_auto(xc_freep) char *dir = directory_of(rest);
	xc_auto(xc_freep) char *beside = xc_asprintf("%s/%s", dir, name);
	return try_open(s, root, beside, w, file_out);
}

bool xc_debugsearch_alt(const struct xc_debugsearch *s, Elf *elf, const char *path, struct xc_elffile *file_out,
			bool *wanted_out)
{
	char hex[2 * XC_BUILD_ID_MAX + 1];
	struct wanted w = {.has_crc = false};
	const char *name = altlink(elf, &w.id);
	if (!name)
		name = supplement(elf, false, &w.id);
	*wanted_out = name != NULL;
	if (!name)
		return false;
	if (archive_of(s)) {
		const struct xc_archive_module *m = xc_archive_module(archive_of(s), s->module->lo, s->module->path);
		if (m && from_archive(s, m->alt, &w, file_out))
			return true;
	} else if (alt_by_name(s, name, path, &w, file_out) || by_build_id(s, &w, file_out) ||
		   by_debuginfod(s, &w, XC_DEBUGINFOD_DEBUG, file_out)) {
		return true;
	}
	if (!s->why->len)
		xc_text_printf(s->why,
			       "the common part that dwz moved to %s (build-id %s) was not found: names and types are"
			       " incomplete",
			       name, xc_build_id_hex(&w.id, hex));
	return false;
}
