/* userdir: paths below the user's home. */
#include "core/base/userdir.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

char *xc_userdir(const char *variable, const char *below, const char *name)
{
	const char *base = getenv(variable), *home = getenv("HOME");
	if (base && base[0] == '/')
		return xc_asprintf("%s/%s", base, name);
	return home && home[0] == '/' ? xc_asprintf("%s/%s/%s", home, below, name) : NULL;
}

bool xc_userdir_make(const char *path, mode_t mode)
{
	xc_auto(xc_freep) char *parent = xc_strdup(path);
	int cause = ENOENT;
	for (char *slash = *parent ? strchr(parent + 1, '/') : NULL; slash; slash = strchr(slash + 1, '/')) {
		*slash = '\0';
		if (mkdir(parent, mode) < 0 && errno != EEXIST && cause == ENOENT)
			cause = errno;
		*slash = '/';
	}
	if (mkdir(path, mode) == 0 || errno == EEXIST)
		return true;
	errno = errno == ENOENT ? cause : errno; /* if a parent is missing, report why */
	return false;
}
