/* opener: opening the files that a target names, in this process or, in a sandbox that forbids it, by asking another one.
 *
 * Everything that finder, source and cache open goes through here. A worker of a batch sets an opener that asks its broker; all others
 * have none and open by the kernel's own calls. */
#ifndef XC_OPENER_H
#define XC_OPENER_H

#include "core/base/base.h"

struct xc_opener {
	void *user;
	/* As xc_opener_regular. */
	int (*regular)(void *user, const char *root, const char *path, bool *special);
	/* A kept file of a kind and name (cache.h), for reading; -1 when there is none. */
	int (*kept)(void *user, const char *kind, const char *name);
	/* An unlinked file to be written and mapped, perhaps one that was given before: what it holds stays; -1 with errno set. */
	int (*scratch)(void *user);
};

/* From here on files are opened so; NULL: by this process itself, as in the beginning. Borrowed. For the whole process: set before
 * threads are started. */
void xc_opener_use(const struct xc_opener *opener);

/* What is in use, or NULL. */
const struct xc_opener *xc_opener(void);

/* Open a regular file below root (NULL: "/") for reading: without leaving it by "..", absolute paths or symbolic links, without magic links,
 * without blocking. A descriptor, or -1 with errno set: ENOTSUP and *special for what is no regular file, which is not
 * opened at all; ENOSYS or EPERM where the kernel has no openat2 and root is not "/"; ESTALE where there is no /proc and
 * the file was exchanged meanwhile. */
int xc_opener_regular(const char *root, const char *path, bool *special);

/* A name of the user's as this opens it below "/": one that is relative counts from the working directory. Malloc'ed. */
char *xc_opener_full(const char *path);

/* Open for reading, without blocking, what a descriptor of O_PATH is of. A descriptor, or -1 with errno set: ENOENT where there is no
 * /proc. */
int xc_opener_reopen(int look);

/* Make a file without a name in a directory, to be written and mapped. A descriptor, or -1 with errno set. */
int xc_opener_scratch(const char *dir);

#endif
