/* archive: reads a pack. archive.h describes the layout.
 *
 * A pack is as hostile as a core: every length is compared with the rest of the index, every offset with the file, and
 * a file never inflates to more than the index announces. */
#include "core/store/archive.h"

#include <inttypes.h>
#include <sha2.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/arena.h"
#include "core/io/archive_layout.h"
#include "core/base/cursor.h"

enum { MAX_FILES = 1 << 17, MAX_MODULES = 1 << 16 };

struct xc_archive {
	struct xc_source *source;
	struct xc_arena arena;
	struct xc_archive_file *files;
	size_t file_count;
	struct xc_archive_module *modules;
	size_t module_count;
};

bool xc_archive_is(const struct xc_source *source)
{
	return source->size >= XC_ARCHIVE_HEAD && xc_load_uint(source->bytes, 4, false) == XC_ARCHIVE_FRAME &&
	       !memcmp(source->bytes + 8, XC_ARCHIVE_MAGIC, 8);
}

/* ---- the index ---- */

static struct xc_error *take_uint(struct xc_cursor *c, size_t size, uint64_t max, uint64_t *value)
{
	struct xc_error *err = xc_cursor_uint(c, size, value);
	if (!err && *value > max)
		err = xc_error_new(XC_ERR_LIMIT, "%s: %" PRIu64 " where at most %" PRIu64 " can be", c->what, *value,
				   max);
	return err;
}

/* A string of len bytes; NULL for none. */
static struct xc_error *take_text(struct xc_archive *a, struct xc_cursor *c, uint64_t len, const char **text)
{
	const void *bytes;
	struct xc_error *err = xc_cursor_take(c, (size_t)len, &bytes);
	if (!err)
		*text = len ? xc_arena_strndup(&a->arena, bytes, (size_t)len) : NULL;
	return err;
}

static struct xc_error *take_id(struct xc_cursor *c, uint64_t len, struct xc_build_id *id)
{
	const void *bytes;
	struct xc_error *err = xc_cursor_take(c, (size_t)len, &bytes);
	if (err)
		return err;
	id->size = (uint8_t)len;
	memcpy(id->bytes, bytes, (size_t)len);
	return NULL;
}

static struct xc_error *take_file(struct xc_archive *a, struct xc_cursor *c, struct xc_archive_file *file)
{
	uint64_t kind, id, path, zero;
	const void *digest;
	struct xc_error *err;
	if ((err = take_uint(c, 1, XC_ARCHIVE_KINDS - 1, &kind)) || (err = take_uint(c, 1, XC_BUILD_ID_MAX, &id)) ||
	    (err = xc_cursor_uint(c, 2, &path)) || (err = xc_cursor_uint(c, 4, &zero)) ||
	    (err = xc_cursor_uint(c, 8, &file->offset)) || (err = xc_cursor_uint(c, 8, &file->stored)) ||
	    (err = xc_cursor_uint(c, 8, &file->size)) || (err = xc_cursor_take(c, sizeof file->sha256, &digest)) ||
	    (err = take_id(c, id, &file->build_id)) || (err = take_text(a, c, path, &file->path)))
		return err;
	memcpy(file->sha256, digest, sizeof file->sha256);
	file->kind = (enum xc_archive_kind)kind;
	if (!file->path)
		file->path = "";
	return NULL;
}

static struct xc_error *take_index(const struct xc_archive *a, struct xc_cursor *c, int *index)
{
	uint64_t value;
	struct xc_error *err = take_uint(c, 4, a->file_count, &value);
	if (!err)
		*index = (int)value - 1;
	return err;
}

