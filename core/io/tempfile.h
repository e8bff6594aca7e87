/* aside: a file that is written under a name beside the one it is to have: "DIR/.NAME.PID-N.part".
 *
 * N and the process keep two writers apart. Who is ended by a signal leaves it to his keeper to remove it (shared_status.h). */
#ifndef XC_TEMPFILE_H
#define XC_TEMPFILE_H

#include <sys/types.h>

#include "core/base/base.h"

/* Make such a file, to be written; malloc's the name. -1 with errno set, and no name, where that cannot be. */
int xc_tempfile_open(const char *path, mode_t mode, char **name_out);

/* Give a file that has no name (O_TMPFILE) one of those; malloc's it. -1 with errno set, and no name, where that cannot be. */
int xc_tempfile_link(int fd, const char *path, char **name_out);

/* Give it its own name, in the place of what has that: 0, and *name is freed and NULL; else -1 with errno set. */
int xc_tempfile_rename(char **name, const char *path);

/* Remove it, free *name, set it to NULL. Fine where it is NULL. Keeps errno. */
void xc_tempfile_remove(char **name);

#endif
