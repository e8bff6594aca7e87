/* plugindir: the directories that plugins come from, and reading what lies in them.
 *
 * In this order, the first that has a name wins:
 *	what --plugin-path names, as given
 *	$XDG_DATA_HOME/xcore/plugins, ~/.local/share/xcore/plugins by default
 *	PREFIX/share/xcore/plugins, for a program that is PREFIX/bin/xcore; for one in build/MODE of a source tree its plugins/
 * Never the current directory, and nothing beside a target.
 *
 * What others may write is not read: a directory or file that is world-writable, or that belongs to anybody but root, us and
 * the owner of this program (who could change it as well). Links may not lead out of the directory. */
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
	struct xc_error **refused; /* directories that exist and are not used */
	size_t refused_count, refused_capacity;
};

/* Directories that do not exist are passed over, but for those of `extra` (--plugin-path): they are errors.
 * Opened before a sandbox goes up, they can be read behind it. */
XC_MUST_CHECK struct xc_error *xc_plugindirs_open(struct xc_plugindirs *dirs, const char *const *extra,
						  size_t extra_count);
void xc_plugindirs_fini(struct xc_plugindirs *dirs);

/* One directory by itself. Errors: it is not there, or not to be trusted. */
XC_MUST_CHECK struct xc_error *xc_plugindir_open(const char *path, struct xc_plugindir *dir_out);
void xc_plugindir_close(struct xc_plugindir *dir);

/* A text file in one directory, by a relative path. text_out is malloc'ed and ends with a NUL that len does not count.
 * Errors: XC_ERR_NOT_FOUND; XC_ERR_PERMISSION for what is not to be trusted; XC_ERR_LIMIT beyond XC_PLUGIN_FILE_MAX. */
XC_MUST_CHECK struct xc_error *xc_plugindir_read(const struct xc_plugindir *dir, const char *path, char **text_out,
						 size_t *len_out);

/* The user's own plugin directory, malloc'ed; NULL when neither XDG_DATA_HOME nor HOME is set. */
char *xc_plugindir_users(void);

#endif
