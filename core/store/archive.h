/* archive: the file that `xcore pack` writes, a pack: a core and the module and debug files that it needs.
 *
 * Layout (version 1, all integers little-endian):
 *
 * 	zstd skippable frame (RFC 8878, 3.1.2):
 * 	    u32 0x184D2A5C   u32 bytes of the rest of this frame
 * 	    "XCOREPCK"       u32 version   u32 files   u32 modules   u32 zero
 * 	    files ×    u8 kind  u8 id bytes  u16 path bytes  u32 zero
 * 	               u64 offset of its frame  u64 stored bytes  u64 bytes  SHA-256 (32)  id  path
 * 	    modules ×  u64 lo  u32 file + 1  u32 debug + 1  u32 alternate + 1   (indexes into files; 0: none)
 * 	               u8 identity  u8 id bytes  u16 path bytes  u16 refused path bytes  u16 why bytes
 * 	               u16 debug why bytes  id  path  refused path  why  debug why
 * 	    SHA-256 of everything above in this frame's content
 * 	one zstd frame per file, with zstd's own checksum, in the order of the table; the core is the first
 *
 * The index comes first, so a truncated pack still gives its core and the files before the cut. `zstd -dc` of the pack
 * gives the core followed by the other files. A file is inflated on first use. Reading verifies zstd's checksum,
 * unpacking also SHA-256. Neither makes a pack trustworthy: its files pass the same checks (build-id, layout) as any
 * other, and no path in it is ever opened. Each module is recorded with the reason why its file or debug information
 * was not found, so a pack gives the same result on another host as the core on its own. */
#ifndef XC_ARCHIVE_H
#define XC_ARCHIVE_H

#include "core/base/base.h"
#include "core/elf/elf.h"
#include "core/elf/identity.h"
#include "core/io/source.h"

struct xc_progress;
struct xc_archive;

enum xc_archive_kind {
	XC_ARCHIVE_CORE,
	XC_ARCHIVE_MODULE,
	XC_ARCHIVE_DEBUG,
	XC_ARCHIVE_ALT,
	XC_ARCHIVE_SPLIT,   /* a .dwo; build_id is the unit's id, 8 bytes, little-endian */
	XC_ARCHIVE_PACKAGE, /* a .dwp; build_id is the module's */
	XC_ARCHIVE_KINDS
};

struct xc_archive_file {
	enum xc_archive_kind kind;
	struct xc_build_id build_id; /* size 0: it has none */
	const char *path;            /* its path when it was packed; for reports only */
	uint64_t offset, stored;     /* of its zstd frame in the pack, bytes */
	uint64_t size;               /* inflated, bytes */
	uint8_t sha256[32];          /* of the inflated bytes */
};

struct xc_archive_module {
	xc_addr lo;                       /* address of the module in the core; with path the key */
	const char *path;                 /* as the core names it */
	int file, debug, alt;             /* indexes of files, or -1 */
	enum xc_identity identity;        /* used when there is no file: XC_NO_FILE or XC_REFUSED */
	struct xc_build_id file_build_id; /* of a refused file */
	const char *file_path;            /* of a refused file, or NULL */
	const char *why, *debug_why;      /* the reason for no file, no debug information; or NULL */
};

/* ---- reading ---- */

/* True when the bytes begin like those of a pack. Never true for a core or a .zst file. */
bool xc_archive_is(const struct xc_source *source);

/* Read the index. Takes the source, also on failure. Errors: XC_ERR_FORMAT, XC_ERR_LIMIT,
 * XC_ERR_UNSUPPORTED (a newer version). */
XC_MUST_CHECK struct xc_error *xc_archive_open(struct xc_source *source, struct xc_archive **archive_out);
void xc_archive_close(struct xc_archive *archive); /* NULL is fine; sources inflated from it stay valid */
void xc_archive_closep(struct xc_archive **archive);

/* Inflate the core. Its path is that of the pack. As with a .zst core, `cut` of the source is true when it is
 * incomplete. */
XC_MUST_CHECK struct xc_error *xc_archive_core(const struct xc_archive *archive,
					       const struct xc_source_options *options, struct xc_source **source_out);

/* Inflate all of file `index`. Its path is the recorded one. Errors: XC_ERR_FORMAT when it is damaged or the pack ends
 * before it, XC_ERR_NOT_FOUND for an index out of range. */
XC_MUST_CHECK struct xc_error *xc_archive_inflate(const struct xc_archive *archive, int index,
						  const struct xc_source_options *options,
						  struct xc_source **source_out);

size_t xc_archive_file_count(const struct xc_archive *archive);
const struct xc_archive_file *xc_archive_file(const struct xc_archive *archive, size_t index);
size_t xc_archive_module_count(const struct xc_archive *archive);
const struct xc_archive_module *xc_archive_module_at(const struct xc_archive *archive, size_t index);

/* The record of the module at `lo` with this path, else the first one with this path, else NULL. */
const struct xc_archive_module *xc_archive_module(const struct xc_archive *archive, xc_addr lo, const char *path);

/* ---- writing ---- */

struct xc_archive_content {
	struct xc_archive_file *files;          /* the caller sets kind, build_id, path and size */
	const struct xc_source *const *sources; /* the bytes of each */
	size_t file_count;
	const struct xc_archive_module *modules;
	size_t module_count;
	struct xc_progress *progress; /* may be NULL */
	int level;                    /* of zstd; 0 means 3 */
};

/* Write a pack to a temporary file beside path and rename it when complete. Mode 0600 and the user's own, whatever it
 * replaces. Strings longer than 64 KiB are truncated. Errors: XC_ERR_IO, XC_ERR_PERMISSION; they leave no file. */
XC_MUST_CHECK struct xc_error *xc_archive_write(const struct xc_archive_content *content, const char *path);

#endif
