/* find: search memory for a byte string, a word that points into a range, or a struct by the values of members.
 *
 * Addresses are returned in ascending order, in batches: the caller keeps the state. Mapped segments are searched in
 * place; others (of a live process) are read in pieces. Missing memory is skipped without being read. Hits across
 * the border of two segments are found. Segments are looked up again in each run, so a live process may be refreshed
 * between two runs. */
#ifndef XC_FIND_H
#define XC_FIND_H

#include "core/process/process.h"

enum {
	XC_FIND_SPAN = 1 << 16, /* the largest pattern, in bytes */
	XC_FIND_TESTS = 32,
};

struct xc_range {
	xc_addr lo, hi; /* inclusive */
};

enum xc_find_kind { XC_FIND_BYTES, XC_FIND_POINTER, XC_FIND_STRUCT };

enum xc_find_test_kind {
	XC_FIND_WORD,   /* the bits, as a number of the mask's width relative to lo, are at most `span` */
	XC_FIND_SINGLE, /* a float in [low, high] */
	XC_FIND_DOUBLE,
	XC_FIND_ADDRESS,         /* the bits point to mapped memory */
	XC_FIND_ADDRESS_OR_NULL, /* or are 0 */
};

/* A test of the 8 bytes at `offset` of the struct: the bits from `shift` on below `mask`. */
struct xc_find_test {
	enum xc_find_test_kind kind;
	unsigned shift;
	uint64_t offset, mask, lo, span;
	double low, high;
};

struct xc_find {
	const struct xc_space *space;
	const struct xc_range *ranges; /* ascending, with gaps between; borrowed */
	size_t range_count;
	enum xc_find_kind kind;
	uint64_t align;                   /* a power of two */
	size_t size;                      /* size of the pattern in bytes; 1 to XC_FIND_SPAN */
	const uint8_t *bytes;             /* BYTES; borrowed */
	struct xc_range aim;              /* POINTER: the range of targets; size is that of a word */
	const struct xc_find_test *tests; /* STRUCT; the most selective tests first; borrowed */
	size_t test_count;
	uint8_t *buffer; /* xc_find_buffer_size bytes; borrowed */
	/* the current address */
	size_t range;
	xc_addr at;
	uint64_t looked; /* bytes searched so far */
	bool begun, done;
	struct xc_range mapped; /* the segment of the last pointer target */
};

size_t xc_find_buffer_size(const struct xc_find *find);

/* Append up to `room` addresses and search about `budget` bytes; returns the number of addresses. find->done at the
 * end. At least 5 GB/s for pointers. */
size_t xc_find_run(struct xc_find *find, xc_addr *hits, size_t room, uint64_t budget);

#endif
