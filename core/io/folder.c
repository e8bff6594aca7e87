/* folder: see folder.h. */
#include "core/io/folder.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/io/planted.h"

struct xc_error *xc_folder_make(const char *path, mode_t mode)
{
	struct xc_error *err = xc_planted_check(path);
	if (!err || err->code != XC_ERR_NOT_FOUND)
		return err;
	xc_error_free(err);
	if (mkdir(path, mode) == 0)
		return NULL;
	return errno == EEXIST ? xc_planted_check(path) : xc_error_errno(errno, "%s", path);
}

int xc_folder_step(int at, const char *name, mode_t make)
{
	int next = -1, number = ELOOP;
	if (strcmp(name, ".") != 0 && strcmp(name, "..") != 0) {
		int unmade = make && mkdirat(at, name, make) < 0 ? errno : ENOENT;
		next = openat(at, name, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
		number = errno == ENOENT ? unmade : errno;
	}
	close(at);
	errno = number;
	return next;
}
