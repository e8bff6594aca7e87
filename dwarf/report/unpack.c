/* unpack: xc_pack_extract of pack.h. Directories are opened one component at a time, by descriptor and never through a
 * link. So neither the pack nor existing files in the directory can lead out of it. */
#include "core/base/shared_status.h"
#include "core/io/folder.h"
#include "dwarf/report/pack.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sha2.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MAX_PATH_LEN = 4096, DIGEST = 32 };

struct extraction {
	const struct xc_archive *archive;
	const struct xc_pack_options *options;
	const char *dir;
	int dir_fd;
};

/* ---- names ---- */

/* The path of file `index` below the directory; malloc'ed. */
static char *name_of(const struct xc_archive *a, size_t index)
{
	char hex[2 * XC_BUILD_ID_MAX + 1];
	const struct xc_archive_file *file = xc_archive_file(a, index);
	if (index == 0)
		return xc_strdup("core");
	for (size_t i = 0; file->kind == XC_ARCHIVE_MODULE && i < xc_archive_module_count(a); i++) {
		const struct xc_archive_module *m = xc_archive_module_at(a, i);
		if (m->file == (int)index)
			return xc_asprintf("root/%s", m->path);
	}
	bool by_id = file->kind == XC_ARCHIVE_DEBUG || file->kind == XC_ARCHIVE_ALT;
	if (by_id && file->build_id.size >= 2) {
		xc_build_id_hex(&file->build_id, hex);
		return xc_asprintf("root/usr/lib/debug/.build-id/%.2s/%s.debug", hex, hex + 2);
	}
	return xc_asprintf("root/%s", file->path);
}

/* Take the next component off *path; false at the end. "." and ".." are skipped. */
static bool next_component(const char **path, char component[NAME_MAX + 1], bool *too_long)
{
	for (;;) {
		*path += strspn(*path, "/");
		size_t len = strcspn(*path, "/");
		if (len == 0)
			return false;
		*too_long = len > NAME_MAX;
		if (*too_long)
			return false;
		memcpy(component, *path, len);
		component[len] = '\0';
		*path += len;
		if (strcmp(component, ".") != 0 && strcmp(component, "..") != 0)
			return true;
	}
}

/* Create and open the directory of `path` below dir_fd; `last` gets the last component. */
static struct xc_error *open_parent(const struct extraction *x, const char *path, int *fd_out, char last[NAME_MAX + 1])
{
	char component[NAME_MAX + 1];
	const char *rest = path;
	bool too_long = false;
	int at = dup(x->dir_fd);
	if (at < 0 || !next_component(&rest, last, &too_long) || strlen(path) > MAX_PATH_LEN) {
		close(at);
		return xc_error_new(XC_ERR_FORMAT, "the pack has a file without a usable name");
	}
	while (next_component(&rest, component, &too_long)) {
		at = xc_folder_step(at, last, 0700);
		if (at < 0)
			return xc_error_errno(errno, "%s/%s", x->dir, path);
		strcpy(last, component);
	}
	if (too_long) {
		close(at);
		return xc_error_new(XC_ERR_FORMAT, "the pack has a file without a usable name");
	}
	*fd_out = at;
	return NULL;
}

/* ---- one file ---- */

static struct xc_error *write_all(int fd, const struct xc_source *source, const char *name)
{
	for (uint64_t at = 0; at < source->size;) {
		uint64_t left = source->size - at;
		ssize_t n = write(fd, source->bytes + at, left < (1 << 30) ? (size_t)left : 1 << 30);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return xc_error_errno(n ? errno : ENOSPC, "writing %s", name);
		at += (uint64_t)n;
	}
	return NULL;
}

static struct xc_error *check_digest(const struct xc_source *source, const struct xc_archive_file *file,
				     const char *name)
{
	uint8_t digest[DIGEST];
	SHA2_CTX hash;
	SHA256Init(&hash);
	SHA256Update(&hash, source->bytes, (size_t)source->size);
	SHA256Final(digest, &hash);
	if (source->cut || source->size != file->size || memcmp(digest, file->sha256, sizeof digest) != 0)
		return xc_error_new(XC_ERR_FORMAT, "%s: damaged in the pack, not written", name);
	return NULL;
}

static struct xc_error *place(const struct extraction *x, int dir, const char *name, const struct xc_source *source,
			      const char *shown)
{
	char temporary[64];
	snprintf(temporary, sizeof temporary, ".xcore-unpack-%d.part", (int)getpid());
	xc_auto(xc_freep) char *path = xc_asprintf("%.*s%s", (int)(strrchr(shown, '/') + 1 - shown), shown, temporary);
	xc_shared_status_add_tempfile(path);
	int fd = openat(dir, temporary, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd < 0) {
		xc_shared_status_remove_tempfile(path);
		return xc_error_errno(errno, "%s", shown);
	}
	struct xc_error *err = write_all(fd, source, shown);
	if (close(fd) < 0 && !err)
		err = xc_error_errno(errno, "writing %s", shown);
	bool force = x->options && x->options->force;
	if (!err && renameat2(dir, temporary, dir, name, force ? 0 : RENAME_NOREPLACE) < 0)
		err = errno != EEXIST ? xc_error_errno(errno, "%s", shown)
				      : xc_error_hint(xc_error_new(XC_ERR_USAGE, "%s: exists", shown),
						      "unpack into an empty directory, or replace it with --force");
	if (err)
		unlinkat(dir, temporary, 0);
	xc_shared_status_remove_tempfile(path);
	return err;
}

static struct xc_error *extract_file(const struct extraction *x, size_t index)
{
	char last[NAME_MAX + 1];
	int parent = -1;
	struct xc_source_options how = {.progress = x->options ? x->options->progress : NULL};
	xc_auto(xc_source_closep) struct xc_source *source = NULL;
	xc_auto(xc_freep) char *name = name_of(x->archive, index);
	xc_auto(xc_freep) char *shown = xc_asprintf("%s/%s", x->dir, name);
	struct xc_error *err = index ? xc_archive_inflate(x->archive, (int)index, &how, &source)
				     : xc_archive_core(x->archive, &how, &source);
	if (err || (err = check_digest(source, xc_archive_file(x->archive, index), shown)) ||
	    (err = open_parent(x, name, &parent, last)))
		return err;
	err = place(x, parent, last, source, shown);
	close(parent);
	return err;
}

/* ---- all of them ---- */

static struct xc_error *extract_all(const struct extraction *x, struct xc_pack_totals *totals)
{
	struct xc_pack_totals sum = {0};
	for (size_t i = 0; i < xc_archive_file_count(x->archive); i++) {
		struct xc_error *err = extract_file(x, i);
		if (err)
			return err;
		const struct xc_archive_file *file = xc_archive_file(x->archive, i);
		sum.files++;
		sum.bytes += file->size;
		sum.stored += file->stored;
	}
	if (totals)
		*totals = sum;
	return NULL;
}

struct xc_error *xc_pack_extract(const char *path, const char *dir, const struct xc_pack_options *options,
				 struct xc_pack_totals *totals_out)
{
	struct extraction x = {.options = options, .dir = dir};
	struct xc_source *source = NULL;
	xc_auto(xc_archive_closep) struct xc_archive *archive = NULL;
	struct xc_error *err = xc_source_open(path, NULL, &source);
	if (err || (err = xc_archive_open(source, &archive)))
		return err;
	x.archive = archive;
	if ((err = xc_folder_make(dir, 0700)))
		return err;
	x.dir_fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (x.dir_fd < 0)
		return xc_error_errno(errno, "%s", dir);
	err = extract_all(&x, totals_out);
	close(x.dir_fd);
	return err;
}