static struct xc_error *take_module(struct xc_archive *a, struct xc_cursor *c, struct xc_archive_module *m)
{
	uint64_t identity, id, path, refused, why, debug_why;
	struct xc_error *err;
	if ((err = xc_cursor_uint(c, 8, &m->lo)) || (err = take_index(a, c, &m->file)) ||
	    (err = take_index(a, c, &m->debug)) || (err = take_index(a, c, &m->alt)) ||
	    (err = take_uint(c, 1, XC_REFUSED, &identity)) || (err = take_uint(c, 1, XC_BUILD_ID_MAX, &id)) ||
	    (err = xc_cursor_uint(c, 2, &path)) || (err = xc_cursor_uint(c, 2, &refused)) ||
	    (err = xc_cursor_uint(c, 2, &why)) || (err = xc_cursor_uint(c, 2, &debug_why)) ||
	    (err = take_id(c, id, &m->file_build_id)) || (err = take_text(a, c, path, &m->path)) ||
	    (err = take_text(a, c, refused, &m->file_path)) || (err = take_text(a, c, why, &m->why)) ||
	    (err = take_text(a, c, debug_why, &m->debug_why)))
		return err;
	/* Without the file, the pack's word is no verification. */
	m->identity = identity == XC_REFUSED ? XC_REFUSED : XC_NO_FILE;
	if (!m->path)
		m->path = "";
	return NULL;
}

static struct xc_error *take_tables(struct xc_archive *a, struct xc_cursor *c)
{
	struct xc_error *err = NULL;
	/* each row has a minimum size, so memory is bounded by the size of the index */
	if (a->file_count > xc_cursor_left(c) / XC_ARCHIVE_FILE_ROW ||
	    a->module_count > xc_cursor_left(c) / XC_ARCHIVE_MODULE_ROW)
		return xc_error_new(XC_ERR_FORMAT, "%s: more rows than bytes for them", c->what);
	a->files = xc_arena_alloc(&a->arena, a->file_count * sizeof *a->files);
	a->modules = xc_arena_alloc(&a->arena, a->module_count * sizeof *a->modules);
	for (size_t i = 0; i < a->file_count && !err; i++)
		err = take_file(a, c, &a->files[i]);
	for (size_t i = 0; i < a->module_count && !err; i++)
		err = take_module(a, c, &a->modules[i]);
	if (!err && (a->file_count == 0 || a->files[0].kind != XC_ARCHIVE_CORE))
		err = xc_error_new(XC_ERR_FORMAT, "%s: its first file is not the core", c->what);
	return err;
}

static struct xc_error *check_digest(const uint8_t *content, size_t size)
{
	uint8_t digest[XC_ARCHIVE_DIGEST];
	SHA2_CTX hash;
	SHA256Init(&hash);
	SHA256Update(&hash, content, size - sizeof digest);
	SHA256Final(digest, &hash);
	if (memcmp(digest, content + size - sizeof digest, sizeof digest) != 0)
		return xc_error_new(XC_ERR_FORMAT, "the pack's index is damaged (its SHA-256 differs)");
	return NULL;
}

static struct xc_error *read_index(struct xc_archive *a)
{
	uint64_t size = xc_load_uint(a->source->bytes + 4, 4, false), version, files, modules, zero;
	const uint8_t *content = a->source->bytes + 8;
	struct xc_error *err;
	if (size > a->source->size - 8)
		return xc_error_new(XC_ERR_FORMAT, "the pack is cut short inside its index");
	struct xc_cursor c = xc_cursor(content, (size_t)size, "the pack's index");
	if ((err = xc_cursor_skip(&c, 8)) || (err = xc_cursor_uint(&c, 4, &version)))
		return err;
	if (version != XC_ARCHIVE_VERSION)
		return xc_error_new(XC_ERR_UNSUPPORTED, "a pack of version %" PRIu64 "; this xcore reads version %d",
				    version, XC_ARCHIVE_VERSION);
	if ((err = take_uint(&c, 4, MAX_FILES, &files)) || (err = take_uint(&c, 4, MAX_MODULES, &modules)) ||
	    (err = xc_cursor_uint(&c, 4, &zero)))
		return err;
	if (xc_cursor_left(&c) < XC_ARCHIVE_DIGEST)
		return xc_error_new(XC_ERR_FORMAT, "the pack's index is too short");
	if ((err = check_digest(content, (size_t)size)))
		return err;
	c.end -= XC_ARCHIVE_DIGEST;
	a->file_count = (size_t)files;
	a->module_count = (size_t)modules;
	return take_tables(a, &c);
}

