/* finder: where the files of modules and their debug information may come from, and opening them.
 *
 * A core names files; those names are hostile. A named file is opened only below the sysroot
 * (openat2 with RESOLVE_IN_ROOT and without magic links), never blocks (FIFOs), is never opened at all when it is a
 * device, and must turn out to be a regular file. Nothing here touches the network; debuginfod is
 * dwarf/debugfile's, when asked. */
#ifndef XC_FINDER_H
#define XC_FINDER_H

#include "core/elf/elf.h"
#include "core/io/source.h"

struct xc_archive;
struct xc_store;

struct xc_finder {
	const char *exe;               /* --exe, or NULL */
	bool exe_optional;              /* there are targets of other programs, too: theirs are sought as without exe */
	const char *sysroot;           /* --sysroot, or NULL for "/" */
	const char *const *debug_dirs; /* --debug-dir, in order */
	size_t debug_dir_count;
	bool debuginfod; /* --debuginfod was given */
	bool strict;
	bool quiet;                       /* no progress */
	unsigned jobs;                    /* threads for long work; 0: one per core */
	const char *cache_dir;            /* where what was worked out is kept for the next run; NULL: nowhere */
	struct xc_store *store;           /* what the user indexed, looked into before the file system; or NULL */
	const struct xc_archive *archive; /* files carried by a pack; then nothing else is looked at; or NULL */
};

/* Open `path` below `root` (NULL: "/"; then a relative path counts from the working directory), following symbolic
 * links inside the root only. Regular files
 * only, as they are: what is compressed is XC_ERR_UNSUPPORTED, so that a name in a core cannot make us inflate
 * something. The source's path is root and path joined. Errors: XC_ERR_NOT_FOUND, XC_ERR_PERMISSION,
 * XC_ERR_UNSUPPORTED (not a regular file; or a root other than "/" and a kernel without openat2). */
XC_MUST_CHECK struct xc_error *xc_finder_open(const char *root, const char *path, struct xc_source **source_out);

/* Open DIR/.build-id/xx/yyyy + suffix ("" for the program, ".debug" for its debug file) below root.
 * XC_ERR_NOT_FOUND for ids shorter than two bytes. */
XC_MUST_CHECK struct xc_error *xc_finder_open_build_id(const char *root, const char *dir, const struct xc_build_id *id,
						       const char *suffix, struct xc_source **source_out);

struct xc_process;
struct xc_module;

/* The roots in which a process's paths and /usr/lib/debug mean something, best first: the sysroot; else for a live
 * process its own root and then "/" (debug files of a container stand on the host); else "/". Returns how many;
 * NULL stands for "/". */
enum { XC_FINDER_ROOTS = 2 };
size_t xc_finder_roots(const struct xc_finder *finder, const struct xc_process *process,
		       const char *roots[XC_FINDER_ROOTS]);

/* A path as people know it: without the name that a live process's root has for us. Points into path. */
const char *xc_finder_display_path(const struct xc_process *process, const char *path);

/* Find the file of a module, check it (identity.h) and set the module's identity, file, file_path, file_build_id
 * and why; for a module whose headers are lost also bias, lo and hi, taken from the file.
 * Order: --exe (for the executable, and then nothing else unless exe_optional), the archive, live: map_files or the process's root with
 * device and inode equal, sysroot + path, the store, path, --debug-dir, the build-id directories. A deleted file is searched by
 * build-id only. The vDSO's file is its bytes in the target. Never fails: no file is an answer. */
void xc_finder_module(const struct xc_finder *finder, struct xc_process *process, struct xc_module *module);

#endif
