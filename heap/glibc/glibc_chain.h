/* glibc_chain: lists of cached chunks, of which each link is followed once.
 *
 * Every lookalike of a tcache names lists, and many may name the same ones. So the result for a list is kept for
 * each block: when another list reaches a known block, its end is known. The total cost is proportional to the
 * number of blocks. */
#ifndef XC_GLIBC_CHAIN_H
#define XC_GLIBC_CHAIN_H

#include "heap/glibc/glibc_impl.h"

enum {
	XC_GLIBC_CHAIN_MAX = 1 << 16, /* chunks of a list */
	XC_GLIBC_CHAIN_BAD = -1,      /* it leads to something other than a chunk of its kind */
	XC_GLIBC_CHAIN_LOST = -2,     /* its rest is not in the core */
};

struct xc_glibc_chains {
	const struct xc_glibc *glibc;
	struct xc_window *window;
	struct xc_reserve known[2]; /* by block: lists of one size; lists of any size */
};

void xc_glibc_chains_init(struct xc_glibc_chains *chains, const struct xc_glibc *glibc, struct xc_window *window);
void xc_glibc_chains_fini(struct xc_glibc_chains *chains);

/* The block of an entry that may be in list `slot`: live and of the right size; or XC_NO_BLOCK. */
uint32_t xc_glibc_chain_block(const struct xc_glibc *glibc, xc_addr entry, unsigned slot);

/* The number of chunks on the list that begins with `entry` (0 if that is NULL), or BAD, or LOST. */
long xc_glibc_chain(struct xc_glibc_chains *chains, xc_addr entry, unsigned slot);

/* Marks its chunks as cached, up to a break. False if the list leads to memory that is not in the core. */
bool xc_glibc_chain_mark(struct xc_glibc_chains *chains, xc_addr entry, unsigned slot);

#endif
