/* source_roots: the folders below which source files may be read.
 *
 * The names of source files come from debug information, which is hostile: it may name /etc/shadow. So a file is read
 * only below a folder that the user trusts: those of --source-root, the working tree (the directory in which the
 * command runs, below which hidden files and folders are left out), and the sysroot. "/" is no working tree; and to
 * root the working tree is none for a pack, which comes from elsewhere. A symbolic link that leads out of the folder
 * is not followed. A path outside is not touched. */
#ifndef XC_SOURCE_ROOTS_H
#define XC_SOURCE_ROOTS_H

#include "core/io/source.h"

struct xc_process;
struct xc_source_root;

/* A zeroed one has no folder. */
struct xc_source_roots {
	struct xc_source_root *items;
	size_t count, capacity;
};

/* Add a folder that the user named, and the working tree. Folders that do not exist are left out. */
void xc_source_roots_add(struct xc_source_roots *roots, const char *dir);
void xc_source_roots_add_tree(struct xc_source_roots *roots);
void xc_source_roots_fini(struct xc_source_roots *roots);

/* Open a source file of the process (its sysroot and process->source_roots count). A relative path is one below a
 * folder that the user named. Errors: XC_ERR_PERMISSION for a path outside, with a hint that names the option; those of
 * xc_finder_open. */
XC_MUST_CHECK struct xc_error *xc_source_roots_open(const struct xc_process *process, const char *path,
						    struct xc_source **source_out);

/* For a path outside that exists: the option that adds its folder ("--source-root DIR"), malloc'ed; else NULL. Opens
 * nothing. */
char *xc_source_roots_hint(const struct xc_process *process, const char *path);

#endif
