/* pack: one file with a core and the module and debug files needed to read it; and unpacking.
 *
 * The format is that of core/store/archive.h. A pack opens like a core (xc_process_open_core) and needs no other
 * file. */
#ifndef XC_PACK_H
#define XC_PACK_H

#include "core/store/archive.h"
#include "core/process/process.h"

struct xc_pack_options {
	struct xc_progress *progress; /* may be NULL */
	int level;                    /* of zstd; 0 means 3 */
	bool force;                   /* extract: replace files that exist */
};

struct xc_pack_totals {
	size_t files;    /* including the core */
	size_t missing;  /* when writing: modules without a file */
	uint64_t bytes;  /* of all files */
	uint64_t stored; /* of the pack */
};

/* Pack the core of process, and the files found for it (debug files are searched as its finder is configured), into a
 * new file at out_path. totals_out may be NULL. The source files are read once or twice; a failure leaves nothing
 * behind. Errors: XC_ERR_UNSUPPORTED for a live process, those of xc_archive_write. */
XC_MUST_CHECK struct xc_error *xc_pack_write(struct xc_process *process, const char *out_path,
					     const struct xc_pack_options *options, struct xc_pack_totals *totals_out);

/* Unpack the pack at path into the directory dir, which is created if needed:
 *
 *	DIR/core
 *	DIR/root/PATH                                       modules, at the paths in the core
 *	DIR/root/usr/lib/debug/.build-id/xx/yyyy.debug      debug files
 *
 * Then `xcore COMMAND --sysroot DIR/root DIR/core` finds everything. No path of the pack leads out of dir, no symbolic
 * link in it is followed, and no file is replaced without `force`. A file gets its name only when it is complete and
 * matches its SHA-256. Errors: XC_ERR_FORMAT (not a pack; a damaged pack, of which earlier files are kept), XC_ERR_IO,
 * XC_ERR_USAGE (a file exists). */
XC_MUST_CHECK struct xc_error *xc_pack_extract(const char *path, const char *dir, const struct xc_pack_options *options,
					       struct xc_pack_totals *totals_out);

#endif
