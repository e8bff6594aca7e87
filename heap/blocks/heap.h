/* heap: all memory that the allocators of a process have handed out, and what is known about it.
 *
 * This header has the data: arenas, regions, damage and the table of blocks. session.h opens a heap; blocks.h
 * describes the table. */
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

/* An arena of an allocator: blocks that are managed together. */
struct xc_heap_arena {
	const struct xc_allocator *allocator;
	const char *name;     /* "main arena", "arena 3", "mmapped" */
	xc_addr addr;         /* address of its state (malloc_state); 0 if it has none */
	uint64_t size;        /* bytes of its state, which holds no pointers of the program; 0 if unknown */
	uint64_t system;      /* bytes obtained from the system, by its own account; 0 if unknown */
	const char *evidence; /* how it and its layout were found: "symbol main_arena; top at 0x60 …"; or NULL */
};

/* A range of memory that an allocator manages: a heap segment, one mmapped chunk, a slab. Every block lies in a
 * region. The bytes of a region outside blocks are overhead. */
struct xc_region {
	xc_addr lo, hi;   /* inclusive */
	uint32_t arena;   /* index */
	const char *what; /* "brk heap", "heap of arena 2", "mmapped chunk", "extent", …; static */
};

enum xc_damage_kind {
	XC_DAMAGE_BOOKS,  /* the allocator's own state: counts, heads of lists, the top chunk; also any other damage */
	XC_DAMAGE_HEADER, /* a block's header, mostly overwritten by an overrun of the previous block */
	XC_DAMAGE_LINK,   /* a link or key of a free block: a write after free */
	XC_DAMAGE_TWICE,  /* a block is in two lists, or twice in one: a double free */
};

/* A place where metadata break a rule. */
struct xc_damage {
	enum xc_damage_kind kind;
	xc_addr addr;             /* of the chunk (its header) or of other metadata */
	const char *what;         /* the broken rule, with numbers: "size 0x4141414141414140 reaches past …" */
	const char *expected;     /* the correct value, if known: "0x50, as the chunk after it says"; or NULL */
	const char *found;        /* the metadata decoded: "prev_size 0x41…, size 0x41… (flags M|P)"; or NULL */
	xc_addr lost_lo, lost_hi; /* the range whose blocks could not be found; lo > hi: none */
	uint32_t arena;
	uint32_t before; /* HEADER: the overrun block, which ends where the damage begins; XC_NO_BLOCK if unknown */
};

struct xc_heap {
	const struct xc_process *process;
	struct xc_arena memory; /* owns names, texts and small arrays */
	unsigned jobs;
	struct xc_progress *progress; /* while the heap is opened or analyzed; may be NULL */
	struct xc_blocks blocks;
	struct xc_heap_arena *arenas;
	size_t arena_count, arena_capacity;
	struct xc_region *regions; /* in address order after opening */
	size_t region_count, region_capacity;
	struct xc_damage *damages;                            /* in address order after opening */
	size_t damage_count, damage_capacity, damage_dropped; /* XC_DAMAGES are kept */
	struct xc_heap_part *parts;                           /* the allocators in use (allocator.h) */
	size_t part_count;
	struct xc_audit_coverage *audit_coverage; /* of audit.c; NULL until requested */
	/* While pieces are walked: metadata may claim far more blocks than there is memory. */
	uint64_t blocks_walked, most_blocks;
	size_t pieces_dropped;
	uint64_t unmapped;         /* lower bound: bytes of blocks with own mappings that were freed */
	uint64_t largest_unmapped; /* the largest of them; 0: not known */
	const char *why;           /* why an allocator that seems present could not be read; or NULL */
	bool outdated;
	struct xc_heap *older;                    /* the heap that this one replaced; mostly NULL */
	struct xc_claims *claims;                 /* of claim.c; NULL if there are none */
	struct xc_graph *graph;                   /* of graph.c, typing.c, retention.c; NULL until requested */
	struct xc_misaligned *misaligned;         /* of misaligned.h; NULL if there are none */
	struct xc_stale_ranges *stale_ranges;     /* of stale_range.h; NULL if there are none */
	struct xc_inner_pointers *inner_pointers; /* of inner_pointer.h; NULL if there are none */
	struct xc_typing *typing;
	struct xc_retention *retention;
	const struct xc_evidence *const *evidence; /* for typing, ends with NULL; set by session.c, may be NULL */
	size_t most_items;                         /* limit of typing; 0: its default. For tests */
};

enum { XC_DAMAGES = 10000 };

/* Why there are no blocks; NULL if there are some. */
const char *xc_heap_why_empty(const struct xc_heap *heap);

/* ---- for allocators, while the heap is being opened ---- */

/* Add one. Strings that are not static are copied. xc_heap_add_arena returns the index. */
uint32_t xc_heap_add_arena(struct xc_heap *heap, const struct xc_heap_arena *arena);
void xc_heap_add_region(struct xc_heap *heap, const struct xc_region *region);
void xc_heap_add_damage(struct xc_heap *heap, const struct xc_damage *damage);

/* ---- asking ---- */

/* The region that contains an address, or NULL. O(log n). */
const struct xc_region *xc_heap_region(const struct xc_heap *heap, xc_addr addr);

/* Is the memory missing in the core? True if the program could write to it and its first or last byte is not in the
 * core: a pointer to it is no sign of damage. False if nothing was mapped there or it was not writable. */
bool xc_heap_is_lost(const struct xc_heap *heap, xc_addr addr, uint64_t size);

/* Do damaged headers hide which blocks there are at an address? A block there is one of unknown size. */
bool xc_heap_blocks_lost(const struct xc_heap *heap, xc_addr addr);

/* Totals of a heap, by state. */
struct xc_heap_totals {
	uint64_t count[XC_BLOCK_STATES], bytes[XC_BLOCK_STATES];
	uint64_t managed; /* bytes of all regions */
};

struct xc_heap_totals xc_heap_totals(const struct xc_heap *heap);

#endif
