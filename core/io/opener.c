/* opener: openat2 with RESOLVE_IN_ROOT keeps "..", absolute paths and symbolic links below the root, and
 * RESOLVE_NO_MAGICLINKS excludes /proc/self/fd and the like. A path is first opened with O_PATH, which has no side
 * effects, and only then for reading: merely opening a device can have effects (a watchdog starts and reboots the
 * host). The second open uses that descriptor, not the name, because the name may lead to another file by then. On
 * kernels before 5.6, and in containers whose filter does not know openat2, "/" is resolved by plain open. A sysroot is
 * refused there, because its links could lead out of it. */
#include "core/io/opener.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { RACES = 32, READ = O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC, LOOK = O_PATH | O_CLOEXEC };

static const struct xc_opener *in_use;

void xc_opener_use(const struct xc_opener *opener)
{
	in_use = opener;
}

const struct xc_opener *xc_opener(void)
{
	return in_use;
}

static int open_below(int root, const char *path, uint64_t flags)
{
	struct open_how how = {.flags = flags, .resolve = RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS};
	for (int tries = 0;; tries++) {
		long fd = syscall(SYS_openat2, root, path, &how, sizeof how);
		if (fd >= 0 || (errno != EAGAIN && errno != EINTR) || tries == RACES)
			return (int)fd; /* EAGAIN: a rename elsewhere on the system raced with ".." */
	}
}

int xc_opener_reopen(int look)
{
	char name[32];
	snprintf(name, sizeof name, "/proc/self/fd/%d", look);
	return open(name, READ);
}

static bool is_same(int fd, const struct stat *seen)
{
	struct stat st;
	return !fstat(fd, &st) && st.st_dev == seen->st_dev && st.st_ino == seen->st_ino;
}

/* Open the examined file for reading. Without /proc it is opened by name again, and must be the same file. */
static int open_seen(int look, const struct stat *seen, int root, const char *path, bool plain)
{
	int fd = xc_opener_reopen(look);
	if (fd < 0 && (errno == ENOENT || errno == ENOTDIR))
		fd = plain ? open(path, READ) : open_below(root, path, READ);
	if (fd < 0 || is_same(fd, seen))
		return fd;
	close(fd);
	errno = ESTALE;
	return -1;
}

int xc_opener_regular(const char *root, const char *path, bool *special)
{
	struct stat st;
	if (in_use)
		return in_use->regular(in_use->user, root, path, special);
	int dir = open(root ? root : "/", O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (dir < 0)
		return -1;
	int look = open_below(dir, path, LOOK);
	bool is_root = !root || !strcmp(root, "/");
	bool plain = look < 0 && (errno == ENOSYS || errno == EPERM) && is_root && path[0] == '/';
	if (plain)
		look = open(path, LOOK);
	int fd = -1, saved = errno;
	if (look >= 0 && fstat(look, &st) == 0) {
		*special = !S_ISREG(st.st_mode);
		saved = ENOTSUP;
		if (!*special) {
			fd = open_seen(look, &st, dir, path, plain);
			saved = errno;
		}
	}
	if (look >= 0)
		close(look);
	close(dir);
	errno = saved;
	return fd;
}

char *xc_opener_full(const char *path)
{
	xc_auto(xc_freep) char *cwd = path[0] == '/' ? NULL : getcwd(NULL, 0);
	return xc_asprintf("%s%s%s", cwd ? cwd : "", cwd ? "/" : "", path);
}

int xc_opener_scratch(const char *dir)
{
	int fd = open(dir, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
	if (fd >= 0)
		return fd;
	xc_auto(xc_freep) char *name = xc_asprintf("%s/xcore-XXXXXX", dir); /* some file systems have no O_TMPFILE */
	fd = mkostemp(name, O_CLOEXEC);
	if (fd >= 0)
		unlink(name);
	return fd;
}
