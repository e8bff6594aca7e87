/* glibc_chain: lists of cached chunks, each link of which is followed once.
 *
 * Whatever looks like a tcache names lists, and many may name the same ones. So what a list turned out to be is kept by block: where
 * another one comes to a block that was seen, its end is known. All together cost as much as there are blocks. */
#ifndef XC_GLIBC_CHAIN_H
#define XC_GLIBC_CHAIN_H

#include "heap/glibc/glibc_impl.h"

enum {
	XC_GLIBC_CHAIN_MAX = 1 << 16, /* chunks of a list */
	XC_GLIBC_CHAIN_BAD = -1,      /* what it leads to is no chunk of its kind */
	XC_GLIBC_CHAIN_LOST = -2,     /* the rest of it is not in the core */
};

struct xc_glibc_chains {
	const struct xc_glibc *glibc;
	struct xc_window *window;
	struct xc_reserve known[2]; /* by block: of lists of one size; of any size */
};

void xc_glibc_chains_init(struct xc_glibc_chains *chains, const struct xc_glibc *glibc, struct xc_window *window);
void xc_glibc_chains_fini(struct xc_glibc_chains *chains);

/* The block of an entry that may be in list `slot`: live, and of its size; or XC_NO_BLOCK. */
uint32_t xc_glibc_chain_block(const struct xc_glibc *glibc, xc_addr entry, unsigned slot);

/* How many chunks the list has that begins with `entry` (0 when that is NULL), BAD or LOST. */
long xc_glibc_chain(struct xc_glibc_chains *chains, xc_addr entry, unsigned slot);

/* Its chunks become cached, up to where it breaks; false when that is memory which is not in the core. */
bool xc_glibc_chain_mark(struct xc_glibc_chains *chains, xc_addr entry, unsigned slot);

#endif
