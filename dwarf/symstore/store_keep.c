/* store_keep: links or copies a file under a temporary name, verifies its id, then renames it. So a file with the
 * name of an id has that id, even when two processes keep the same file, or one of them is killed. */
#include "dwarf/symstore/store_keep.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <linux/fs.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "core/base/shared_status.h"
#include "core/io/folder.h"
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

/* The folder of a place below DIR, opened step by step: no link is followed, and no "..". The store may be another
 * user's, and so may what its index says. -1 with errno; make: folders that are missing are made. */
static int open_folder(const char *dir, const char *place, bool make, const char **name_out)
{
	char part[NAME_MAX + 1];
	int at = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	const char *rest = place + strlen(dir);
	for (rest += strspn(rest, "/"); at >= 0 && strchr(rest, '/'); rest += strspn(rest, "/")) {
		const size_t len = strcspn(rest, "/");
		snprintf(part, sizeof part, "%.*s", (int)len, rest);
		rest += len;
		at = xc_folder_step(at, len > NAME_MAX ? ".." : part, make ? 0777 : 0);
	}
	*name_out = rest;
	return at;
}

/* Does the kept file have everything that the new one has? */
static bool has_as_much(const struct xc_store_scan *there, const struct xc_store_file *file)
{
	const uint32_t counts = XC_STORE_CODE | XC_STORE_SYMBOLS | XC_STORE_DWARF | XC_STORE_DWO | XC_STORE_DWP;
	return (file->has & counts & ~there->has) == 0;
}

static bool is_kept(int folder, const char *name, const struct xc_store_file *file)
{
	struct xc_arena arena = {NULL};
	struct xc_store_scan there;
	struct stat st;
	bool kept = xc_store_scan_at(folder, name, &arena, &st, &there) &&
		    (st.st_ino == file->ino ? st.st_dev == file->dev
					    : file->id.size == there.id.size &&
						      !memcmp(file->id.bytes, there.id.bytes, there.id.size) &&
						      has_as_much(&there, file));
	xc_arena_fini(&arena);
	return kept;
}

/* Does the temporary file have the id that it will be found by? */
static bool is_right(int folder, const char *aside, const struct xc_store_entry *entry)
{
	struct xc_arena arena = {NULL};
	struct xc_store_scan there;
	struct stat st;
	bool right = xc_store_scan_at(folder, aside, &arena, &st, &there) && there.kind == XC_STORE_ELF &&
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

static struct xc_error *copy_to(const char *path, int folder, const char *aside)
{
	int from = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_NOFOLLOW | O_CLOEXEC);
	int error = from < 0 ? errno : 0;
	int to = error ? -1 : openat(folder, aside, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
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

static struct xc_error *fill(const char *path, int folder, const char *aside, bool link, bool copy,
			     enum xc_store_kept *kept)
{
	*kept = XC_STORE_LINKED;
	if (link && linkat(AT_FDCWD, path, folder, aside, 0) == 0)
		return NULL;
	if (!copy)
		return xc_error_errno(errno, "linking %s into the store", path);
	*kept = XC_STORE_COPIED;
	return copy_to(path, folder, aside);
}

/* Cleaning uses the time of access; relatime updates it once a day, noatime never. */
static void mark_used(int folder, const char *name)
{
	const struct timespec times[2] = {{.tv_nsec = UTIME_NOW}, {.tv_nsec = UTIME_OMIT}};
	/* fails for another owner's file: then the file counts as old as it looks */
	utimensat(folder, name, times, AT_SYMLINK_NOFOLLOW);
}

/* Under a temporary name, which dies with this process. */
static struct xc_error *keep_in(int folder, const char *name, const char *place, const struct xc_store_entry *entry,
				bool link, bool copy, enum xc_store_kept *kept_out)
{
	xc_auto(xc_freep) char *told = xc_asprintf("%s-%ld.part", place, (long)getpid());
	const char *aside = told + (strlen(place) - strlen(name));
	xc_shared_status_add_tempfile(told);
	unlinkat(folder, aside, 0); /* left by a dead process with our id */
	struct xc_error *err = fill(entry->file.path, folder, aside, link, copy, kept_out);
	if (!err && !is_right(folder, aside, entry))
		err = xc_error_new(XC_ERR_MISMATCH, "%s changed while it was being stored", entry->file.path);
	if (!err && renameat(folder, aside, folder, name) < 0)
		err = xc_error_errno(errno, "%s", place);
	unlinkat(folder, aside, 0);
	xc_shared_status_remove_tempfile(told);
	return err;
}

struct xc_error *xc_store_keep(const char *dir, const struct xc_store_entry *entry, bool link, bool copy,
			       enum xc_store_kept *kept_out)
{
	const struct xc_store_file *file = &entry->file;
	const char *name;
	*kept_out = XC_STORE_KEPT_BEFORE;
	if ((!file->id.size && !entry->dwo_count) || xc_store_below(file->path, dir))
		return NULL;
	xc_auto(xc_freep) char *place = place_of(dir, file, entry->dwo_ids);
	const int folder = open_folder(dir, place, true, &name);
	if (folder < 0)
		return xc_error_errno(errno, "the folder of %s", place);
	struct xc_error *err =
		is_kept(folder, name, file) ? NULL : keep_in(folder, name, place, entry, link, copy, kept_out);
	if (!err)
		mark_used(folder, name);
	close(folder);
	return err;
}

bool xc_store_unkeep(const char *dir, const char *path)
{
	xc_auto(xc_freep) char *kept = xc_asprintf("%s/kept", dir);
	const char *name;
	if (!xc_store_below(path, kept) || !path[strlen(kept)])
		return false;
	const int folder = open_folder(dir, path, false, &name);
	if (folder < 0)
		return errno == ENOENT;
	bool gone = unlinkat(folder, name, 0) == 0 || errno == ENOENT;
	close(folder);
	return gone;
}
