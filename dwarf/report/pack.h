/* pack: one file with a core and exactly the module and debug files that reading it needs, and back.
 *
 * The format is core/store/archive.h's. A pack opens like a core (xc_process_open_core) and needs no other file. */
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
	size_t files;    /* with the core */
	size_t missing;  /* modules of which no file was found; when writing */
	uint64_t bytes;  /* of all files */
	uint64_t stored; /* of the pack */
};

/* Pack the core of process and the files that were found for it (searching for debug files as its finder says) into a new
 * file at out_path. totals_out may be NULL. Errors: XC_ERR_UNSUPPORTED for a live process, those of
 * xc_archive_write. The source files are read once or twice; nothing is left behind on failure. */
XC_MUST_CHECK struct xc_error *xc_pack_write(struct xc_process *process, const char *out_path,
					     const struct xc_pack_options *options, struct xc_pack_totals *totals_out);

/* Unpack the pack at path into the directory dir, which is made when it is not there:
 *
 *	DIR/core
 *	DIR/root/PATH                                       modules, where the core names them
 *	DIR/root/usr/lib/debug/.build-id/xx/yyyy.debug      debug files
 *
 * so that `xcore COMMAND --sysroot DIR/root DIR/core` finds everything. No path of the pack leads out of dir, no symbolic
 * link in it is followed, no file is replaced without `force`, and each gets its name only when complete and
 * equal to its SHA-256. Errors: XC_ERR_FORMAT (not a pack; damaged: what came before stays), XC_ERR_IO,
 * XC_ERR_USAGE (a file exists). */
XC_MUST_CHECK struct xc_error *xc_pack_extract(const char *path, const char *dir, const struct xc_pack_options *options,
					       struct xc_pack_totals *totals_out);

#endif
