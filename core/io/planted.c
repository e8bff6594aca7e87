/* planted: see planted.h. The owner of a folder is trusted with what is in it, as the kernel does. */
#include "core/io/planted.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MAX_LINKS = 40 }; /* the kernel's limit, too */

/* Where names in the folder of `path` start, and the folder: "/tmp/" or "". */
static size_t folder_len(const char *path)
{
	const char *slash = strrchr(path, '/');
	return slash ? (size_t)(slash - path) + 1 : 0;
}

static bool is_foreign(const char *path, const struct stat *st)
{
	struct stat folder;
	xc_auto(xc_freep) char *dir = xc_asprintf("%.*s.", (int)folder_len(path), path);
	if (st->st_uid == geteuid() || stat(dir, &folder) || st->st_uid == folder.st_uid)
		return false;
	const bool is_file = S_ISREG(st->st_mode) || S_ISDIR(st->st_mode);
	return folder.st_mode & S_IWOTH && (!is_file || folder.st_mode & S_ISVTX);
}

static const char *kind(const struct stat *st)
{
	return S_ISLNK(st->st_mode)    ? "symbolic link"
	       : S_ISDIR(st->st_mode)  ? "folder"
	       : S_ISFIFO(st->st_mode) ? "FIFO"
				       : "file";
}

/* Where the link leads; NULL: nowhere. Malloc'ed. */
static char *target(const char *path)
{
	char bytes[PATH_MAX];
	const ssize_t len = readlink(path, bytes, sizeof bytes);
	if (len <= 0 || (size_t)len == sizeof bytes)
		return NULL;
	const size_t folder = bytes[0] == '/' ? 0 : folder_len(path);
	return xc_asprintf("%.*s%.*s", (int)folder, path, (int)len, bytes);
}

struct xc_error *xc_planted_check(const char *path)
{
	xc_auto(xc_freep) char *at = xc_strdup(path);
	for (size_t len = strlen(at); len > 1 && at[len - 1] == '/'; len--)
		at[len - 1] = '\0';
	struct stat st;
	if (lstat(at, &st))
		return xc_error_errno(errno, "%s", path);
	for (int links = 0; links < MAX_LINKS; links++) {
		if (is_foreign(at, &st))
			return xc_error_hint(
				xc_error_new(XC_ERR_PERMISSION,
					     "%s: a %s of another user (uid %u), in a folder that all may write", at,
					     kind(&st), (unsigned)st.st_uid),
				"name a path in a folder of your own");
		char *next = S_ISLNK(st.st_mode) ? target(at) : NULL;
		if (!next)
			return NULL;
		free(at);
		at = next;
		if (lstat(at, &st))
			return NULL; /* /proc/self/fd/1, or a link to nothing */
	}
	return xc_error_errno(ELOOP, "%s", path);
}
