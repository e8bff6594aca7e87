/* archive_write: writes a pack. archive.h describes the layout.
 *
 * The size of the index depends only on names and counts. So space for it is reserved at the front, and it is written
 * last, when offsets and digests are known. While one thread compresses a file, another computes its SHA-256, which is
 * the slower of the two for zero pages. The output has no name until it is complete (O_TMPFILE), so a killed run leaves
 * no file. */
#include "core/store/archive.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <sha2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zstd.h>

#include "core/io/archive_layout.h"
#include "core/io/planted.h"
#include "core/io/tempfile.h"
#include "core/base/progress.h"
#include "core/base/text.h"

enum { LEVEL = 3, WORKERS = 2, CHUNK = 4 << 20, MAX_TEXT = UINT16_MAX };

struct writer {
	int fd;
	const char *path;
	char *temporary;      /* its name while it has one, else NULL */
	uint64_t at;          /* bytes written so far */
	uint64_t done, total; /* for the progress bar */
	ZSTD_CCtx *zstd;
	char *out;
	size_t out_size;
};

/* ---- the output file ---- */

static struct xc_error *open_output(struct writer *w)
{
	struct stat st;
	if (lstat(w->path, &st) == 0 && !S_ISREG(st.st_mode) && !S_ISLNK(st.st_mode))
		return xc_error_new(XC_ERR_UNSUPPORTED, "%s: exists and is not a regular file", w->path);
	const char *slash = strrchr(w->path, '/');
	xc_auto(xc_freep) char *dir = slash ? xc_asprintf("%.*s", (int)(slash - w->path + 1), w->path) : xc_strdup(".");
	xc_auto(xc_freep) char *inside = xc_asprintf("%s/.", dir);
	struct xc_error *err = xc_planted_check(inside); /* a planted link at the path itself is replaced */
	if (err)
		return err;
	w->fd = open(dir, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
	if (w->fd < 0)
		w->fd = xc_tempfile_open(w->path, 0600, &w->temporary); /* file systems without O_TMPFILE */
	return w->fd < 0 ? xc_error_errno(errno, "%s", w->path) : NULL;
}

/* Give the complete file its name. It replaces an older one atomically. */
static struct xc_error *publish(struct writer *w)
{
	if ((!w->temporary && xc_tempfile_link(w->fd, w->path, &w->temporary) < 0) ||
	    xc_tempfile_rename(&w->temporary, w->path) < 0)
		return xc_error_errno(errno, "%s", w->path);
	return NULL;
}

static struct xc_error *write_out(struct writer *w, const void *bytes, size_t len)
{
	if (!xc_tempfile_write(w->fd, bytes, len))
		return xc_error_errno(errno, "writing %s", w->path);
	w->at += len;
	return NULL;
}

/* ---- the index ---- */

static void put(struct xc_text *index, size_t size, uint64_t value)
{
	char bytes[8];
	for (size_t i = 0; i < size; i++)
		bytes[i] = (char)(value >> 8 * i);
	xc_text_addn(index, bytes, size);
}

static size_t text_len(const char *text)
{
	return text ? strnlen(text, MAX_TEXT) : 0;
}

static void put_file(struct xc_text *index, const struct xc_archive_file *file)
{
	put(index, 1, file->kind);
	put(index, 1, file->build_id.size);
	put(index, 2, text_len(file->path));
	put(index, 4, 0);
	put(index, 8, file->offset);
	put(index, 8, file->stored);
	put(index, 8, file->size);
	xc_text_addn(index, (const char *)file->sha256, sizeof file->sha256);
	xc_text_addn(index, (const char *)file->build_id.bytes, file->build_id.size);
	xc_text_addn(index, file->path, text_len(file->path));
}

static void put_module(struct xc_text *index, const struct xc_archive_module *m)
{
	put(index, 8, m->lo);
	put(index, 4, (uint64_t)(m->file + 1));
	put(index, 4, (uint64_t)(m->debug + 1));
	put(index, 4, (uint64_t)(m->alt + 1));
	put(index, 1, m->identity);
	put(index, 1, m->file_build_id.size);
	put(index, 2, text_len(m->path));
	put(index, 2, text_len(m->file_path));
	put(index, 2, text_len(m->why));
	put(index, 2, text_len(m->debug_why));
	xc_text_addn(index, (const char *)m->file_build_id.bytes, m->file_build_id.size);
	xc_text_addn(index, m->path, text_len(m->path));
	xc_text_addn(index, m->file_path, text_len(m->file_path));
	xc_text_addn(index, m->why, text_len(m->why));
	xc_text_addn(index, m->debug_why, text_len(m->debug_why));
}

/* The whole skippable frame. Its length depends on names and counts only. */
static void build_index(struct xc_text *index, const struct xc_archive_content *content)
{
	uint8_t digest[XC_ARCHIVE_DIGEST] = {0};
	SHA2_CTX hash;
	put(index, 4, XC_ARCHIVE_FRAME);
	put(index, 4, 0); /* its size, below */
	xc_text_addn(index, XC_ARCHIVE_MAGIC, 8);
	put(index, 4, XC_ARCHIVE_VERSION);
	put(index, 4, content->file_count);
	put(index, 4, content->module_count);
	put(index, 4, 0);
	for (size_t i = 0; i < content->file_count; i++)
		put_file(index, &content->files[i]);
	for (size_t i = 0; i < content->module_count; i++)
		put_module(index, &content->modules[i]);
	SHA256Init(&hash);
	SHA256Update(&hash, (const uint8_t *)index->bytes + 8, index->len - 8);
	SHA256Final(digest, &hash);
	xc_text_addn(index, (const char *)digest, sizeof digest);
	for (size_t i = 0; i < 4; i++)
		index->bytes[4 + i] = (char)((index->len - 8) >> 8 * i);
}

/* ---- one file ---- */

struct digest_job {
	const struct xc_source *source;
	uint8_t *digest;
};

static void *take_digest(void *argument)
{
	struct digest_job *job = argument;
	SHA2_CTX hash;
	SHA256Init(&hash);
	for (uint64_t at = 0; at < job->source->size; at += CHUNK) {
		uint64_t left = job->source->size - at;
		SHA256Update(&hash, job->source->bytes + at, left < CHUNK ? (size_t)left : CHUNK);
	}
	SHA256Final(job->digest, &hash);
	return NULL;
}

static struct xc_error *zstd_error(size_t code, const char *path)
{
	return xc_error_new(XC_ERR_IO, "compressing %s: %s", path, ZSTD_getErrorName(code));
}

static struct xc_error *compress_chunk(struct writer *w, const struct xc_source *source, uint64_t at, size_t len)
{
	ZSTD_inBuffer in = {source->bytes ? source->bytes + at : NULL, len, 0};
	ZSTD_EndDirective how = len == source->size - at ? ZSTD_e_end : ZSTD_e_continue;
	for (;;) {
		ZSTD_outBuffer out = {w->out, w->out_size, 0};
		size_t left = ZSTD_compressStream2(w->zstd, &out, &in, how);
		if (ZSTD_isError(left))
			return zstd_error(left, source->path);
		struct xc_error *err = write_out(w, w->out, out.pos);
		if (err)
			return err;
		if (how == ZSTD_e_end ? left == 0 : in.pos == in.size)
			return NULL;
	}
}

static struct xc_error *compress(struct writer *w, const struct xc_source *source, struct xc_progress *progress)
{
	size_t code = ZSTD_CCtx_setPledgedSrcSize(w->zstd, source->size);
	if (ZSTD_isError(code))
		return zstd_error(code, source->path);
	uint64_t at = 0;
	do {
		uint64_t left = source->size - at;
		size_t len = left < CHUNK ? (size_t)left : CHUNK;
		struct xc_error *err = compress_chunk(w, source, at, len);
		if (err)
			return err;
		at += len;
		w->done += len;
		xc_progress_step(progress, w->done, w->total);
	} while (at < source->size);
	return NULL;
}

static struct xc_error *write_file(struct writer *w, const struct xc_source *source, struct xc_archive_file *file,
				   struct xc_progress *progress)
{
	struct digest_job job = {source, file->sha256};
	pthread_t thread;
	bool parallel = pthread_create(&thread, NULL, take_digest, &job) == 0;
	file->offset = w->at;
	file->size = source->size;
	struct xc_error *err = compress(w, source, progress);
	file->stored = w->at - file->offset;
	if (parallel)
		pthread_join(thread, NULL);
	else
		take_digest(&job);
	if (!err && xc_source_changed(source))
		err = xc_error_new(XC_ERR_IO, "%s: was cut while it was packed", source->path);
	return err;
}

/* ---- all of it ---- */

static void set_up(struct writer *w, const struct xc_archive_content *content)
{
	w->zstd = ZSTD_createCCtx();
	w->out_size = ZSTD_CStreamOutSize() * 8;
	w->out = xc_alloc(w->out_size);
	ZSTD_CCtx_setParameter(w->zstd, ZSTD_c_compressionLevel, content->level ? content->level : LEVEL);
	ZSTD_CCtx_setParameter(w->zstd, ZSTD_c_checksumFlag, 1);
	ZSTD_CCtx_setParameter(w->zstd, ZSTD_c_nbWorkers, WORKERS); /* refused by a library without threads: no harm */
	for (size_t i = 0; i < content->file_count; i++)
		w->total += content->sources[i]->size;
}

static struct xc_error *write_all(struct writer *w, const struct xc_archive_content *content)
{
	xc_auto(xc_text_fini) struct xc_text room = {0}, index = {0};
	build_index(&room, content);
	if (room.len - 8 > UINT32_MAX)
		return xc_error_new(XC_ERR_LIMIT, "%s: more names than a pack can hold", w->path);
	struct xc_error *err = write_out(w, room.bytes, room.len);
	for (size_t i = 0; i < content->file_count && !err; i++)
		err = write_file(w, content->sources[i], &content->files[i], content->progress);
	if (err)
		return err;
	build_index(&index, content);
	if (lseek(w->fd, 0, SEEK_SET) < 0)
		return xc_error_errno(errno, "writing %s", w->path);
	return write_out(w, index.bytes, index.len);
}

struct xc_error *xc_archive_write(const struct xc_archive_content *content, const char *path)
{
	struct writer w = {.fd = -1, .path = path};
	struct xc_error *err = open_output(&w);
	if (!err) {
		set_up(&w, content);
		err = write_all(&w, content);
		xc_progress_end(content->progress);
		if (!err)
			err = publish(&w);
		ZSTD_freeCCtx(w.zstd);
		free(w.out);
	}
	xc_tempfile_remove(&w.temporary);
	if (w.fd >= 0 && close(w.fd) < 0 && !err)
		err = xc_error_errno(errno, "writing %s", path);
	return err;
}
