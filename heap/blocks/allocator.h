/* allocator: what every malloc has in common, for those who teach xcore another one.
 *
 * An allocator is one const table in a file of its own, and a name in XC_ALLOCATORS below. Opening a heap has these steps:
 *
 *	detect    one thread     find the allocator's state; add arenas and regions; cut the work in pieces
 *	walk      many threads   blocks of one piece into a list; damage is noted beside the list
 *	join      one thread     pieces that do not fit together are put right
 *	settle    one thread     the table of blocks stands: correct states (free lists, caches), add damages
 *
 * Layouts are derived from the target's memory and debug information, never from the version alone; what was
 * decided and why goes into the evidence of the arenas. All memory is hostile: loops are bounded by the number of blocks that a
 * range can hold. */
#ifndef XC_ALLOCATOR_H
#define XC_ALLOCATOR_H

#include "core/base/text.h"
#include "heap/blocks/heap.h"
#include "heap/blocks/window.h"

/* What a walker found in one piece. */
struct xc_walk {
	const struct xc_heap *heap;
	void *state; /* the allocator's */
	struct xc_window window;
	struct xc_block_list blocks; /* to be initialised by walk with a bound of its own */
	struct xc_damage *damages;   /* by xc_walk_add_damage */
	size_t damage_count, damage_capacity;
	struct xc_arena memory; /* of its texts, moved to the heap */
};

/* Note a damage; texts are of walk->memory or static. `before` may be left XC_NO_BLOCK: the heap finds the block that ends at
 * or before addr. */
void xc_walk_add_damage(struct xc_walk *walk, const struct xc_damage *damage);

/* What an audit looked at. */
struct xc_audit_coverage {
	uint64_t lists, links, caches, cached;
	unsigned looks; /* of a running process (damage_confirm.h); 0: one */
	size_t passing; /* places that not all of them found damaged */
};

/* Blocks that stand behind a header, where what is written past the end of the block before is seen. */
enum xc_headers {
	XC_HEADERS_NONE,
	XC_HEADERS_LIVE,
	XC_HEADERS_ALL,
};

struct xc_allocator {
	const char *name;             /* "glibc" */
	const char *checks;           /* what walking and audit compare, in words for `heap check` */
	enum xc_headers headers;      /* which are compared */
	const char *const *own_types; /* names of its types that keep free memory, ends with NULL; may be NULL */

	/* Is it in use? Returns its state (freed by fini), or NULL, and then why_out may get a reason worth telling (memory of
	 * the heap). *pieces_out gets the number of pieces of work. */
	void *(*detect)(struct xc_heap *heap, size_t *pieces_out, const char **why_out);
	void (*walk)(struct xc_walk *walk, size_t piece);
	/* One thread, when all pieces are walked and before they become one table: correct them. May be NULL. */
	void (*join)(struct xc_walk *const *walks, size_t count);
	void (*settle)(struct xc_heap *heap, void *state); /* may be NULL */
	void (*fini)(void *state);

	/* Look at what walking does not: links, caches, counts; add damages and count what was looked at. May be NULL. */
	void (*audit)(struct xc_heap *heap, void *state, struct xc_audit_coverage *audit_coverage);

	/* Append one line about the metadata of a block: "chunk 0x55…: size 0x70, PREV_INUSE". May be NULL. */
	void (*explain)(const struct xc_heap *heap, void *state, uint32_t block, struct xc_text *text);

	/* Could a block of `size` usable bytes be the answer to a request for `wanted` bytes (1 to size)? `word`: bytes of an address.
	 * `may_fit` has the rare cases beside those. Either may be NULL; without `fits` a request fits when less than 16 bytes, or at
	 * most a fifth of the block, is left over. */
	bool (*fits)(uint64_t wanted, uint64_t size, unsigned word);
	bool (*may_fit)(uint64_t wanted, uint64_t size, unsigned word);
};

struct xc_heap_part {
	const struct xc_allocator *allocator;
	void *state;
	size_t pieces;
};

/* The list of allocators, in the order in which they are looked for. A new one is one table in a file of its own, and its name here. */
#define XC_ALLOCATORS(EACH) EACH(glibc) EACH(jemalloc) EACH(mallocng) EACH(tcmalloc) EACH(mimalloc)

#define XC_DECLARE_ALLOCATOR(name) extern const struct xc_allocator xc_allocator_##name;
XC_ALLOCATORS(XC_DECLARE_ALLOCATOR)
#undef XC_DECLARE_ALLOCATOR

extern const struct xc_allocator *const xc_allocator_list[]; /* ends with NULL */

#endif
