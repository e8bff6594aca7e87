/* checkpoint_dir: a checkpoint's modification time is that of its last use (checkpoint.c). It is removed under its
 * lock: a run that waits for the lock finds the file without a name, and creates another one. */
#include "batch/run/checkpoint_dir.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/cache/cachedir.h"

#define ENDING ".jsonl"
#define HEAD   "{\"schema\":\"xcore.ledger/"

enum { DIGITS = 32, DAY = 24 * 60 * 60, BEGINNING = 64 << 10 };

char *xc_checkpoint_dir_file(const char *dir, const char *inputs, const char *config)
{
	return xc_asprintf("%s/%.*s-%.*s" ENDING, dir, DIGITS, inputs, DIGITS, config);
}

static bool is_name(const char *name)
{
	const char *hex = "0123456789abcdef";
	if (strspn(name, hex) != DIGITS)
		return false;
	name += DIGITS;
	if (*name == '-' && strspn(name + 1, hex) == DIGITS)
		name += 1 + DIGITS;
	return !strcmp(name, ENDING);
}

/* ---- opening ---- */

/* The folder of a checkpoint, and its name in it. The folder above may be one that the user named by a link. */
static int open_folder(const char *path, const char **name_out)
{
	xc_auto(xc_freep) char *folder = xc_strdup(path);
	char *slash = strrchr(folder, '/');
	*name_out = slash ? path + (slash - folder) + 1 : path;
	if (!slash || slash == folder) /* nothing is above it that could be examined */
		return open(slash ? "/" : ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	*slash = '\0';
	return xc_cachedir_open(folder, NULL, true);
}

static int open_file(const char *path)
{
	const char *name;
	const int folder = open_folder(path, &name);
	if (folder < 0)
		return -1;
	const int fd = openat(folder, name, O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0600),
		  number = errno;
	close(folder);
	errno = number;
	return fd;
}

/* Is it empty or a cut first line, or does its beginning hold what lines of a checkpoint hold? Any of them may be
 * damaged. */
static bool is_checkpoint(int fd)
{
	static const char schema[] = "xcore.ledger/", sum[] = "{\"sum\":\"";
	xc_auto(xc_freep) char *head = xc_alloc(BEGINNING);
	const ssize_t n = pread(fd, head, BEGINNING, 0);
	if (n >= 0 && n < (ssize_t)sizeof HEAD)
		return !memcmp(head, HEAD, (size_t)n < sizeof HEAD - 1 ? (size_t)n : sizeof HEAD - 1);
	return n > 0 &&
	       (memmem(head, (size_t)n, schema, sizeof schema - 1) || memmem(head, (size_t)n, sum, sizeof sum - 1));
}

/* Without file locks, two runs would overwrite each other's lines. */
static struct xc_error *lock(int fd, const char *path)
{
	if (!flock(fd, LOCK_EX | LOCK_NB))
		return NULL;
	if (errno != EWOULDBLOCK)
		return xc_error_errno(errno, "%s: locking it", path);
	return xc_error_hint(xc_error_new(XC_ERR_LIMIT, "%s: another run of the same inputs is under way", path),
			     "wait for it, or give --no-cache");
}

static struct xc_error *check_and_lock(int fd, const char *path)
{
	struct stat st;
	if (fd < 0 || fstat(fd, &st))
		return xc_error_errno(errno, "%s", path);
	if (!S_ISREG(st.st_mode))
		return xc_error_new(XC_ERR_UNSUPPORTED, "%s: not a regular file", path);
	if (!xc_cachedir_is_own_file(fd) || !is_checkpoint(fd)) /* it would be emptied */
		return xc_error_hint(xc_error_new(XC_ERR_UNSUPPORTED, "%s: not a checkpoint of this user", path),
				     "it is left as it is; move it away, or give --no-cache");
	return lock(fd, path);
}

/* Was it removed before we had its lock? */
static bool is_gone(int fd)
{
	struct stat st;
	return !fstat(fd, &st) && !st.st_nlink;
}

struct xc_error *xc_checkpoint_dir_open(const char *path, int *fd_out)
{
	struct xc_error *err;
	bool again;
	do {
		*fd_out = open_file(path);
		err = check_and_lock(*fd_out, path);
		again = !err && is_gone(*fd_out);
		if (again)
			close(*fd_out);
	} while (again);
	return err;
}

/* ---- cleaning ---- */

static bool is_unused(int fd, int64_t now)
{
	char head[sizeof HEAD - 1];
	struct stat st;
	return !fstat(fd, &st) && S_ISREG(st.st_mode) && st.st_mtime < now - (int64_t)XC_CHECKPOINT_DIR_DAYS * DAY &&
	       pread(fd, head, sizeof head, 0) == sizeof head && !memcmp(head, HEAD, sizeof head);
}

/* Another process may have removed this file before we had its lock, and a run may have created a new one of that
 * name. */
static bool is_called(int dir, const char *name, int fd)
{
	struct stat ours, there;
	return !fstat(fd, &ours) && !fstatat(dir, name, &there, AT_SYMLINK_NOFOLLOW) && ours.st_dev == there.st_dev &&
	       ours.st_ino == there.st_ino;
}

/* A checkpoint in recent use is not locked even for a moment: a run would report another run. */
static void clean_file(int dir, const char *name, int64_t now)
{
	const int fd = openat(dir, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	if (fd < 0)
		return;
	if (xc_cachedir_is_own_file(fd) && is_unused(fd, now) && !flock(fd, LOCK_EX | LOCK_NB) && is_unused(fd, now) &&
	    is_called(dir, name, fd))
		unlinkat(dir, name, 0);
	close(fd);
}

void xc_checkpoint_dir_clean(const char *dir, int64_t now)
{
	const int folder = xc_cachedir_open(dir, NULL, false);
	DIR *d = folder < 0 ? NULL : fdopendir(folder);
	if (!d && folder >= 0)
		close(folder);
	for (struct dirent *e; d && (e = readdir(d));)
		if (is_name(e->d_name))
			clean_file(dirfd(d), e->d_name, now);
	if (d)
		closedir(d);
}
