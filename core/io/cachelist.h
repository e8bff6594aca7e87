/* cachelist: what lies in the caches (cache.h), for people who want to see or remove it. */
#ifndef XC_CACHELIST_H
#define XC_CACHELIST_H

#include "core/base/base.h"

struct xc_cached_file {
	const char *kind; /* "index", "debug": the cache's directory */
	char *name;       /* in that directory */
	uint64_t size;    /* bytes on disk */
	int64_t used;     /* seconds since the epoch, of its last use */
};

struct xc_cachelist {
	const char *dir;              /* as given */
	struct xc_cached_file *files; /* by kind, then last used first */
	size_t count, capacity;
};

/* The files of all caches below dir ($XDG_CACHE_HOME/xcore; NULL: none). */
struct xc_cachelist xc_cachelist_read(const char *dir); /* dir stays borrowed */
void xc_cachelist_fini(struct xc_cachelist *list);

/* Remove one; true when it is gone. Runs that use it now go on with it. */
bool xc_cachelist_remove(const struct xc_cachelist *list, const struct xc_cached_file *file);

#endif
