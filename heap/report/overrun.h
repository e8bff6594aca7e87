/* overrun: who wrote over a damaged header, and what.
 *
 * A block that is written past its end overwrites the header behind it. The bytes tell: a text that begins in the block and goes on over
 * its end, one byte repeated on both sides of it. Where they do not, the block before is only the likeliest. */
#ifndef XC_OVERRUN_H
#define XC_OVERRUN_H

#include "heap/blocks/heap.h"

enum xc_overrun_form {
	XC_OVERRUN_BYTES, /* anything */
	XC_OVERRUN_TEXT,
	XC_OVERRUN_FILL, /* one byte repeated */
};

struct xc_overrun {
	uint32_t block;    /* that was written past its end; XC_NO_BLOCK: none ends there */
	bool certain;      /* what was written begins within it */
	xc_addr from;      /* the first byte behind it */
	uint64_t len;      /* at least so many bytes */
	uint64_t expected; /* the size that the header should have, without flags; 0 when not known */
	enum xc_overrun_form form;
	xc_addr whole_from; /* where the text or the fill begins, in the block */
	uint64_t whole_len; /* up to the end of the overrun */
};

/* Of a damage of kind XC_DAMAGE_HEADER. Looks at 4 KiB before and behind the end of the block at most. */
void xc_overrun_find(const struct xc_heap *heap, const struct xc_damage *damage, struct xc_overrun *overrun_out);

#endif
