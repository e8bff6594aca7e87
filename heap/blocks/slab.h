/* slab: an array of blocks of one size, of which the free ones are linked by their first words.
 *
 * Allocators with size classes share this. Every link of the list is checked. If the list breaks, it continues
 * where exactly one chain of blocks has the missing length. */
#ifndef XC_SLAB_H
#define XC_SLAB_H

#include "heap/blocks/window.h"

struct xc_slab {
	struct xc_window *window;
	xc_addr lo;
	uint64_t size, count; /* of its blocks */
	uint8_t *free;        /* a byte for each block: is it free? */
};

/* The state of following a list. */
struct xc_slab_list {
	xc_addr at, next;  /* the link read last, and its target; 0 at the end of the list */
	uint64_t found;    /* blocks on it */
	const char *wrong; /* why the list was not followed further; or NULL */
};

/* Marks the blocks on a list as free. The list begins with the link at list->at, whose target is list->next, and
 * has at most `most` blocks. */
void xc_slab_follow(struct xc_slab *slab, struct xc_slab_list *list, uint64_t most);

/* `missing` free blocks are on no list found so far. Marks the only chain of unmarked blocks that ends with 0 and
 * has that length. False if there is none, or several. */
bool xc_slab_resume(struct xc_slab *slab, uint64_t missing);

#endif
