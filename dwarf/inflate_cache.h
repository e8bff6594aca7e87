/* inflate_cache: inflated debug sections, kept from one run to the next.
 *
 * Distributions ship compressed debug files; inflating one costs more than everything else a backtrace does. The plain
 * image is kept as one file in the cache directory, keyed by what the kernel says of the compressed file (device, inode,
 * size, times of modification and change) and its build-id, so that a changed or another file never meets it. Files are
 * written aside and renamed; one of another owner, or that others may write, or that is not whole, is not used. Failing to
 * write is not an error. The directory is kept below 8 GiB, least recently used files first to go. */
#ifndef XC_INFLATE_CACHE_H
#define XC_INFLATE_CACHE_H

#include "../core/source.h"

/* The plain image of `packed` (trailer included; *size_out is the image's own size), or NULL when it is not cached. */
struct xc_source *xc_inflate_cache_get(const char *dir, const struct xc_source *packed, size_t *size_out);

/* Keep an image. */
void xc_inflate_cache_put(const char *dir, const struct xc_source *packed, const void *image, size_t size);

#endif
