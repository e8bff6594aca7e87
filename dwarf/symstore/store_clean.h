/* store_clean: forgetting what is gone, or everything. */
#ifndef XC_STORE_CLEAN_H
#define XC_STORE_CLEAN_H

#include "core/store/store.h"

struct xc_store_clean_options {
	bool all;            /* forget everything, and remove the files kept in the store */
	int64_t used_before; /* also what was used last before then, in seconds since the epoch: for a reference when indexing
	                      * met it last, for a file in the store when it was read last; 0: never mind */
};

struct xc_store_cleaned {
	uint64_t dropped;        /* references */
	uint64_t removed, bytes; /* files that stood in the store */
	uint64_t roots;          /* trees that are not indexed again */
};

/* Forget references whose file is gone or changed, and trees that are gone; remove what killed writers left. A
 * store that is not there is clean. Only names that the store gives to its own files are ever removed. Errors:
 * those of reading and writing it. */
XC_MUST_CHECK struct xc_error *xc_store_clean(const char *dir, const struct xc_store_clean_options *options,
					      struct xc_store_cleaned *cleaned_out);

#endif
