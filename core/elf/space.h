/* space: the address space of the target: maps addresses to bytes.
 *
 * Segments are added one after the other (where they overlap, the last one wins). Then the space is sealed into one
 * sorted immutable array. Reading never changes it, so threads share it. A range whose bytes are known to be missing is
 * a segment too: reading it is a fault with a reason and never gives zeros. */
#ifndef XC_SPACE_H
#define XC_SPACE_H

#include "core/base/error.h"

/* The source of a byte, or the reason why it is not available. */
enum xc_provenance {
	XC_FROM_CORE,    /* stored in the core */
	XC_FROM_FILE,    /* a read-only private page of a module, read from its file */
	XC_FROM_LIVE,    /* read from the running process */
	XC_NOT_DUMPED,   /* mapped in the target, omitted from the core by the kernel */
	XC_CUT_SHORT,    /* the core file ends before these bytes */
	XC_NOT_PRESENT,  /* live: a page that was never touched or is swapped out */
	XC_NOT_READABLE, /* mapped without read permission, or a device */
	XC_UNMAPPED,     /* nothing is mapped there */
};

/* A reader of bytes that are not mapped into our memory. read copies up to len bytes from offset and returns the number
 * copied, from the front. why (may be NULL) gives the reason for a byte that read could not copy: a static text, or
 * NULL for that of the segment's provenance. Both must be thread-safe. */
struct xc_backing {
	size_t (*read)(void *ctx, uint64_t offset, void *buf, size_t len);
	const char *(*why)(void *ctx, uint64_t offset);
};

struct xc_segment {
	xc_addr lo, hi; /* inclusive */
	enum xc_provenance provenance;
	const uint8_t *bytes;             /* the bytes themselves when they are mapped, else NULL */
	const struct xc_backing *backing; /* used when bytes is NULL; NULL for missing ranges */
	void *ctx;                        /* for backing */
	uint64_t offset;                  /* of lo, for backing */
};

struct xc_space;

struct xc_space *xc_space_new(void);
void xc_space_free(struct xc_space *space); /* does not free the bytes that segments point to */

/* Add a segment on top of those added before. lo <= hi. Takes effect with the next seal. */
void xc_space_add(struct xc_space *space, const struct xc_segment *segment);

/* Remove all added segments. Until the next seal, reads still use the sealed ones. */
void xc_space_clear(struct xc_space *space);

/* Sort and cut the added segments into disjoint ones. O(n log n). May be called again after further xc_space_add calls:
 * a core is sealed once to find its modules and again with their files. */
void xc_space_seal(struct xc_space *space);

/* All or nothing: read len bytes at addr into buf, crossing segments as needed. On error (XC_ERR_FAULT,
 * first unreadable address and reason) buf is unspecified. */
XC_MUST_CHECK struct xc_error *xc_space_read(const struct xc_space *space, xc_addr addr, void *buf, size_t len);

/* Copy the readable bytes at the front of the range. Returns their number. Allocates nothing. */
size_t xc_space_peek(const struct xc_space *space, xc_addr addr, void *buf, size_t len);

/* The reason why the byte at addr could not be read: a static text, or NULL where none is known. */
const char *xc_space_why(const struct xc_space *space, xc_addr addr);

/* A direct pointer to the bytes when the whole range lies in one mapped segment, else NULL. */
const void *xc_space_view(const struct xc_space *space, xc_addr addr, size_t len);

/* Integers of the target, `size` 1, 2, 4 or 8, in the byte order of the space (little-endian unless set). */
void xc_space_set_big_endian(struct xc_space *space, bool big_endian);
XC_MUST_CHECK struct xc_error *xc_space_uint(const struct xc_space *space, xc_addr addr, size_t size,
					     uint64_t *value_out);
bool xc_space_peek_uint(const struct xc_space *space, xc_addr addr, size_t size, uint64_t *value_out);

/* Copy a C string of at most max bytes (terminator not counted) into buf of max + 1 bytes.
 * Returns its length, or -1 when no byte could be read. *cut_out (may be NULL) is true when the
 * string continues past max or into unreadable memory. */
long xc_space_peek_string(const struct xc_space *space, xc_addr addr, char *buf, size_t max, bool *cut_out);

/* The sealed segments in address order. */
size_t xc_space_count(const struct xc_space *space);
const struct xc_segment *xc_space_at(const struct xc_space *space, size_t index);

/* The index of the first segment that ends at addr or above: the one that holds addr, or the next one. The count when
 * there is none. O(log n). */
size_t xc_space_lower_bound(const struct xc_space *space, xc_addr addr);

/* Find the next range within [*lo_inout, hi] that has bytes: from *lo_inout (updated) to *end_out, inclusive. False:
 * there is none. Loops over words need it: a range may be terabytes of which one page is present. O(log n). */
bool xc_space_next_readable(const struct xc_space *space, xc_addr *lo_inout, xc_addr hi, xc_addr *end_out);

/* The segment that holds addr, or NULL when nothing is mapped there. O(log n). */
const struct xc_segment *xc_space_find(const struct xc_space *space, xc_addr addr);

/* "not dumped into the core", "the core file was cut short before it", … for any provenance. */
const char *xc_provenance_text(enum xc_provenance provenance);

#endif
