/* space: the address space of the target, address → bytes.
 *
 * Segments are laid one after the other (the last one laid wins where they overlap), then the space
 * is sealed into one sorted immutable array. After that reading never mutates, so threads share it.
 * A range whose bytes are known to be missing is a segment too: it faults with its reason, and never
 * reads as zero. */
#ifndef XC_SPACE_H
#define XC_SPACE_H

#include "core/base/error.h"

/* Where a byte comes from, or why it cannot be had. */
enum xc_provenance {
	XC_FROM_CORE,    /* stored in the core */
	XC_FROM_FILE,    /* a read-only private page of a module, read from its file */
	XC_FROM_LIVE,    /* read from the running process */
	XC_NOT_DUMPED,   /* mapped in the target, left out of the core by the kernel */
	XC_CUT_SHORT,    /* the core file ends before these bytes */
	XC_NOT_PRESENT,  /* live: a page that was never touched or is swapped out */
	XC_NOT_READABLE, /* mapped without read permission, or a device */
	XC_UNMAPPED,     /* nothing is mapped there */
};

/* Bytes that are not mapped into our memory. read copies up to len bytes from offset and returns how
 * many it could copy, from the front. why (may be NULL) says of a byte that read could not give why that is: a
 * static text, or NULL to let the segment's provenance speak. Both must be safe from several threads. */
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
void xc_space_free(struct xc_space *space); /* does not free what segments point to */

/* Lay a segment over everything laid before. lo <= hi. Only before the seal. */
void xc_space_add(struct xc_space *space, const struct xc_segment *segment);

/* Forget what was laid. Reading goes on in what was sealed until the next seal. */
void xc_space_clear(struct xc_space *space);

/* Sort and cut the laid segments into disjoint ones. O(n log n). May be called again after more
 * xc_space_add calls (an open core is sealed once to find its modules and again with their files). */
void xc_space_seal(struct xc_space *space);

/* All or nothing: read len bytes at addr into buf, crossing segments as needed. On error (XC_ERR_FAULT,
 * first unreadable address and reason) buf is unspecified. */
XC_MUST_CHECK struct xc_error *xc_space_read(const struct xc_space *space, xc_addr addr, void *buf, size_t len);

/* Probe: copy what can be read from the front of the range; returns how many bytes. No allocation. */
size_t xc_space_peek(const struct xc_space *space, xc_addr addr, void *buf, size_t len);

/* A direct pointer to the bytes when the whole range lies in one mapped segment, else NULL. */
const void *xc_space_view(const struct xc_space *space, xc_addr addr, size_t len);

/* Integers of the target, `size` 1, 2, 4 or 8, in the given order of the space (little-endian unless set). */
void xc_space_set_big_endian(struct xc_space *space, bool big_endian);
XC_MUST_CHECK struct xc_error *xc_space_uint(const struct xc_space *space, xc_addr addr, size_t size,
					     uint64_t *value_out);
bool xc_space_peek_uint(const struct xc_space *space, xc_addr addr, size_t size, uint64_t *value_out);

/* Copy a C string of at most max bytes (terminator not counted) into buf of max + 1 bytes.
 * Returns its length, or -1 when no byte could be read; *cut_out (may be NULL) tells whether the
 * string goes on past max or into unreadable memory. */
long xc_space_peek_string(const struct xc_space *space, xc_addr addr, char *buf, size_t max, bool *cut_out);

/* The sealed segments in address order. */
size_t xc_space_count(const struct xc_space *space);
const struct xc_segment *xc_space_at(const struct xc_space *space, size_t index);

/* The index of the first segment that ends at addr or behind it: of the one that holds it, or else comes next; the count when there is
 * none. O(log n). */
size_t xc_space_lower_bound(const struct xc_space *space, xc_addr addr);

/* The next piece of [*lo_inout, hi] that has bytes: it begins at *lo_inout then and ends at *end_out. False: there is none. For walks word
 * by word: a range may be terabytes of which a page is there. O(log n). */
bool xc_space_next_readable(const struct xc_space *space, xc_addr *lo_inout, xc_addr hi, xc_addr *end_out);

/* The segment that holds addr, or NULL when nothing is mapped there. O(log n). */
const struct xc_segment *xc_space_find(const struct xc_space *space, xc_addr addr);

/* "not dumped into the core", "the core file was cut short before it", … for any provenance. */
const char *xc_provenance_text(enum xc_provenance provenance);

#endif
