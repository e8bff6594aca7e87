#include "heap/blocks/window.h"

#include <stdlib.h>

enum { LEAST_COPY = 1024, NEAR = 4096 };

void xc_window_init(struct xc_window *window, const struct xc_space *space)
{
	*window = (struct xc_window){.space = space};
}

void xc_window_fini(struct xc_window *window)
{
	free(window->copy);
	*window = (struct xc_window){0};
}

/* Shows the whole mapped segment that contains addr. */
static bool show_segment(struct xc_window *window, xc_addr addr)
{
	const struct xc_segment *segment = xc_space_find(window->space, addr);
	if (!segment || !segment->bytes)
		return false;
	window->bytes = segment->bytes;
	window->lo = segment->lo;
	window->len = segment->hi - segment->lo + 1;
	return true;
}

/* Copies at least len bytes. A copy that begins in or directly after the previous one continues upwards and takes
 * more. */
static void show_copy(struct xc_window *window, xc_addr addr, uint64_t len)
{
	bool goes_on = window->bytes && window->bytes == window->copy && addr >= window->lo &&
		       addr - window->lo <= window->len + NEAR;
	if (!window->copy)
		window->copy = xc_alloc(XC_WINDOW_COPY);
	window->ahead = goes_on ? 4 * window->ahead : LEAST_COPY;
	window->ahead = window->ahead < len ? len : window->ahead;
	window->ahead = window->ahead < XC_WINDOW_COPY ? window->ahead : XC_WINDOW_COPY;
	window->bytes = window->copy;
	window->lo = addr;
	window->len = xc_space_peek(window->space, addr, window->copy, window->ahead);
}

static const uint8_t *shown(const struct xc_window *window, xc_addr addr, uint64_t len)
{
	uint64_t at = addr - window->lo;
	return at < window->len && len <= window->len - at ? window->bytes + at : NULL;
}

const uint8_t *xc_window_slow(struct xc_window *window, xc_addr addr, uint64_t len)
{
	const uint8_t *found = NULL;
	if (len == 0)
		return NULL;
	if (show_segment(window, addr))
		found = shown(window, addr, len);
	if (found || len > XC_WINDOW_COPY)
		return found;
	show_copy(window, addr, len);
	return shown(window, addr, len);
}

const uint8_t *xc_window_run(struct xc_window *window, xc_addr addr, uint64_t most, uint64_t *len_out)
{
	const uint8_t *bytes = most ? xc_window(window, addr, 1) : NULL;
	if (!bytes)
		return NULL;
	uint64_t left = window->len - (addr - window->lo);
	*len_out = left < most ? left : most;
	return bytes;
}
