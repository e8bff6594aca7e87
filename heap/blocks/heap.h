/* heap: all memory that the allocators of a process have handed out, and what is known about it.
 *
 * This header has the data: arenas, regions, damage and the table of blocks. session.h opens a heap, blocks.h describes the table. */
#ifndef XC_HEAP_H
#define XC_HEAP_H

#include "core/base/arena.h"
#include "core/base/error.h"
#include "core/process/process.h"
#include "core/base/progress.h"
#include "heap/blocks/blocks.h"

struct xc_allocator;
struct xc_graph;
struct xc_typing;
struct xc_retention;
struct xc_claims;
struct xc_audit_coverage;
struct xc_evidence;

/* An arena as its allocator knows it: blocks that are managed together. */
struct xc_heap_arena {
	const struct xc_allocator *allocator;
	const char *name; /* "main arena", "arena 3", "mmapped" */
	xc_addr addr;     /* of its state (malloc_state), 0 when it has none */
	uint64_t size;    /* bytes of its state: what it points to is not the program's; 0 when unknown */
	uint64_t system;  /* bytes it has from the system, by its own account; 0 when it does not say */
	const char *
		evidence; /* how it was found and its layout known: "symbol main_arena; top at 0x60 (12 of 12 arenas)"; may be NULL */
};

/* A range of memory that an allocator manages: a heap segment, one mmapped chunk, a slab. Every block lies in one; what is
 * in no block there is overhead. */
struct xc_region {
	xc_addr lo, hi;   /* inclusive */
	uint32_t arena;   /* index */
	const char *what; /* "brk heap", "heap of arena 2", "mmapped chunk", "extent", …; static */
};

enum xc_damage_kind {
	XC_DAMAGE_BOOKS, /* the allocator's own state: counts, heads of lists, the top chunk; what is of no other kind */
	XC_DAMAGE_HEADER, /* a block's header: mostly by what was written past the end of the block before */
	XC_DAMAGE_LINK,   /* a link or key of a free block: written to after it was freed */
	XC_DAMAGE_TWICE,  /* a block is in two lists, or twice in one: freed twice */
};

/* A place where metadata are not what they must be. */
struct xc_damage {
	enum xc_damage_kind kind;
	xc_addr addr; /* of the chunk (its header) or other metadata */
	const char *
		what; /* the rule that is broken, with numbers: "size 0x4141414141414140 reaches past the end of the heap" */
	const char *expected;     /* what it should be, when that is known: "0x50, as the chunk behind says"; or NULL */
	const char *found;        /* the metadata decoded: "prev_size 0x41…, size 0x41… (flags M|P)"; or NULL */
	xc_addr lost_lo, lost_hi; /* the range whose blocks could not be found; lo > hi: none */
	uint32_t arena;
	uint32_t
		before; /* HEADER: the block that ends where the damage begins: it was written past its end; XC_NO_BLOCK when unknown */
};

struct xc_heap {
	const struct xc_process *process;
	struct xc_arena memory; /* of names, texts and small arrays */
	unsigned jobs;
	struct xc_progress *progress; /* while it is being opened or asked; may be NULL */
	struct xc_blocks blocks;
	struct xc_heap_arena *arenas;
	size_t arena_count, arena_capacity;
	struct xc_region *regions; /* in address order once open */
	size_t region_count, region_capacity;
	struct xc_damage *damages;                            /* in address order once open */
	size_t damage_count, damage_capacity, damage_dropped; /* XC_DAMAGES are kept */
	struct xc_heap_part *parts;                           /* the allocators in use; allocator.h */
	size_t part_count;
	struct xc_audit_coverage *audit_coverage; /* of audit.c: NULL until asked for */
	uint64_t blocks_walked,
		most_blocks; /* while pieces are walked: metadata may claim far more than there is memory */
	size_t pieces_dropped;
	uint64_t unmapped; /* bytes of blocks with mappings of their own that were given back, at the least */
	const char *why;   /* why an allocator that seems to be there could not be read; NULL */
	bool outdated;
	struct xc_heap *older;    /* that this one took the place of; NULL for most */
	struct xc_claims *claims; /* of claim.c; NULL when there are none */
	struct xc_graph *graph;   /* of graph.c, typing.c, retention.c: NULL until asked for */
	struct xc_typing *typing;
	struct xc_retention *retention;
	const struct xc_evidence *const *evidence; /* for typing, ends with NULL; set by session.c, may be NULL */
	size_t most_items;                         /* of typing; 0: as many as it is made for. For tests */
};

enum { XC_DAMAGES = 10000 };

/* Why there are no blocks; NULL when there are some. */
const char *xc_heap_why_empty(const struct xc_heap *heap);

/* ---- for allocators, while the heap is being opened ---- */

/* Add one; strings are copied where they are not static. Returns its index. */
uint32_t xc_heap_add_arena(struct xc_heap *heap, const struct xc_heap_arena *arena);
void xc_heap_add_region(struct xc_heap *heap, const struct xc_region *region);
void xc_heap_add_damage(struct xc_heap *heap, const struct xc_damage *damage);

/* ---- asking ---- */

/* The region that holds an address, or NULL. O(log n). */
const struct xc_region *xc_heap_region(const struct xc_heap *heap, xc_addr addr);

/* Was this memory the program's to write, and is its first or last byte not in the core? What leads there says nothing of damage. Where
 * nothing was mapped, or what nobody could write to, is not lost. */
bool xc_heap_is_lost(const struct xc_heap *heap, xc_addr addr, uint64_t size);

/* Totals over a range of states. */
struct xc_heap_totals {
	uint64_t count[XC_BLOCK_STATES], bytes[XC_BLOCK_STATES];
	uint64_t managed; /* bytes of all regions */
};

struct xc_heap_totals xc_heap_totals(const struct xc_heap *heap);

#endif
