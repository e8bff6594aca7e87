/* cache: files that one run keeps for the next, below $XDG_CACHE_HOME/xcore.
 *
 * Each kind of file has its own directory, which is kept below a size: the least recently used files are removed, of
 * those that are xcore's own (cacheform.h). A directory that is not this user's alone is not used (cachedir.h). A file
 * is written under a temporary name and renamed, so a reader sees all of it or nothing. Files with another owner, a
 * second name or another mark, or writable by others, are ignored and never replaced. A failed write is not an error:
 * the directory may be read-only, the disk full. Behind an opener (opener.h) nothing is written. Readers must
 * validate the content. */
#ifndef XC_CACHE_H
#define XC_CACHE_H

#include "core/io/source.h"

struct xc_cache {
	const char *dir;   /* $XDG_CACHE_HOME/xcore; NULL: no cache */
	const char *kind;  /* "index": the directory below */
	uint64_t capacity; /* bytes, of all its files */
};

/* Open the file with this name for reading and update its time of use. -1 when there is no trustworthy one. */
int xc_cache_open(const struct xc_cache *cache, const char *name);

/* One part of a file to be written. */
struct xc_cache_piece {
	const void *bytes;
	size_t size;
};

/* Map the file with this name and update its time of use. NULL when there is no trustworthy one. */
struct xc_source *xc_cache_get(const struct xc_cache *cache, const char *name);

/* A file that is being written under a temporary name. */
struct xc_cache_draft {
	const char *kind;  /* of the cache */
	int directory, fd; /* fd: to write to, at any offset */
	uint64_t capacity; /* of the cache, if the size was not known in advance, else 0 */
	char name[160], temporary[160];
	char *path; /* of the temporary name */
};

/* The largest allowed size of one file, in bytes: half the capacity. */
uint64_t xc_cache_largest(const struct xc_cache *cache);

/* Start a file of `size` bytes: removes old files and reserves the disk space. Size 0: not known yet, and old files are
 * removed when the file is finished. False when there is no space or the file is larger than xc_cache_largest.
 * Otherwise xc_cache_finish must follow: it renames the file if it is `good` and not too large, else removes it.
 * Returns whether the file was kept. */
bool xc_cache_begin(const struct xc_cache *cache, const char *name, uint64_t size, struct xc_cache_draft *draft);
bool xc_cache_finish(struct xc_cache_draft *draft, bool good);

/* Write a file, replacing one of the same name. False when it was not kept, as for one larger than half the
 * capacity. */
bool xc_cache_put(const struct xc_cache *cache, const char *name, const struct xc_cache_piece *pieces, size_t count);

/* Overwrite a few bytes of a cached file in place, such as a note with its own checksum. */
void xc_cache_patch(const struct xc_cache *cache, const char *name, uint64_t offset, const void *bytes, size_t size);

#endif