struct xc_error *xc_archive_open(struct xc_source *source, struct xc_archive **archive_out)
{
	xc_auto(xc_archive_closep) struct xc_archive *a = xc_alloc(sizeof *a);
	a->source = source;
	if (!xc_archive_is(source))
		return xc_error_new(XC_ERR_FORMAT, "%s: not made by xcore pack", source->path);
	struct xc_error *err = read_index(a);
	if (err)
		return xc_error_wrap(err, "%s", source->path);
	*archive_out = xc_take(a);
	return NULL;
}

void xc_archive_close(struct xc_archive *a)
{
	if (!a)
		return;
	xc_source_close(a->source);
	xc_arena_fini(&a->arena);
	free(a);
}

void xc_archive_closep(struct xc_archive **archive)
{
	xc_archive_close(*archive);
}

/* ---- the files ---- */

/* Inflate the available bytes of a file. `cut` of the source is true when they are not all. */
static struct xc_error *inflate(const struct xc_archive *a, const struct xc_archive_file *file, const char *path,
				const struct xc_source_options *options, struct xc_source **source_out)
{
	struct xc_source_options how = {.max_size = file->size, .progress = options ? options->progress : NULL};
	if (options && options->max_size && file->size > options->max_size)
		return xc_error_new(XC_ERR_LIMIT, "%s: inflates to %" PRIu64 " bytes", path, file->size);
	if (file->size == 0) {
		*source_out = xc_source_over(NULL, 0, path);
		return NULL;
	}
	uint64_t there = file->offset < a->source->size ? a->source->size - file->offset : 0;
	if (there == 0)
		return xc_error_new(XC_ERR_FORMAT, "%s: the pack is cut short before it", path);
	struct xc_error *err = xc_source_inflate(a->source->bytes + file->offset,
						 file->stored < there ? file->stored : there, path, &how, source_out);
	if (!err && (*source_out)->size < file->size)
		(*source_out)->cut = true;
	return err;
}

struct xc_error *xc_archive_core(const struct xc_archive *a, const struct xc_source_options *options,
				 struct xc_source **source_out)
{
	return inflate(a, &a->files[0], a->source->path, options, source_out);
}

struct xc_error *xc_archive_inflate(const struct xc_archive *a, int index, const struct xc_source_options *options,
				    struct xc_source **source_out)
{
	if (index < 0 || (size_t)index >= a->file_count)
		return xc_error_new(XC_ERR_NOT_FOUND, "%s: has no file number %d", a->source->path, index);
	const struct xc_archive_file *file = &a->files[index];
	xc_auto(xc_source_closep) struct xc_source *source = NULL;
	struct xc_error *err = inflate(a, file, file->path, options, &source);
	if (err)
		return err;
	if (source->cut)
		return xc_error_new(XC_ERR_FORMAT, "%s: damaged or cut short in the pack", file->path);
	*source_out = xc_take(source);
	return NULL;
}

size_t xc_archive_file_count(const struct xc_archive *a)
{
	return a->file_count;
}

const struct xc_archive_file *xc_archive_file(const struct xc_archive *a, size_t index)
{
	return index < a->file_count ? &a->files[index] : NULL;
}

size_t xc_archive_module_count(const struct xc_archive *a)
{
	return a->module_count;
}

const struct xc_archive_module *xc_archive_module_at(const struct xc_archive *a, size_t index)
{
	return index < a->module_count ? &a->modules[index] : NULL;
}

const struct xc_archive_module *xc_archive_module(const struct xc_archive *a, xc_addr lo, const char *path)
{
	for (size_t i = 0; i < a->module_count; i++)
		if (a->modules[i].lo == lo && !strcmp(a->modules[i].path, path))
			return &a->modules[i];
	for (size_t i = 0; i < a->module_count; i++) /* its range is known only from its file */
		if (!strcmp(a->modules[i].path, path))
			return &a->modules[i];
	return NULL;
}
