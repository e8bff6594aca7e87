/* cache: files that one run leaves for the next, below $XDG_CACHE_HOME/xcore.
 *
 * Each kind of file has a directory of its own, kept below a size by removing what was used least recently. Files are
 * written aside and renamed, so that a reader sees a whole one or none, whatever happens to the writer. One of another
 * owner, or that others may write, is not used. Failing to write is not an error: the directory may be read-only, the
 * disk full; behind an opener (opener.h) nothing is written. What a file holds is its reader's to check. */
#ifndef XC_CACHE_H
#define XC_CACHE_H

#include "core/io/source.h"

struct xc_cache {
	const char *dir;   /* $XDG_CACHE_HOME/xcore; NULL: nothing is kept */
	const char *kind;  /* "index": the directory below */
	uint64_t capacity; /* bytes, of all its files */
};

/* A descriptor of the file with this name, for reading; -1 when there is none that may be trusted. Marks it as used now. */
int xc_cache_open(const struct xc_cache *cache, const char *name);

/* What a file is written from, in order. */
struct xc_cache_piece {
	const void *bytes;
	size_t size;
};

/* The file with this name, mapped; NULL when there is none that may be trusted. Marks it as used now. */
struct xc_source *xc_cache_get(const struct xc_cache *cache, const char *name);

/* A file being written aside. */
struct xc_cache_draft {
	int directory, fd; /* fd: to write to, at any offset */
	uint64_t capacity; /* of the cache, when the size was not known; 0: it was */
	char name[160], aside[160];
	char *path; /* of what is aside */
};

/* Bytes that one file may have: half the capacity. */
uint64_t xc_cache_largest(const struct xc_cache *cache);

/* Start a file of this size: makes room by removing old files and reserves it on the disk. A size of 0 is one that is not known yet: room is
 * made when the file is finished. False when there is no room, or the file is larger than xc_cache_largest; else xc_cache_finish must
 * follow, which gives the file its name when it is `good`, and not too large, and removes it otherwise, and says whether it is kept. */
bool xc_cache_begin(const struct xc_cache *cache, const char *name, uint64_t size, struct xc_cache_draft *draft);
bool xc_cache_finish(struct xc_cache_draft *draft, bool good);

/* Keep a file, replacing one of the same name. True when it was kept: not when it is larger than half the capacity. */
bool xc_cache_put(const struct xc_cache *cache, const char *name, const struct xc_cache_piece *pieces, size_t count);

/* Overwrite a few bytes of a kept file in place, such as a remark that has a checksum of its own. */
void xc_cache_patch(const struct xc_cache *cache, const char *name, uint64_t offset, const void *bytes, size_t size);

#endif
