/* store_keep: links or copies a file under a temporary name, verifies its id, then renames it. So a file with the
 * name of an id has that id, even when two processes keep the same file, or one of them is killed. */
#include "dwarf/symstore/store_keep.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/fs.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "core/base/shared_status.h"
#include "dwarf/symstore/store_scan.h"

enum { CHUNK = 1 << 20 };

/* DIR/kept/…; malloc'ed. */
static char *place_of(const char *dir, const struct xc_store_file *file, const uint64_t *dwo_ids)
{
	char hex[2 * XC_BUILD_ID_MAX + 1];
	if (!file->id.size)
		return xc_asprintf("%s/kept/.dwo/%016" PRIx64 ".%s", dir, dwo_ids[0],
				   file->has & XC_STORE_DWP ? "dwp" : "dwo");
	xc_build_id_hex(&file->id, hex);
	return xc_asprintf("%s/kept/.build-id/%.2s/%s%s", dir, hex, hex + 2, file->has & XC_STORE_CODE ? "" : ".debug");
}

static struct xc_error *make_parents(const char *dir, const char *place)
{
	xc_auto(xc_freep) char *path = xc_strdup(place);
	for (char *slash = strchr(path + strlen(dir) + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
		*slash = '\0';
		if (mkdir(path, 0777) < 0 && errno != EEXIST)
			return xc_error_errno(errno, "%s", path);
		*slash = '/';
	}
	return NULL;
}

/* Does the kept file have everything that the new one has? */
static bool has_as_much(const struct xc_store_scan *there, const struct xc_store_file *file)
{
	const uint32_t counts = XC_STORE_CODE | XC_STORE_SYMBOLS | XC_STORE_DWARF | XC_STORE_DWO | XC_STORE_DWP;
	return (file->has & counts & ~there->has) == 0;
}

static bool is_kept(const char *place, const struct xc_store_file *file)
{
	struct xc_arena arena = {NULL};
	struct xc_store_scan there;
	struct stat st;
	bool kept = xc_store_scan_at(AT_FDCWD, place, &arena, &st, &there) &&
		    (st.st_ino == file->ino ? st.st_dev == file->dev
					    : file->id.size == there.id.size &&
						      !memcmp(file->id.bytes, there.id.bytes, there.id.size) &&
						      has_as_much(&there, file));
	xc_arena_fini(&arena);
	return kept;
}

/* Does the temporary file have the id that it will be found by? */
static bool is_right(const char *aside, const struct xc_store_entry *entry)
{
	struct xc_arena arena = {NULL};
	struct xc_store_scan there;
	struct stat st;
	bool right = xc_store_scan_at(AT_FDCWD, aside, &arena, &st, &there) && there.kind == XC_STORE_ELF &&
		     (entry->file.id.size ? xc_build_id_equal(&there.id, &entry->file.id)
					  : there.dwo_count && there.dwo_ids[0] == entry->dwo_ids[0]);
	xc_arena_fini(&arena);
	return right;
}

static int copy_bytes(int from, int to)
{
	if (ioctl(to, FICLONE, from) == 0)
		return 0;
	for (;;) {
		ssize_t n = copy_file_range(from, NULL, to, NULL, CHUNK, 0);
		if (n == 0)
			return 0;
		if (n < 0 && errno != EINTR)
			break;
	}
	/* not possible between these file systems: copy by hand, from the start */
	xc_auto(xc_freep) char *buf = xc_alloc(CHUNK);
	if (lseek(from, 0, SEEK_SET) < 0 || lseek(to, 0, SEEK_SET) < 0 || ftruncate(to, 0) < 0)
		return errno;
	for (ssize_t n; (n = read(from, buf, CHUNK)) != 0;) {
		if (n < 0)
			return errno;
		for (ssize_t done = 0, put; done < n; done += put)
			if ((put = write(to, buf + done, (size_t)(n - done))) <= 0)
				return put < 0 ? errno : ENOSPC;
	}
	return 0;
}

static struct xc_error *copy_to(const char *path, const char *aside)
{
	int from = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_NOFOLLOW | O_CLOEXEC);
	int error = from < 0 ? errno : 0;
	int to = error ? -1 : open(aside, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
	if (!error && to < 0)
		error = errno;
	if (!error && !(error = copy_bytes(from, to)) && fsync(to) < 0)
		error = errno;
	if (from >= 0)
		close(from);
	if (to >= 0 && close(to) < 0 && !error)
		error = errno;
	return error ? xc_error_errno(error, "copying %s into the store", path) : NULL;
}

static struct xc_error *fill(const char *path, const char *aside, bool link, bool copy, enum xc_store_kept *kept)
{
	*kept = XC_STORE_LINKED;
	if (link && linkat(AT_FDCWD, path, AT_FDCWD, aside, 0) == 0)
		return NULL;
	if (!copy)
		return xc_error_errno(errno, "linking %s into the store", path);
	*kept = XC_STORE_COPIED;
	return copy_to(path, aside);
}

/* Cleaning uses the time of access; relatime updates it once a day, noatime never. */
static void mark_used(const char *place)
{
	const struct timespec times[2] = {{.tv_nsec = UTIME_NOW}, {.tv_nsec = UTIME_OMIT}};
	utimensat(AT_FDCWD, place, times,
		  AT_SYMLINK_NOFOLLOW); /* fails for another owner's file: then the file counts as old as it looks */
}

struct xc_error *xc_store_keep(const char *dir, const struct xc_store_entry *entry, bool link, bool copy,
			       enum xc_store_kept *kept_out)
{
	const struct xc_store_file *file = &entry->file;
	*kept_out = XC_STORE_KEPT_BEFORE;
	if ((!file->id.size && !entry->dwo_count) || xc_store_below(file->path, dir))
		return NULL;
	xc_auto(xc_freep) char *place = place_of(dir, file, entry->dwo_ids);
	xc_auto(xc_freep) char *aside = xc_asprintf("%s-%ld.part", place, (long)getpid());
	if (is_kept(place, file)) {
		mark_used(place);
		return NULL;
	}
	struct xc_error *err = make_parents(dir, place);
	if (err)
		return err;
	xc_shared_status_add_tempfile(aside);
	unlink(aside); /* left by a dead process with our id */
	err = fill(file->path, aside, link, copy, kept_out);
	if (!err && !is_right(aside, entry))
		err = xc_error_new(XC_ERR_MISMATCH, "%s changed while it was being stored", file->path);
	if (!err && rename(aside, place) < 0)
		err = xc_error_errno(errno, "%s", place);
	unlink(aside);
	xc_shared_status_remove_tempfile(aside);
	if (!err)
		mark_used(place);
	return err;
}

bool xc_store_unkeep(const char *dir, const char *path)
{
	xc_auto(xc_freep) char *kept = xc_asprintf("%s/kept", dir);
	if (!xc_store_below(path, kept))
		return false;
	return unlink(path) == 0 || errno == ENOENT;
}
