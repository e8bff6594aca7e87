/* store_clean: removes references to files that are gone, or everything. */
#ifndef XC_STORE_CLEAN_H
#define XC_STORE_CLEAN_H

#include "core/store/store.h"

struct xc_store_clean_options {
	bool all; /* remove everything, also the files kept in the store */
	/* Also remove what was last used before this time, in seconds since the epoch; 0: no limit. A reference was
	 * used when indexing last met it, a file in the store when it was last read. */
	int64_t used_before;
};

struct xc_store_cleaned {
	uint64_t dropped;        /* references */
	uint64_t removed, bytes; /* files in the store */
	uint64_t roots;          /* trees that are no longer indexed */
};

/* Remove references whose file is gone or changed, and trees that are gone; remove what killed writers left. A store
 * that does not exist is clean. Removes only file names that the store itself creates. Errors: those of reading and
 * writing the store. */
XC_MUST_CHECK struct xc_error *xc_store_clean(const char *dir, const struct xc_store_clean_options *options,
					      struct xc_store_cleaned *cleaned_out);

#endif
