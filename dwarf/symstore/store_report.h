/* store_report: the reports of `xcore symbols`. */
#ifndef XC_STORE_REPORT_H
#define XC_STORE_REPORT_H

#include "core/cache/cachelist.h"
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

/* The files whose build-id begins with these hexadecimal digits, or that have a split unit with this whole id; each
 * is checked again. Errors: XC_ERR_USAGE (not hexadecimal digits), XC_ERR_NOT_FOUND, XC_ERR_MISMATCH (the digits
 * match several build-ids, which the message lists). */
XC_MUST_CHECK struct xc_error *xc_store_report_find(struct xc_report *report, struct xc_store *store,
						    const char *digits);

/* All trees, files and caches. store NULL: there is none. */
void xc_store_report_list(struct xc_report *report, const char *dir, struct xc_store *store,
			  const struct xc_cachelist *caches);

/* The result of cleaning; `caches`: the number of cache files removed, and their size in bytes. */
void xc_store_report_clean(struct xc_report *report, const char *dir, const struct xc_store_cleaned *cleaned,
			   uint64_t caches, uint64_t cache_bytes);

#endif
