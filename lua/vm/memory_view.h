/* memory_view: the target's bytes where they lie in our own memory: the segments of a core, which are mapped, and what is frozen of a running
 * process. Such bytes can be looked at, and fetched ahead, without a copy.
 *
 * What a program allocates may lie in a hundred segments, so a small table remembers which is where: a place for each 64 KiB of
 * addresses, and 256 MiB apart they share one. */
#ifndef XC_MEMORY_VIEW_H
#define XC_MEMORY_VIEW_H

#include "core/process/process.h"

enum { XC_MEMORY_VIEW_SHIFT = 16, XC_MEMORY_VIEWS = 4096 };

struct xc_memory_view {
	xc_addr lo, hi; /* inclusive; hi < lo, or no bytes: none */
	const uint8_t *bytes;
};

struct xc_memory_views {
	const struct xc_process *process;
	struct xc_memory_view slots[XC_MEMORY_VIEWS];
};

/* Before segments end, and what was frozen is forgotten. */
void xc_memory_views_clear(struct xc_memory_views *views);

/* The slow half of xc_memory_view_at. */
const struct xc_memory_view *xc_memory_view_find(struct xc_memory_views *views, xc_addr addr, uint64_t len);

/* The view that [addr, addr + len) lies in; NULL when there is none. Good until the next question. */
static inline const struct xc_memory_view *xc_memory_view_at(struct xc_memory_views *views, xc_addr addr, uint64_t len)
{
	const struct xc_memory_view *view = &views->slots[addr >> XC_MEMORY_VIEW_SHIFT & (XC_MEMORY_VIEWS - 1)];
	return view->bytes && xc_inside(addr, len, view->lo, view->hi) ? view : xc_memory_view_find(views, addr, len);
}

/* Those bytes themselves, or NULL. */
static inline const uint8_t *xc_memory_view_bytes(struct xc_memory_views *views, xc_addr addr, uint64_t len)
{
	const struct xc_memory_view *view = xc_memory_view_at(views, addr, len);
	return view ? view->bytes + (addr - view->lo) : NULL;
}

#endif
