/* userdir: directories of the user's own files, by the XDG base directory specification (0.8). */
#ifndef XC_USERDIR_H
#define XC_USERDIR_H

#include <sys/types.h>

#include "core/base/base.h"

/* $VARIABLE/NAME, or ~/BELOW/NAME where the variable is not set; malloc'ed. The directory need not exist. Relative
 * paths in the environment are ignored. NULL without a home. Example: userdir("XDG_CACHE_HOME", ".cache", "xcore"). */
char *xc_userdir(const char *variable, const char *below, const char *name);

/* Make a directory and its missing parents, all with this mode. True also when a file of that name exists, which may be
 * no directory. False, with errno set, when the directory or its first missing parent cannot be made. */
bool xc_userdir_make(const char *path, mode_t mode);

#endif
