/* jemalloc_impl: what the files of jemalloc's walker share. Private.
 *
 *	base blocks (jemalloc_base.c)    jemalloc's own data: records, nodes of the tree, arenas
 *	radix tree (jemalloc_tree.c)     page → extent's record, for every extent there is
 *	extents    (jemalloc_extent.c)   their records: address, size, class, state; layout by votes
 *	bins       (jemalloc_bins.c)     the blocks that a cache holds
 *	caches     (jemalloc_cache.c)    where the caches of threads are
 *	blocks     (jemalloc.c)          regions of slabs and large extents */
#ifndef XC_JEMALLOC_IMPL_H
#define XC_JEMALLOC_IMPL_H

#include "heap/blocks/allocator.h"

enum {
	XC_JEMALLOC_TREES = 8,     /* copies of jemalloc in one process: a library's, a Rust crate's */
	XC_JEMALLOC_LEVELS = 3,    /* of a radix tree, at most */
	XC_JEMALLOC_CLASSES = 256, /* the class of an extent has 8 bits */
};

/* ---- base blocks ---- */

struct xc_jemalloc_base {
	xc_addr lo, hi;
};

struct xc_jemalloc;

/* Fill je->bases: the blocks that hold a record of an extent or a leaf. */
void xc_jemalloc_find_bases(struct xc_jemalloc *je);

/* Does the address lie in a base block? O(log n). */
bool xc_jemalloc_is_own(const struct xc_jemalloc *je, xc_addr addr);

/* ---- the radix tree ---- */

/* How a tree cuts an address: | not used | bits[0] | … | lg_page |. */
struct xc_jemalloc_geometry {
	uint8_t vaddr;   /* significant bits of an address */
	uint8_t lg_page; /* 12: pages of 4 KiB */
	uint8_t levels;  /* 2 or 3 */
	uint8_t bits[XC_JEMALLOC_LEVELS];
	uint8_t entry; /* bytes of an entry of a leaf: 8 where class and flags fit beside the pointer, else 16 */
};

/* An array of entries, one for each page from `key` on. */
struct xc_jemalloc_leaf {
	xc_addr key, addr;
};

struct xc_jemalloc_tree {
	struct xc_jemalloc_geometry geometry;
	xc_addr root;
	struct xc_module *module;        /* in whose data the root lies */
	const char *prefix;              /* of its symbols: "je_"; NULL when it has none */
	struct xc_jemalloc_leaf *leaves; /* in order of their keys; owned */
	size_t leaf_count, leaf_capacity;
	size_t bad_nodes; /* pointers to nodes that cannot be */
};

/* What a leaf says of one page. */
struct xc_jemalloc_entry {
	xc_addr key;   /* of the page */
	xc_addr edata; /* the record of its extent, not 0 */
	uint64_t rest; /* the other bits of an entry: class and flags */
};

/* Call `each` with every entry, in order of the pages. unreadable_out gets the bytes of leaves that cannot be read. */
typedef void xc_jemalloc_entry_fn(void *context, const struct xc_jemalloc_entry *entry);
void xc_jemalloc_each_entry(const struct xc_space *space, const struct xc_jemalloc_tree *tree,
			    xc_jemalloc_entry_fn *each, void *context, uint64_t *unreadable_out);

/* ---- extents ---- */

enum xc_jemalloc_state { XC_JEMALLOC_ACTIVE, XC_JEMALLOC_DIRTY, XC_JEMALLOC_MUZZY, XC_JEMALLOC_RETAINED };

/* Where the fields of an extent's record lie. The same in all: bits at 0, address at 8, size at 16. */
struct xc_jemalloc_layout {
	uint8_t szind_shift, state_bits, nfree_shift; /* in its bits; arena in bits 0 to 11, slab in 12 */
	uint8_t leaf_form;                            /* how leaves tell the class: enum in jemalloc_extent.c */
	uint16_t bitmap;                              /* offset of a slab's bitmap */
	uint8_t lg_quantum;
	uint64_t sizes[XC_JEMALLOC_CLASSES]; /* of the classes; 0: no such class */
	unsigned class_count;
	uint64_t page;
};

