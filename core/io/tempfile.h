/* tempfile: a file written under a temporary name beside its final one: "DIR/.NAME.PID-N.part".
 *
 * PID and N keep two writers apart. If a signal ends the writer, its keeper removes the file (shared_status.h). */
#ifndef XC_TEMPFILE_H
#define XC_TEMPFILE_H

#include <sys/stat.h>
#include <sys/types.h>

#include "core/base/base.h"

/* Create one and open it for writing. *name_out is malloc'ed. On failure: -1, errno set, *name_out NULL. */
int xc_tempfile_open(const char *path, mode_t mode, char **name_out);

/* Link an open file that has no name (O_TMPFILE) under a temporary one. *name_out is malloc'ed. On failure: -1, errno
 * set, *name_out NULL. */
int xc_tempfile_link(int fd, const char *path, char **name_out);

/* Write all len bytes to a file. False with errno set: ENOSPC also when the file takes no byte. */
bool xc_tempfile_write(int fd, const void *bytes, size_t len);

/* Rename it to `path`, replacing any file there. 0: *name is freed and NULL. Failure: -1 with errno set. */
int xc_tempfile_rename(char **name, const char *path);

/* Remove it, free *name and set it to NULL. No-op where *name is NULL. Keeps errno. */
void xc_tempfile_remove(char **name);

/* Give an open file the owner, group and mode of the file it is to replace, as far as this process may. If the group
 * cannot be kept, its permissions are dropped. */
void xc_tempfile_copy_owner(int fd, const struct stat *old);

#endif
