/* cachelist: lists the files of the caches (cache.h) and removes them on request. */
#ifndef XC_CACHELIST_H
#define XC_CACHELIST_H

#include "core/base/base.h"

struct xc_cached_file {
	const char *kind; /* "index", "debug": the directory of the cache */
	char *name;       /* in that directory */
	uint64_t size;    /* bytes on disk */
	int64_t used;     /* time of its last use, in seconds since the epoch */
};

struct xc_cachelist {
	const char *dir;              /* as given */
	struct xc_cached_file *files; /* by kind, then last used first */
	size_t count, capacity;
};

/* The files of all caches below dir ($XDG_CACHE_HOME/xcore; NULL: none). */
struct xc_cachelist xc_cachelist_read(const char *dir); /* dir stays borrowed */
void xc_cachelist_fini(struct xc_cachelist *list);

/* Remove one. True when it no longer exists. Runs that have it open can still use it. */
bool xc_cachelist_remove(const struct xc_cachelist *list, const struct xc_cached_file *file);

#endif
