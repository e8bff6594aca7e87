/* directory: entries come with their types, so files are not examined here. Directories are opened from their parents
 * without following links: one that is replaced by a link meanwhile is not followed. */
#include "batch/util/directory.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "core/base/text.h"

struct walk {
	const struct xc_directory_visitor *visitor;
	struct xc_text below; /* the current path; "" in the first directory */
	unsigned depth;
};

static bool of_the_kernel(int fd)
{
	struct statfs fs;
	if (fstatfs(fd, &fs))
		return false;
	switch ((unsigned long)fs.f_type) {
	case PROC_SUPER_MAGIC:
	case SYSFS_MAGIC:
	case DEBUGFS_MAGIC:
	case TRACEFS_MAGIC:
	case SECURITYFS_MAGIC:
	case CGROUP_SUPER_MAGIC:
	case CGROUP2_SUPER_MAGIC:
	case BPF_FS_MAGIC:
		return true;
	default:
		return false;
	}
}

static unsigned char kind_of(int directory, const struct dirent *entry)
{
	struct stat st;
	if (entry->d_type != DT_UNKNOWN)
		return entry->d_type;
	return fstatat(directory, entry->d_name, &st, AT_SYMLINK_NOFOLLOW) ? DT_UNKNOWN
									   : (unsigned char)IFTODT(st.st_mode);
}

static void left_out(const struct walk *w, const char *why, bool may_have_files)
{
	w->visitor->left_out(w->visitor->user, xc_text_string(&w->below), why, may_have_files);
}

static void search(struct walk *w, int fd);

static void entry(struct walk *w, int directory, const struct dirent *d)
{
	const size_t len = w->below.len;
	const unsigned char kind = kind_of(directory, d);
	xc_text_printf(&w->below, "%s%s", len ? "/" : "", d->d_name);
	if (kind == DT_DIR) {
		int fd = openat(directory, d->d_name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
		if (fd < 0)
			left_out(w, strerror(errno), errno != ENOENT);
		else
			search(w, fd);
	} else if (kind == DT_REG) {
		w->visitor->file(w->visitor->user, directory, d->d_name, w->below.bytes);
	} else {
		w->visitor->other(w->visitor->user, w->below.bytes);
	}
	w->below.len = len;
	w->below.bytes[len] = '\0';
}

static bool may_enter(const struct walk *w, int fd)
{
	struct stat st;
	return fstat(fd, &st) || w->visitor->enter(w->visitor->user, &st);
}

/* Takes ownership of the descriptor. */
static void search(struct walk *w, int fd)
{
	const bool kernel = of_the_kernel(fd);
	const char *why = kernel ? "not files, but the kernel's" : w->depth >= XC_DIRECTORY_DEPTH ? "too deep" : NULL;
	if (!why && !may_enter(w, fd)) {
		close(fd);
		return;
	}
	DIR *dir = why ? NULL : fdopendir(fd);
	if (!dir) {
		left_out(w, why ? why : strerror(errno), !kernel);
		close(fd);
		return;
	}
	w->depth++;
	errno = 0;
	for (const struct dirent *d; (d = readdir(dir)); errno = 0)
		if (strcmp(d->d_name, ".") && strcmp(d->d_name, ".."))
			entry(w, fd, d);
	if (errno)
		left_out(w, strerror(errno), true);
	w->depth--;
	closedir(dir);
}

struct xc_error *xc_directory_walk(const char *path, const struct xc_directory_visitor *visitor)
{
	struct walk w = {.visitor = visitor};
	int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return xc_error_errno(errno, "%s", path);
	search(&w, fd);
	xc_text_fini(&w.below);
	return NULL;
}
