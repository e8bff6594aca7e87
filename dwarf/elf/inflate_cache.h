/* inflate_cache: inflated debug sections, kept from one run to the next.
 *
 * Distributions ship compressed debug files; inflating one costs more than everything else a backtrace does. The plain
 * image is kept as one file in the cache directory, keyed by what the kernel says of the compressed file (device, inode,
 * size, times of modification and change) and its build-id, so that a changed or another file never meets it. Files are
 * written aside and renamed; one of another owner, or that others may write, or that is not whole, is not used. Failing to
 * write is not an error. The directory is kept below 8 GiB, least recently used files first to go. */
#ifndef XC_INFLATE_CACHE_H
#define XC_INFLATE_CACHE_H

#include <libelf.h>

#include "core/io/cache.h"
#include "core/io/source.h"

/* The plain image of `packed` (trailer included; *size_out is the image's own size), or NULL when it is not cached. */
struct xc_source *xc_inflate_cache_get(const char *dir, const struct xc_source *packed, size_t *size_out);

/* Inflate the debug sections of an ELF file, whose bytes `packed` are, into the cache; NULL when they cannot be kept or
 * are not worth it. Otherwise as xc_inflate_cache_get. Errors: those of xc_inflate_to, when the file is what is wrong. */
XC_MUST_CHECK struct xc_error *xc_inflate_cache_fill(const char *dir, const struct xc_source *packed, Elf *elf,
						     struct xc_source **image_out, size_t *size_out);

enum { XC_INFLATE_CACHE_NAME = 39 }; /* bytes, with the NUL */

/* What the image of the file that a descriptor is of is called in the cache, whether there is one or not. False when nothing can be learned
 * of the descriptor. */
bool xc_inflate_cache_name(int fd, char name[XC_INFLATE_CACHE_NAME]);

/* Write that image, with its trailer, to an empty file; for who may not make files (opener.h). Errors: XC_ERR_NOT_FOUND when it is not worth
 * it; those of xc_inflate_to. */
XC_MUST_CHECK struct xc_error *xc_inflate_cache_write(const struct xc_source *packed, Elf *elf, int fd);

/* The cache that has them, in a directory. */
struct xc_cache xc_inflate_cache_in(const char *dir);

#endif
