/* lens: the target's bytes where they lie in our own memory: the segments of a core, which are mapped, and what is frozen of a running
 * process. Such bytes can be looked at, and fetched ahead, without a copy.
 *
 * What a program allocates may lie in a hundred segments, so a small table remembers which is where: a place for each 64 KiB of
 * addresses, and 256 MiB apart they share one. */
#ifndef XC_LENS_H
#define XC_LENS_H

#include "core/process/process.h"

enum { XC_LENS_SHIFT = 16, XC_LENSES = 4096 };

struct xc_lens {
	xc_addr lo, hi; /* inclusive; hi < lo, or no bytes: none */
	const uint8_t *bytes;
};

struct xc_lenses {
	const struct xc_process *process;
	struct xc_lens slots[XC_LENSES];
};

/* Before segments end, and what was frozen is forgotten. */
void xc_lenses_clear(struct xc_lenses *lenses);

/* The slow half of xc_lens_at. */
const struct xc_lens *xc_lens_find(struct xc_lenses *lenses, xc_addr addr, uint64_t len);

/* The lens that [addr, addr + len) lies in; NULL when there is none. Good until the next question. */
static inline const struct xc_lens *xc_lens_at(struct xc_lenses *lenses, xc_addr addr, uint64_t len)
{
	const struct xc_lens *lens = &lenses->slots[addr >> XC_LENS_SHIFT & (XC_LENSES - 1)];
	return lens->bytes && xc_inside(addr, len, lens->lo, lens->hi) ? lens : xc_lens_find(lenses, addr, len);
}

/* Those bytes themselves, or NULL. */
static inline const uint8_t *xc_lens_bytes(struct xc_lenses *lenses, xc_addr addr, uint64_t len)
{
	const struct xc_lens *lens = xc_lens_at(lenses, addr, len);
	return lens ? lens->bytes + (addr - lens->lo) : NULL;
}

#endif
