/* memory_view: a view that is found replaces the previous one in its entry. */
#include "lua/vm/memory_view.h"

#include <string.h>

#include "core/live/live.h"

void xc_memory_views_clear(struct xc_memory_views *views)
{
	memset(views->slots, 0, sizeof views->slots);
}

/* A mapping may have shrunk since its bytes were frozen. */
static struct xc_memory_view within(struct xc_memory_view view, const struct xc_segment *segment)
{
	if (view.lo < segment->lo) {
		view.bytes += segment->lo - view.lo;
		view.lo = segment->lo;
	}
	if (view.hi > segment->hi)
		view.hi = segment->hi;
	return view;
}

const struct xc_memory_view *xc_memory_view_find(struct xc_memory_views *views, xc_addr addr, uint64_t len)
{
	const struct xc_process *process = views->process;
	const struct xc_segment *segment = process ? xc_space_find(process->space, addr) : NULL;
	if (!segment)
		return NULL;
	struct xc_memory_view found = {segment->lo, segment->hi, segment->bytes};
	if (!found.bytes && process->live) {
		found.bytes = xc_live_frozen(process, addr, &found.lo, &found.hi);
		if (found.bytes)
			found = within(found, segment);
	}
	if (!found.bytes || !xc_inside(addr, len, found.lo, found.hi))
		return NULL;
	struct xc_memory_view *slot = &views->slots[addr >> XC_MEMORY_VIEW_SHIFT & (XC_MEMORY_VIEWS - 1)];
	*slot = found;
	return slot;
}
