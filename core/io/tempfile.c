/* tempfile: the name is registered before the file exists, because a signal may end this process at any time. */
#include "core/io/tempfile.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/base/shared_status.h"

enum { TRIES = 100 };

static char *name_of(const char *path, unsigned count)
{
	const char *slash = strrchr(path, '/'), *base = slash ? slash + 1 : path;
	return xc_asprintf("%.*s.%.200s.%ld-%u.part", (int)(base - path), path, base, (long)getpid(), count);
}

static int make(int linked, mode_t mode, const char *name)
{
	char self[64];
	if (linked < 0)
		return open(name, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, mode);
	snprintf(self, sizeof self, "/proc/self/fd/%d", linked);
	return linkat(AT_FDCWD, self, AT_FDCWD, name, AT_SYMLINK_FOLLOW);
}

/* A leftover of a dead process with the same pid is left alone. */
static int make_any(int linked, const char *path, mode_t mode, char **name_out)
{
	*name_out = NULL;
	for (unsigned i = 0; i < TRIES; i++) {
		char *name = name_of(path, i);
		xc_shared_status_add_tempfile(name);
		const int made = make(linked, mode, name), number = errno;
		if (made >= 0) {
			*name_out = name;
			return made;
		}
		xc_shared_status_remove_tempfile(name);
		free(name);
		errno = number;
		if (number != EEXIST)
			break;
	}
	return -1;
}

int xc_tempfile_open(const char *path, mode_t mode, char **name_out)
{
	return make_any(-1, path, mode, name_out);
}

int xc_tempfile_link(int fd, const char *path, char **name_out)
{
	return make_any(fd, path, 0, name_out);
}

bool xc_tempfile_write(int fd, const void *bytes, size_t len)
{
	const char *at = bytes;
	while (len) {
		ssize_t n = write(fd, at, len);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0) {
			errno = n ? errno : ENOSPC;
			return false;
		}
		at += n;
		len -= (size_t)n;
	}
	return true;
}

int xc_tempfile_rename(char **name, const char *path)
{
	if (rename(*name, path) < 0)
		return -1;
	xc_shared_status_remove_tempfile(*name);
	free(xc_take(*name));
	return 0;
}

void xc_tempfile_remove(char **name)
{
	const int number = errno;
	if (*name) {
		unlink(*name);
		xc_shared_status_remove_tempfile(*name);
	}
	free(xc_take(*name));
	errno = number;
}

void xc_tempfile_copy_owner(int fd, const struct stat *old)
{
	mode_t mode = old->st_mode & (S_IRWXU | S_IRWXG | S_IRWXO);
	if (fchown(fd, old->st_uid, old->st_gid) && fchown(fd, (uid_t)-1, old->st_gid))
		mode &= (mode_t)~S_IRWXG;
	fchmod(fd, mode); /* after fchown, which may clear permissions */
}
