/* finder: where the files of modules and their debug information may come from, and opening them.
 *
 * A core names files; those names are hostile. A named file is opened only below the sysroot
 * (openat2 with RESOLVE_IN_ROOT and without magic links), never blocks (FIFOs), and must turn out to be a
 * regular file. Nothing here touches the network; debuginfod is dwarf/debugfile's, when asked. */
#ifndef XC_FINDER_H
#define XC_FINDER_H

#include "elf.h"
#include "source.h"

struct xc_archive;

struct xc_finder {
	const char *exe;              /* --exe, or NULL */
	const char *sysroot;          /* --sysroot, or NULL for "/" */
	const char *const *debug_dirs; /* --debug-dir, in order */
	size_t debug_dir_count;
	bool debuginfod;              /* --debuginfod was given */
	bool strict;
	bool quiet;                   /* no progress */
	const struct xc_archive *archive; /* files carried by a pack; then nothing else is looked at; or NULL */
};

/* Open `path` below `root` (NULL: "/"), following symbolic links inside the root only. Regular files
 * only. Errors: XC_ERR_NOT_FOUND, XC_ERR_PERMISSION, XC_ERR_UNSUPPORTED (not a regular file). */
XC_MUST_CHECK struct xc_error *xc_finder_open(const char *root, const char *path, struct xc_source **source_out);

/* Open DIR/.build-id/xx/yyyy + suffix ("" for the program, ".debug" for its debug file) below root. */
XC_MUST_CHECK struct xc_error *xc_finder_open_build_id(const char *root, const char *dir, const struct xc_build_id *id,
						       const char *suffix, struct xc_source **source_out);

struct xc_process;
struct xc_module;

/* Find the file of a module, check it and set the module's identity, file, file_path, file_build_id
 * and why. Order: --exe (for the executable), the archive, live: map_files or /proc/PID/root with device and inode
 * equal, sysroot + path, --debug-dir, the build-id directories. Never fails: no file is an answer. */
void xc_finder_module(const struct xc_finder *finder, struct xc_process *process, struct xc_module *module);

#endif
