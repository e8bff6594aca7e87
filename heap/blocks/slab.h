/* slab: an array of blocks of one size, of which the free ones are linked by their first words.
 *
 * What allocators with size classes have in common: the list is followed with every link checked, and when it breaks it goes on where
 * only one chain of blocks has the length that is missing. */
#ifndef XC_SLAB_H
#define XC_SLAB_H

#include "heap/blocks/window.h"

struct xc_slab {
	struct xc_window *window;
	xc_addr lo;
	uint64_t size, count; /* of its blocks */
	uint8_t *free;        /* byte per block: it is free */
};

/* A list being followed. */
struct xc_slab_list {
	xc_addr at, next;  /* the link that was last read, and where it leads: 0 when the list ended */
	uint64_t found;    /* blocks on it */
	const char *wrong; /* why it was followed no further; NULL */
};

/* Mark what a list leads to as free: it begins with the link at list->at, which leads to list->next, and has at most `most` blocks. */
void xc_slab_follow(struct xc_slab *slab, struct xc_slab_list *list, uint64_t most);

/* `missing` blocks are free that no list led to: mark the only chain of blocks that are not free, ends by 0 and has that
 * length. False when there is none, or several. */
bool xc_slab_resume(struct xc_slab *slab, uint64_t missing);

#endif
