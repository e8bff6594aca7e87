/* finder: finds and opens the files of modules.
 *
 * The file names in a core are hostile. A file is opened only below the sysroot (openat2 with RESOLVE_IN_ROOT and
 * without magic links). Opening never blocks (FIFOs), never opens a device, and succeeds only for regular files.
 * Nothing here uses the network: dwarf/module/debugfile.c asks debuginfod, if the user wants it. */
#ifndef XC_FINDER_H
#define XC_FINDER_H

#include "core/elf/elf.h"
#include "core/io/source.h"

struct xc_archive;
struct xc_source_roots;
struct xc_store;

struct xc_finder {
	const char *exe;               /* --exe, or NULL */
	bool exe_optional;             /* targets of other programs are allowed: their files are found as without exe */
	const char *sysroot;           /* --sysroot, or NULL for "/" */
	const char *const *debug_dirs; /* --debug-dir, in order */
	size_t debug_dir_count;
	const struct xc_source_roots *source_roots; /* for xc_source_roots_open; outlives the process; or NULL */
	bool debuginfod;                            /* --debuginfod was given */
	bool strict;
	bool quiet;                       /* no progress */
	unsigned jobs;                    /* threads for long work; 0: one per core */
	const char *cache_dir;            /* the directory for caches; NULL: no caches */
	struct xc_store *store;           /* the user's symbol store, searched before the file system; or NULL */
	const struct xc_archive *archive; /* the files of a pack, which replace all other places; or NULL */
};

/* Open `path` below `root`, following symbolic links inside the root only. root NULL: "/", and a relative path is
 * relative to the working directory. Regular files only. A compressed one is XC_ERR_UNSUPPORTED, so that a name in a
 * core cannot make xcore inflate a file. The path of the source is root and path joined. Errors: XC_ERR_NOT_FOUND,
 * XC_ERR_PERMISSION, XC_ERR_UNSUPPORTED (not a regular file; or a root other than "/" and a kernel without openat2). */
XC_MUST_CHECK struct xc_error *xc_finder_open(const char *root, const char *path, struct xc_source **source_out);

/* Open DIR/.build-id/xx/yyyy + suffix ("" for the program, ".debug" for its debug file) below root.
 * XC_ERR_NOT_FOUND for ids shorter than two bytes. */
XC_MUST_CHECK struct xc_error *xc_finder_open_build_id(const char *root, const char *dir, const struct xc_build_id *id,
						       const char *suffix, struct xc_source **source_out);

struct xc_process;
struct xc_module;

/* The roots below which to look for a process's paths and /usr/lib/debug, best first: the sysroot; else, for a live
 * process, its own root and then "/" (debug files of a container may be on the host); else "/", which is NULL. Returns
 * their number. */
enum { XC_FINDER_ROOTS = 2 };
size_t xc_finder_roots(const struct xc_finder *finder, const struct xc_process *process,
		       const char *roots[XC_FINDER_ROOTS]);

/* A path for messages: without the prefix of a live process's root. Points into path. */
const char *xc_finder_display_path(const struct xc_process *process, const char *path);

/* Find the file of a module, check it (identity.h) and set the module's identity, file, file_path, file_build_id and
 * why; for a module whose headers are lost also bias, lo and hi, taken from the file. Order: --exe (for the executable,
 * and then nothing else unless exe_optional), the archive, live: map_files or the process's root with device and inode
 * equal, sysroot + path, the store, path, --debug-dir, the build-id directories. A deleted file is searched by build-id
 * only. The file of the vDSO is its bytes in the target. Never fails: finding no file is a valid result. */
void xc_finder_module(const struct xc_finder *finder, struct xc_process *process, struct xc_module *module);

#endif
