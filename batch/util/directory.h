/* directory: all files below a directory, without following a symbolic link. */
#ifndef XC_DIRECTORY_H
#define XC_DIRECTORY_H

#include <sys/stat.h>

#include "core/base/error.h"

enum { XC_DIRECTORY_DEPTH = 64 };

struct xc_directory_visitor {
	void *user;
	/* Shall a directory be searched that was opened? One that shall not is left out without a word. */
	bool (*enter)(void *user, const struct stat *directory);
	/* A regular file, or what may be one, as `name` in the open directory; `below` is its path below the first directory. Called in no
	 * order. */
	void (*file)(void *user, int directory, const char *name, const char *below);
	/* What is no regular file: a symbolic link, a FIFO, a device. */
	void (*other)(void *user, const char *below);
	/* A directory that cannot be searched, or is too deep: there may be files in it. Or that will not be: of the kernel's own (/proc: its
	 * files are without end), or gone while we looked. */
	void (*left_out)(void *user, const char *below, const char *why, bool may_have_files);
};

/* Search path, which may itself be a link. Errors: those of opening it. */
XC_MUST_CHECK struct xc_error *xc_directory_walk(const char *path, const struct xc_directory_visitor *visitor);

#endif
