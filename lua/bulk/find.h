/* find: where in memory something stands: a byte string, a word that points into a range, a struct by what its members hold.
 *
 * Addresses come in ascending order, some at a time: the caller keeps the state. Mapped segments are searched where they lie; others
 * (a live process) are read by pieces. What is missing is passed over without being read. What crosses the border of two
 * segments is found too. Segments are looked up afresh by each run, so that a live process may be refreshed between two. */
#ifndef XC_FIND_H
#define XC_FIND_H

#include "core/process/process.h"

enum {
	XC_FIND_SPAN = 1 << 16, /* bytes that what is searched for may have */
	XC_FIND_TESTS = 32,
};

struct xc_range {
	xc_addr lo, hi; /* inclusive */
};

enum xc_find_kind { XC_FIND_BYTES, XC_FIND_POINTER, XC_FIND_STRUCT };

enum xc_find_test_kind {
	XC_FIND_WORD,   /* the bits, as a number of mask's width from lo on, are at most `span` */
	XC_FIND_SINGLE, /* a float in [low, high] */
	XC_FIND_DOUBLE,
	XC_FIND_ADDRESS,         /* the bits point to something that is mapped */
	XC_FIND_ADDRESS_OR_NULL, /* or are 0 */
};

/* Of 8 bytes at `offset` of the struct, the bits from `shift` on below `mask`. */
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
	size_t size;                      /* bytes of what is searched for; 1 to XC_FIND_SPAN */
	const uint8_t *bytes;             /* BYTES; borrowed */
	struct xc_range aim;              /* POINTER: into this; size is that of a word */
	const struct xc_find_test *tests; /* STRUCT; those that rarely hold first; borrowed */
	size_t test_count;
	uint8_t *buffer; /* xc_find_buffer_size of them; borrowed */
	/* where it is */
	size_t range;
	xc_addr at;
	uint64_t looked; /* bytes so far */
	bool begun, done;
	struct xc_range mapped; /* the segment that an address last pointed to */
};

size_t xc_find_buffer_size(const struct xc_find *find);

/* Append up to room addresses and look at `budget` bytes or little more; returns how many there are. find->done at the end.
 * At least 5 GB/s for pointers. */
size_t xc_find_run(struct xc_find *find, xc_addr *hits, size_t room, uint64_t budget);

#endif
