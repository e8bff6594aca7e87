/* mallocng: musl's allocator since 1.2.1. Shared by the file that finds its groups and the one that reads their
 * slots. The layouts are in mallocng_find.c. */
#ifndef XC_MALLOCNG_IMPL_H
#define XC_MALLOCNG_IMPL_H

#include "heap/blocks/allocator.h"

enum {
	NG_UNIT = 16,    /* bytes; sizes and places are multiples of it */
	NG_HEADER = 4,   /* bytes before a block: its header; those at the end of a slot are the next one's */
	NG_CLASSES = 48, /* size classes */
	NG_SINGLE = 63,  /* the class of a mapping for one block */
	NG_PAGE = 4096,
	NG_SLOTS = 32, /* maximum of a group */
};

/* A group of slots of one size, according to its meta. */
struct ng_group {
	xc_addr meta, mem; /* of the struct meta; of the group itself */
	uint64_t stride;   /* bytes from slot to slot */
	uint64_t mapped;   /* bytes if it has its own mapping; 0: it is in a slot of another group, or donated */
	uint32_t free;     /* bit per slot */
	uint8_t count;     /* of slots */
	uint8_t size_class;
	bool damaged; /* its memory does not name the meta */
};

struct ng_state {
	xc_addr context;
	uint64_t secret;
	uint32_t arena;
	struct ng_group *groups; /* by mem; in a piece those within others follow them */
	size_t count, capacity;
	size_t *pieces; /* piece i: groups pieces[i] to pieces[i + 1] - 1 */
	size_t piece_count;
	bool lost; /* areas or groups are not in the core */
};

/* Bytes of a group with its header. */
static inline uint64_t ng_extent(const struct ng_group *group)
{
	return group->mapped ? group->mapped : NG_UNIT + group->stride * group->count;
}

/* Finds the context and all groups; adds the arena, regions and damage. False if musl's allocator is not in use;
 * why_out may then get a reason. */
bool ng_find(struct xc_heap *heap, struct ng_state *state, const char **why_out);

#endif
