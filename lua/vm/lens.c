/* lens: what is found takes the place of what was there before. */
#include "lua/vm/lens.h"

#include <string.h>

#include "core/live/live.h"

void xc_lenses_clear(struct xc_lenses *lenses)
{
	memset(lenses->slots, 0, sizeof lenses->slots);
}

/* A mapping may have become smaller since its bytes were frozen. */
static struct xc_lens within(struct xc_lens lens, const struct xc_segment *segment)
{
	if (lens.lo < segment->lo) {
		lens.bytes += segment->lo - lens.lo;
		lens.lo = segment->lo;
	}
	if (lens.hi > segment->hi)
		lens.hi = segment->hi;
	return lens;
}

const struct xc_lens *xc_lens_find(struct xc_lenses *lenses, xc_addr addr, uint64_t len)
{
	const struct xc_process *process = lenses->process;
	const struct xc_segment *segment = process ? xc_space_find(process->space, addr) : NULL;
	if (!segment)
		return NULL;
	struct xc_lens found = {segment->lo, segment->hi, segment->bytes};
	if (!found.bytes && process->live) {
		found.bytes = xc_live_frozen(process, addr, &found.lo, &found.hi);
		if (found.bytes)
			found = within(found, segment);
	}
	if (!found.bytes || !xc_inside(addr, len, found.lo, found.hi))
		return NULL;
	struct xc_lens *slot = &lenses->slots[addr >> XC_LENS_SHIFT & (XC_LENSES - 1)];
	*slot = found;
	return slot;
}
