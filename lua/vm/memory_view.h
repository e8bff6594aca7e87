/* memory_view: direct access to target memory that is mapped in this process: the segments of a core, and the frozen
 * pages of a running process. Such bytes can be read and prefetched without a copy.
 *
 * The heap of a program may consist of a hundred segments, so a small table maps addresses to views: one entry for
 * each 64 KiB of addresses; addresses 256 MiB apart share an entry. */
#ifndef XC_MEMORY_VIEW_H
#define XC_MEMORY_VIEW_H

#include "core/process/process.h"

enum { XC_MEMORY_VIEW_SHIFT = 16, XC_MEMORY_VIEWS = 4096 };

struct xc_memory_view {
	xc_addr lo, hi; /* inclusive; hi < lo, or bytes NULL: empty */
	const uint8_t *bytes;
};

struct xc_memory_views {
	const struct xc_process *process;
	struct xc_memory_view slots[XC_MEMORY_VIEWS];
};

/* Call before segments are removed or frozen pages are dropped. */
void xc_memory_views_clear(struct xc_memory_views *views);

/* The slow half of xc_memory_view_at. */
const struct xc_memory_view *xc_memory_view_find(struct xc_memory_views *views, xc_addr addr, uint64_t len);

/* The view that contains [addr, addr + len); NULL when there is none. Valid until the next call. */
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
