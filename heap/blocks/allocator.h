/* allocator: the interface of an allocator, for those who add one.
 *
 * An allocator is one const table in a file of its own, and a name in XC_ALLOCATORS below. Opening a heap has these
 * steps:
 *
 *	detect    one thread     find the allocator's state; add arenas and regions; divide the work into pieces
 *	walk      many threads   put the blocks of one piece into a list; record damage beside the list
 *	join      one thread     reconcile pieces that do not fit together
 *	settle    one thread     the table of blocks is complete: correct states (free lists, caches), add damage
 *
 * Layouts are derived from the target's memory and debug information, never from the version alone. The evidence of
 * the arenas records each decision and its reason. All memory is untrusted: the number of blocks that a range can
 * hold bounds every loop. */
#ifndef XC_ALLOCATOR_H
#define XC_ALLOCATOR_H

#include "core/base/text.h"
#include "heap/blocks/heap.h"
#include "heap/blocks/window.h"

/* The result of walking one piece. */
struct xc_walk {
	const struct xc_heap *heap;
	void *state; /* the allocator's state */
	struct xc_window window;
	struct xc_block_list blocks; /* initialised by walk, with its own bound */
	struct xc_damage *damages;   /* added by xc_walk_add_damage */
	size_t damage_count, damage_capacity;
	struct xc_arena memory; /* owns the texts; moved to the heap */
};

/* Records damage. Texts are in walk->memory or static. `before` may be XC_NO_BLOCK: the heap then finds the block
 * that ends at or before addr. */
void xc_walk_add_damage(struct xc_walk *walk, const struct xc_damage *damage);

/* Counts of what an audit examined. */
struct xc_audit_coverage {
	uint64_t lists, links, caches, cached;
	unsigned looks; /* passes over a running process (damage_confirm.h); 0: one */
	size_t passing; /* places that only some passes found damaged */
};

/* Which blocks have a header in front of them, where an overrun of the previous block is visible. */
enum xc_headers {
	XC_HEADERS_NONE,
	XC_HEADERS_LIVE,
	XC_HEADERS_ALL,
};

struct xc_allocator {
	const char *name;             /* "glibc" */
	const char *checks;           /* what walk and audit compare, as text for `heap check` */
	enum xc_headers headers;      /* the headers that are compared */
	bool leaves_links;            /* a new block begins with the plain address of the free block behind it */
	const char *const *own_types; /* names of its types that hold free memory, ends with NULL; may be NULL */

	/* Detects the allocator. Returns its state (freed by fini), or NULL if the allocator is not in use; why_out
	 * may then get a reason to report (in the heap's memory). *pieces_out gets the number of pieces of work. */
	void *(*detect)(struct xc_heap *heap, size_t *pieces_out, const char **why_out);
	void (*walk)(struct xc_walk *walk, size_t piece);
	/* Corrects the pieces in one thread, after all of them are walked and before they become one table. May be
	 * NULL. */
	void (*join)(struct xc_walk *const *walks, size_t count);
	void (*settle)(struct xc_heap *heap, void *state); /* may be NULL */
	void (*fini)(void *state);

	/* Examines what walk does not: links, caches, counts. Adds damage and counts what was examined. May be
	 * NULL. */
	void (*audit)(struct xc_heap *heap, void *state, struct xc_audit_coverage *audit_coverage);

	/* Appends one line about the metadata of a block: "chunk 0x55…: size 0x70, PREV_INUSE". May be NULL. */
	void (*explain)(const struct xc_heap *heap, void *state, uint32_t block, struct xc_text *text);

	/* Can a block of `size` usable bytes be the result of a request for `wanted` bytes (1 to size)? `word` is
	 * the size of an address in bytes. `may_fit` covers rare cases in addition. Either may be NULL. Without
	 * `fits`, a request fits if it leaves less than 16 bytes, or at most a fifth of the block, unused. */
	bool (*fits)(uint64_t wanted, uint64_t size, unsigned word);
	bool (*may_fit)(uint64_t wanted, uint64_t size, unsigned word);
};

struct xc_heap_part {
	const struct xc_allocator *allocator;
	void *state;
	size_t pieces;
};

/* The list of allocators, in the order of detection. To add one, write one table in a file of its own and add its
 * name here. */
#define XC_ALLOCATORS(EACH) EACH(glibc) EACH(jemalloc) EACH(mallocng) EACH(tcmalloc) EACH(mimalloc)

#define XC_DECLARE_ALLOCATOR(name) extern const struct xc_allocator xc_allocator_##name;
XC_ALLOCATORS(XC_DECLARE_ALLOCATOR)
#undef XC_DECLARE_ALLOCATOR

extern const struct xc_allocator *const xc_allocator_list[]; /* ends with NULL */

#endif
