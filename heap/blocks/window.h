/* window: the target's memory as bytes for sequential reading, from any kind of source.
 *
 * In a core most memory is in one mapped piece, and the window is that memory itself. Otherwise (live processes,
 * pieces that end in the middle) the window copies the requested bytes and some that follow: few after a jump, more
 * and more while the walk continues upwards. A window belongs to one thread. */
#ifndef XC_WINDOW_H
#define XC_WINDOW_H

#include "core/elf/space.h"

struct xc_window {
	const struct xc_space *space;
	const uint8_t *bytes; /* shows [lo, lo + len); NULL while nothing is shown */
	xc_addr lo;
	uint64_t len;
	uint8_t *copy;  /* owned; NULL until something was copied */
	uint64_t ahead; /* bytes of the previous copy */
};

enum { XC_WINDOW_COPY = 1 << 20 }; /* bytes of a first copy, and the maximum of copied memory */

void xc_window_init(struct xc_window *window, const struct xc_space *space);
void xc_window_fini(struct xc_window *window);

/* Shows at least len bytes at addr. NULL if not all of them can be read, or if len exceeds XC_WINDOW_COPY and they
 * had to be copied. The pointer is valid until the next call. A range of zero bytes is never shown. */
const uint8_t *xc_window_slow(struct xc_window *window, xc_addr addr, uint64_t len);

static inline const uint8_t *xc_window(struct xc_window *window, xc_addr addr, uint64_t len)
{
	uint64_t at = addr - window->lo;
	return window->bytes && len && at < window->len && len <= window->len - at ? window->bytes + at
										   : xc_window_slow(window, addr, len);
}

/* The readable run that begins at addr, at most `most` bytes: returns its first byte and sets len_out. NULL if the
 * first byte cannot be read. For scans: call it again after the run. */
const uint8_t *xc_window_run(struct xc_window *window, xc_addr addr, uint64_t most, uint64_t *len_out);

/* Reads a little-endian word of 8 bytes. False if it cannot be read. */
static inline bool xc_window_word(struct xc_window *window, xc_addr addr, uint64_t *word_out)
{
	const uint8_t *bytes = xc_window(window, addr, sizeof *word_out);
	if (bytes)
		__builtin_memcpy(word_out, bytes, sizeof *word_out);
	return bytes;
}

#endif
