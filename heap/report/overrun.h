/* overrun: the block whose overrun destroyed a header, and the bytes written.
 *
 * A write past the end of a block overwrites the next header. The bytes are evidence: a text that begins in the
 * block and continues past its end, or one byte repeated on both sides. Without such evidence the previous block is
 * only the likeliest.
 *
 * A write that goes downwards past the beginning of the block behind leaves the header's first bytes as they are, and
 * its bytes go on into that block. */
#ifndef XC_OVERRUN_H
#define XC_OVERRUN_H

#include "heap/blocks/heap.h"

enum xc_overrun_form {
	XC_OVERRUN_BYTES, /* anything */
	XC_OVERRUN_TEXT,
	XC_OVERRUN_FILL, /* one byte repeated */
};

struct xc_overrun {
	uint32_t block;    /* the overrun block; XC_NO_BLOCK: none ends there */
	uint32_t behind;   /* the block that was written before its beginning, likely; XC_NO_BLOCK: nothing shows it */
	bool certain;      /* the written bytes begin inside the block */
	xc_addr from;      /* the first byte after it */
	uint64_t len;      /* a lower bound */
	uint64_t expected; /* the correct size in the header, without flags; 0 if unknown */
	enum xc_overrun_form form;
	xc_addr whole_from; /* the beginning of the text or fill, in the block */
	uint64_t whole_len; /* up to the end of the overrun */
};

/* For damage of kind XC_DAMAGE_HEADER. Examines at most 4 KiB on each side of the end of the block. */
void xc_overrun_find(const struct xc_heap *heap, const struct xc_damage *damage, struct xc_overrun *overrun_out);

#endif
