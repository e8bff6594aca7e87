/* opener: opens the files that a target names: in this process or, where a sandbox forbids that, through another
 * process.
 *
 * finder, source and cache open all files through it. A worker of a batch sets an opener that asks its broker. Other
 * processes set none and open files by system calls. */
#ifndef XC_OPENER_H
#define XC_OPENER_H

#include "core/base/base.h"

struct xc_opener {
	void *user;
	/* As xc_opener_regular. */
	int (*regular)(void *user, const char *root, const char *path, bool *special);
	/* Open a cached file of a kind and name (cache.h) for reading; -1 when there is none. */
	int (*kept)(void *user, const char *kind, const char *name);
	/* Open an unlinked file for writing and mapping. It may be one that was returned before, whose content must be
	 * kept. On failure -1 with errno set. */
	int (*scratch)(void *user);
};

/* Set the opener of this process, which is borrowed. NULL, the default: open by system calls. Call it before threads
 * start. */
void xc_opener_use(const struct xc_opener *opener);

/* The opener in use, or NULL. */
const struct xc_opener *xc_opener(void);

/* Open a regular file below root (NULL: "/") for reading. "..", absolute paths and symbolic links cannot leave root;
 * magic links are not followed; opening never blocks. Returns a descriptor, or -1 with errno set: ENOTSUP and *special
 * for a file that is not regular, which is not opened at all; ENOSYS or EPERM where the kernel has no openat2 and root
 * is not "/"; ESTALE where there is no /proc and the file was replaced meanwhile. */
int xc_opener_regular(const char *root, const char *path, bool *special);

/* The absolute path of a name that the user gave: a relative one is relative to the working directory. Malloc'ed. */
char *xc_opener_full(const char *path);

/* Open the file of an O_PATH descriptor for reading, without blocking. Returns a descriptor, or -1 with errno set:
 * ENOENT where there is no /proc. */
int xc_opener_reopen(int look);

/* Create an unnamed file in a directory, for writing and mapping. Returns a descriptor, or -1 with errno set. */
int xc_opener_scratch(const char *dir);

#endif
