/* directory: visits all files below a directory, without following symbolic links. */
#ifndef XC_DIRECTORY_H
#define XC_DIRECTORY_H

#include <sys/stat.h>

#include "core/base/error.h"

enum { XC_DIRECTORY_DEPTH = 64 };

struct xc_directory_visitor {
	void *user;
	/* Should this opened directory be searched? If not, it is skipped silently. */
	bool (*enter)(void *user, const struct stat *directory);
	/* A regular file, or what may be one, called `name` in the open directory; `below` is its path below the first
	 * directory. In no particular order. */
	void (*file)(void *user, int directory, const char *name, const char *below);
	/* An entry that is not a regular file: a symbolic link, a FIFO, a device. */
	void (*other)(void *user, const char *below);
	/* A directory that is skipped. may_have_files: it cannot be searched or is too deep. Otherwise it is the
	 * kernel's own (/proc, which has no end) or vanished meanwhile. */
	void (*left_out)(void *user, const char *below, const char *why, bool may_have_files);
};

/* Searches path, which may itself be a link. Errors: those of opening it. */
XC_MUST_CHECK struct xc_error *xc_directory_walk(const char *path, const struct xc_directory_visitor *visitor);

#endif