struct xc_jemalloc_extent {
	xc_addr addr;   /* as the record says: large ones may begin within their first page */
	xc_addr edata;  /* where the record lies */
	uint64_t size;  /* whole pages */
	uint16_t arena; /* as the record numbers it */
	uint16_t nfree;
	uint8_t szind, state, tree;
	bool slab : 1;
	bool doubtful : 1; /* its record is damaged: what is known of it comes from the leaves */
};

struct xc_jemalloc {
	struct xc_heap *heap;
	struct xc_jemalloc_base *bases; /* in order; owned */
	size_t base_count;
	struct xc_jemalloc_tree trees[XC_JEMALLOC_TREES];
	struct xc_jemalloc_layout layouts[XC_JEMALLOC_TREES];
	char *evidence[XC_JEMALLOC_TREES]; /* owned */
	size_t tree_count;
	struct xc_jemalloc_extent *extents; /* in address order, without overlaps */
	size_t extent_count, extent_capacity;
	uint64_t *caches; /* addresses of the arrays of bins that were read; owned */
	size_t cache_count, cache_capacity;
	uint64_t *cached; /* blocks that threads keep, in order; owned */
	size_t cached_count, cached_capacity;
	uint64_t *internal; /* blocks that jemalloc uses itself, in order; owned */
	size_t internal_count, internal_capacity;
	uint64_t *pieces; /* of work: first extent of each, and one behind the last; owned */
	size_t piece_count;
	uint32_t *arenas; /* of the heap, by tree and number; owned */
};

/* Find the trees of all modules, by symbols and by shape, into je->trees. Returns how many. why_out gets a reason when a symbol
 * promises a tree that cannot be read. */
size_t xc_jemalloc_find_trees(struct xc_jemalloc *je, const char **why_out);

/* Read all extents of a tree. False, with a reason, when its records make no sense. */
bool xc_jemalloc_read_extents(struct xc_jemalloc *je, size_t tree, const char **why_out);

/* The extent that an address lies in, or NULL. O(log n). */
const struct xc_jemalloc_extent *xc_jemalloc_extent_at(const struct xc_jemalloc *je, xc_addr addr);

/* Size of its blocks, 0 when it has none; and how many it has. */
uint64_t xc_jemalloc_block_size(const struct xc_jemalloc *je, const struct xc_jemalloc_extent *extent);
unsigned xc_jemalloc_block_count(const struct xc_jemalloc *je, const struct xc_jemalloc_extent *extent);

/* Words of a slab's bitmap: a set bit is a free region. False when they cannot be read. */
enum { XC_JEMALLOC_BITMAP = 128 }; /* words: a page of 64 KiB has 8,192 regions */
bool xc_jemalloc_bitmap(const struct xc_jemalloc *je, const struct xc_jemalloc_extent *extent,
			uint64_t words[XC_JEMALLOC_BITMAP]);

/* ---- bins ---- */

/* The block in use that an address lies in, and its class; false when there is none. */
bool xc_jemalloc_block_at(const struct xc_jemalloc *je, xc_addr addr, xc_addr *block_out, unsigned *class_out);

/* The block at `addr`, if there is one, is jemalloc's own. */
void xc_jemalloc_add_internal(struct xc_jemalloc *je, xc_addr addr);

/* Search memory, copied from `addr`, for the bins of one cache, and take what they hold. False when it has none, or when they were
 * read before. */
bool xc_jemalloc_search_bins(struct xc_jemalloc *je, xc_addr addr, const uint8_t *bytes, size_t len);

/* ---- caches ---- */

/* Find what the threads keep: fills cached and internal. */
void xc_jemalloc_read_caches(struct xc_jemalloc *je);

/* ---- reading ---- */

/* Bytes of the target: a pointer to them, or a copy in buf, or NULL. */
static inline const uint8_t *xc_jemalloc_peek(const struct xc_space *space, xc_addr addr, void *buf, size_t len)
{
	const uint8_t *bytes = xc_space_view(space, addr, len);
	return bytes ? bytes : xc_space_peek(space, addr, buf, len) == len ? buf : NULL;
}

static inline uint64_t xc_jemalloc_word(const uint8_t *bytes)
{
	uint64_t word;
	__builtin_memcpy(&word, bytes, sizeof word);
	return word;
}

#endif
