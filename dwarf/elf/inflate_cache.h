/* inflate_cache: inflated debug sections, kept between runs.
 *
 * Distributions ship compressed debug files; inflating one takes longer than the rest of a backtrace. The plain image
 * is kept as one file in the cache directory. Its key is the compressed file's device, inode, size, times of
 * modification and change, so a changed or different file does not match: the time of change cannot be set. (Only a
 * file that is being written through a shared mapping gets it late.) Files are written under a temporary name and
 * renamed. A file of another owner, a file that others may write to, and an incomplete file are not used. Failing to
 * write is not an error. The directory is kept below 8 GiB; the least recently used files are removed first. */
#ifndef XC_INFLATE_CACHE_H
#define XC_INFLATE_CACHE_H

#include <libelf.h>

#include "core/cache/cache.h"
#include "core/io/source.h"

/* The plain image of `packed` (trailer included; *size_out is the image's own size), or NULL when it is not cached. */
struct xc_source *xc_inflate_cache_get(const char *dir, const struct xc_source *packed, size_t *size_out);

/* Inflate the debug sections of an ELF file, whose bytes `packed` are, into the cache; NULL when they cannot be kept
 * or are too small to keep. Otherwise as xc_inflate_cache_get. Errors: those of xc_inflate_to, when the file itself
 * is damaged. */
XC_MUST_CHECK struct xc_error *xc_inflate_cache_fill(const char *dir, const struct xc_source *packed, Elf *elf,
						     struct xc_source **image_out, size_t *size_out);

enum { XC_INFLATE_CACHE_NAME = 39 }; /* bytes, with the NUL */

/* The name in the cache of the image of an open file, whether or not the image exists. False when the descriptor's
 * file cannot be examined. */
bool xc_inflate_cache_name(int fd, char name[XC_INFLATE_CACHE_NAME]);

/* Write that image, with its trailer, to an empty file; for processes that may not create files (opener.h). Errors:
 * XC_ERR_NOT_FOUND when it is too small to keep; those of xc_inflate_to. */
XC_MUST_CHECK struct xc_error *xc_inflate_cache_write(const struct xc_source *packed, Elf *elf, int fd);

/* The cache of these files in a directory. */
struct xc_cache xc_inflate_cache_in(const char *dir);

#endif
