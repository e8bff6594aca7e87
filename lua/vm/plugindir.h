/* plugindir: the directories of plugins, and reading files in them.
 *
 * The directories in order; the first one that has a name wins: the directories of --plugin-path, in order
 * $XDG_DATA_HOME/xcore/plugins, ~/.local/share/xcore/plugins by default PREFIX/share/xcore/plugins, for a program that
 * is PREFIX/bin/xcore; for one in build/MODE of a source tree its plugins/ Never the current directory, nor the
 * directory of a target.
 *
 * Files that other users can write are not read: a directory or file is refused if it is world-writable, or if its
 * owner is not root, the user, or the owner of this program (who could change the program as well). Links must not
 * lead out of the directory. */
#ifndef XC_PLUGINDIR_H
#define XC_PLUGINDIR_H

#include "core/base/error.h"

enum { XC_PLUGIN_FILE_MAX = 4 << 20 };

struct xc_plugindir {
	char *path;
	int fd;
};

struct xc_plugindirs {
	struct xc_plugindir *items;
	size_t count, capacity;
	struct xc_error **refused; /* errors for directories that exist but are refused */
	size_t refused_count, refused_capacity;
};

/* Directories that do not exist are skipped; for those of `extra` (--plugin-path) this is an error. They are opened
 * before a sandbox starts and remain readable in it. */
XC_MUST_CHECK struct xc_error *xc_plugindirs_open(struct xc_plugindirs *dirs, const char *const *extra,
						  size_t extra_count);
void xc_plugindirs_fini(struct xc_plugindirs *dirs);

/* Open a single directory. Errors: it does not exist, or is not trusted. */
XC_MUST_CHECK struct xc_error *xc_plugindir_open(const char *path, struct xc_plugindir *dir_out);
void xc_plugindir_close(struct xc_plugindir *dir);

/* Read a text file in a directory, by a relative path. text_out is malloc'ed and ends with a NUL that len does not
 * count. Errors: XC_ERR_NOT_FOUND; XC_ERR_PERMISSION for untrusted files; XC_ERR_LIMIT beyond XC_PLUGIN_FILE_MAX. */
XC_MUST_CHECK struct xc_error *xc_plugindir_read(const struct xc_plugindir *dir, const char *path, char **text_out,
						 size_t *len_out);

/* The user's own plugin directory, malloc'ed; NULL when neither XDG_DATA_HOME nor HOME is set. */
char *xc_plugindir_users(void);

#endif
