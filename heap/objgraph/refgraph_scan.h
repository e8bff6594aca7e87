/* refgraph_scan: references in arrays of the target: tagged pointers, compressed pointers, one or more for each
 * element. */
#ifndef XC_REFGRAPH_SCAN_H
#define XC_REFGRAPH_SCAN_H

#include "heap/objgraph/refgraph.h"

enum { XC_REFSCAN_WORDS = 64, XC_REFSCAN_REACH = 1 << 16 /* bytes from an element's beginning, in either direction */ };

/* The words whose tag marks them as references: lo <= (tag >> shift & mask) <= hi, with a signed tag. */
struct xc_reftag {
	int32_t at;     /* relative to the word; with width 0 the tag is the word itself */
	unsigned width; /* 0, 1, 2, 4, 8 */
	unsigned shift;
	uint64_t mask;
	int64_t lo, hi;
};

struct xc_refscan {
	uint64_t stride; /* not 0 */
	unsigned at_count;
	int32_t at[XC_REFSCAN_WORDS];
	unsigned width; /* of words: 4 or 8 */
	uint64_t mask;
	unsigned shift;
	uint64_t base;
	bool tagged, exact, swap, choosy;
	struct xc_reftag tag;
	/* Of a choosy scan: elements with this tag are skipped. `at` is relative to the element's beginning. */
	struct xc_reftag unless;
	uint64_t most;  /* elements of a row; more are not read and count as missing */
	int64_t lo, hi; /* private: the bytes of an element that are examined, [lo, hi) relative to its beginning */
};

struct xc_refscan_row {
	xc_addr from, start;
	uint64_t count; /* elements */
};

/* The position of a scan; it is done if row is the number of rows. */
struct xc_refscan_place {
	size_t row;
	uint64_t element;
};

/* Computes the private fields. False for a scan that reaches too far or makes no sense. */
bool xc_refscan_prepare(struct xc_refscan *scan);

/* Continues from `place` for about `words` words, and one element more. There must be room for so many references,
 * and for one more row than there are here. Unreadable elements count as missing: an array ends where its memory
 * ends. */
void xc_refscan_run(struct xc_refgraph *graph, const struct xc_refscan *scan, struct xc_window *window,
		    const struct xc_refscan_row *rows, size_t count, struct xc_refscan_place *place, uint64_t words);

#endif
