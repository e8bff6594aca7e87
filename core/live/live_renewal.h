/* live_renewal: pages that a reader asks for again and again, all read anew at once. Private to live*.c; not
 * thread-safe.
 *
 * A reader of samples asks for nearly the same pages for each. Read one by one as it comes to them, they are of
 * different moments, and the last is of some 100 us later. So those that its last few rounds used are loaded first. */
#ifndef XC_LIVE_RENEWAL_H
#define XC_LIVE_RENEWAL_H

#include "core/live/live_cache.h"
#include "core/live/live_kernel.h"

enum { XC_LIVE_RENEWALS = 16, XC_LIVE_RENEWED = 24 /* pages of a reader */ };

struct xc_live_page_use {
	xc_addr page;
	unsigned idle; /* rounds of this reader since it was used */
};

/* Zeroed, it knows no pages. */
struct xc_live_renewal {
	struct xc_live_reader_pages {
		uint64_t reader;
		struct xc_live_page_use uses[XC_LIVE_RENEWED]; /* in the order of addresses */
		size_t count;
	} readers[XC_LIVE_RENEWALS], *current; /* whose round it is; NULL: nobody's */
};

/* Begin a round of a reader: note the pages that the last round used, clear the cache, which has no slot taken, and
 * load those of this reader that may be read without side effects: at most XC_LIVE_BATCH, with one call. Returns the
 * number of bytes read. */
size_t xc_live_renewal_begin(struct xc_live_renewal *renewal, uint64_t reader, struct xc_live_cache *cache,
			     struct xc_live_kernel *kernel);

/* The cache was cleared. */
void xc_live_renewal_end(struct xc_live_renewal *renewal);

#endif
