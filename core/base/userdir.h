/* userdir: where the user's own files are kept, by the XDG base directory specification (0.8), and making directories. */
#ifndef XC_USERDIR_H
#define XC_USERDIR_H

#include <sys/types.h>

#include "core/base/base.h"

/* $VARIABLE/NAME, or ~/BELOW/NAME where the variable is not set, whether it is there or not; malloc'ed. Relative paths in the
 * environment do not count. NULL without a home: userdir("XDG_CACHE_HOME", ".cache", "xcore"). */
char *xc_userdir(const char *variable, const char *below, const char *name);

/* Make a directory, and its parents where they are missing, all with this mode. True also when something of that name is there, which
 * may be no directory. False with errno: why it, or the first parent, cannot be made. */
bool xc_userdir_make(const char *path, mode_t mode);

#endif
