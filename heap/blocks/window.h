/* window: the target's memory as bytes to be walked through, wherever it comes from.
 *
 * In a core most memory lies in one mapped piece, and the window is that memory itself. Where it does not (live processes,
 * pieces that end in the middle) the window copies what is asked for and some of what follows: little after a jump, more and more as
 * long as the walk goes upwards. One window belongs to one thread. */
#ifndef XC_WINDOW_H
#define XC_WINDOW_H

#include "core/elf/space.h"

struct xc_window {
	const struct xc_space *space;
	const uint8_t *bytes; /* of [lo, lo + len); NULL while nothing is shown */
	xc_addr lo;
	uint64_t len;
	uint8_t *copy;  /* owned; NULL until something had to be copied */
	uint64_t ahead; /* bytes that the last copy took */
};

enum { XC_WINDOW_COPY = 1 << 20 }; /* bytes that are copied at once, and most that can be had of copied memory */

void xc_window_init(struct xc_window *window, const struct xc_space *space);
void xc_window_fini(struct xc_window *window);

/* Show at least len bytes at addr; NULL when not all of them can be read (or len exceeds XC_WINDOW_COPY and they had to be copied).
 * The pointer is good until the next call. A range of zero bytes is never there. */
const uint8_t *xc_window_slow(struct xc_window *window, xc_addr addr, uint64_t len);

static inline const uint8_t *xc_window(struct xc_window *window, xc_addr addr, uint64_t len)
{
	uint64_t at = addr - window->lo;
	return window->bytes && len && at < window->len && len <= window->len - at ? window->bytes + at
										   : xc_window_slow(window, addr, len);
}

/* The readable run that begins at addr, at most `most` bytes: its first byte, and in len_out how many. NULL when not even one byte is
 * there. For scans: call again behind it. */
const uint8_t *xc_window_run(struct xc_window *window, xc_addr addr, uint64_t most, uint64_t *len_out);

/* A little-endian word of 8 bytes; false when it cannot be read. */
static inline bool xc_window_word(struct xc_window *window, xc_addr addr, uint64_t *word_out)
{
	const uint8_t *bytes = xc_window(window, addr, sizeof *word_out);
	if (bytes)
		__builtin_memcpy(word_out, bytes, sizeof *word_out);
	return bytes;
}

#endif
