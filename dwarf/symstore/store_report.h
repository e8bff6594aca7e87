/* store_report: what `xcore symbols` tells. */
#ifndef XC_STORE_REPORT_H
#define XC_STORE_REPORT_H

#include "core/io/cachelist.h"
#include "core/report/report.h"
#include "core/store/store.h"
#include "dwarf/symstore/store_clean.h"
#include "dwarf/symstore/store_index.h"

/* A row per tree. */
struct xc_store_indexed {
	const char *root; /* as given */
	struct xc_store_totals totals;
};
void xc_store_report_index(struct xc_report *report, const char *dir, const struct xc_store_indexed *rows,
			   size_t count);

/* The files with a build-id that begins with these hexadecimal digits, or with a split unit whose whole id they
 * are; each looked at again. Errors: XC_ERR_USAGE (no hexadecimal digits), XC_ERR_NOT_FOUND, XC_ERR_MISMATCH
 * (several build-ids begin so: the message lists them). */
XC_MUST_CHECK struct xc_error *xc_store_report_find(struct xc_report *report, struct xc_store *store,
						    const char *digits);

/* Everything: trees, files, caches. store NULL: there is none. */
void xc_store_report_list(struct xc_report *report, const char *dir, struct xc_store *store,
			  const struct xc_cachelist *caches);

/* What cleaning did; caches: how many files of them were removed, and their bytes. */
void xc_store_report_clean(struct xc_report *report, const char *dir, const struct xc_store_cleaned *cleaned,
			   uint64_t caches, uint64_t cache_bytes);

#endif
