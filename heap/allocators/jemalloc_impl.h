/* jemalloc_impl: shared by the files of jemalloc's walker.
 *
 *	base blocks (jemalloc_base.c)    jemalloc's own data: records, nodes of the tree, arenas
 *	radix tree (jemalloc_tree.c)     page → extent's record, for every extent
 *	extents    (jemalloc_extent.c)   their records: address, size, class, state; layout by votes
 *	bins       (jemalloc_bins.c)     the blocks in a cache
 *	caches     (jemalloc_cache.c)    the places of the caches
 *	blocks     (jemalloc.c)          regions of slabs and large extents */
#ifndef XC_JEMALLOC_IMPL_H
#define XC_JEMALLOC_IMPL_H

#include "heap/blocks/allocator.h"

enum {
	XC_JEMALLOC_TREES = 8,     /* copies of jemalloc in one process, as in a library or a Rust crate */
	XC_JEMALLOC_LEVELS = 3,    /* of a radix tree, maximum */
	XC_JEMALLOC_CLASSES = 256, /* the class of an extent has 8 bits */
};

/* ---- base blocks ---- */

struct xc_jemalloc_base {
	xc_addr lo, hi;
};

struct xc_jemalloc;

/* Fills je->bases: the blocks that hold a record of an extent or a leaf. */
void xc_jemalloc_find_bases(struct xc_jemalloc *je);

/* Does the address lie in a base block? O(log n). */
bool xc_jemalloc_is_own(const struct xc_jemalloc *je, xc_addr addr);

/* ---- the radix tree ---- */

/* How a tree divides an address: | not used | bits[0] | … | lg_page |. */
struct xc_jemalloc_geometry {
	uint8_t vaddr;   /* significant bits of an address */
	uint8_t lg_page; /* 12: pages of 4 KiB */
	uint8_t levels;  /* 2 or 3 */
	uint8_t bits[XC_JEMALLOC_LEVELS];
	uint8_t entry; /* bytes of an entry of a leaf: 8 if class and flags fit beside the pointer, else 16 */
};

/* An array of entries, one for each page from `key` on. */
struct xc_jemalloc_leaf {
	xc_addr key, addr;
};

struct xc_jemalloc_tree {
	struct xc_jemalloc_geometry geometry;
	xc_addr root;
	struct xc_module *module;        /* the module whose data contain the root */
	const char *prefix;              /* prefix of its symbols: "je_"; NULL if there is none */
	struct xc_jemalloc_leaf *leaves; /* in order of their keys; owned */
	size_t leaf_count, leaf_capacity;
	size_t bad_nodes; /* impossible pointers to nodes */
};

/* The entry of a leaf for one page. */
struct xc_jemalloc_entry {
	xc_addr key;   /* of the page */
	xc_addr edata; /* the record of its extent, not 0 */
	uint64_t rest; /* the other bits of an entry: class and flags */
};

/* Calls `each` with every entry, in the order of pages. Sets *unreadable_out to the bytes of unreadable leaves. */
typedef void xc_jemalloc_entry_fn(void *context, const struct xc_jemalloc_entry *entry);
void xc_jemalloc_each_entry(const struct xc_space *space, const struct xc_jemalloc_tree *tree,
			    xc_jemalloc_entry_fn *each, void *context, uint64_t *unreadable_out);

/* ---- extents ---- */

enum xc_jemalloc_state { XC_JEMALLOC_ACTIVE, XC_JEMALLOC_DIRTY, XC_JEMALLOC_MUZZY, XC_JEMALLOC_RETAINED };

/* The layout of an extent's record. Common to all: bits at 0, address at 8, size at 16. */
struct xc_jemalloc_layout {
	uint8_t szind_shift, state_bits, nfree_shift; /* in its bits; arena in bits 0 to 11, slab in 12 */
	uint8_t leaf_form;                            /* the place of the class in leaves: enum in jemalloc_extent.c */
	uint16_t bitmap;                              /* offset of a slab's bitmap */
	uint8_t lg_quantum;
	uint64_t sizes[XC_JEMALLOC_CLASSES]; /* of the classes; 0: no such class */
	unsigned class_count;
	uint64_t page;
};

struct xc_jemalloc_extent {
	xc_addr addr;   /* of the record: large ones may begin inside their first page */
	xc_addr edata;  /* address of the record */
	uint64_t size;  /* whole pages */
	uint16_t arena; /* number of the arena in the record */
	uint16_t nfree;
	uint8_t szind, state, tree;
	bool slab : 1;
	bool doubtful : 1; /* the record is damaged; values come from the leaves */
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
	uint64_t *caches; /* addresses of the arrays of bins already read; owned */
	size_t cache_count, cache_capacity;
	uint64_t *cached; /* blocks in caches, in order; owned */
	size_t cached_count, cached_capacity;
	uint64_t *internal; /* blocks that jemalloc uses itself, in order; owned */
	size_t internal_count, internal_capacity;
	uint64_t *pieces; /* of work: first extent of each, and the end of the last; owned */
	size_t piece_count;
	uint32_t *arenas; /* of the heap, by tree and number; owned */
};

/* Finds the trees of all modules, by symbols and by shape, into je->trees. Returns their number. why_out gets a
 * reason if a symbol exists but its tree cannot be read. */
size_t xc_jemalloc_find_trees(struct xc_jemalloc *je, const char **why_out);

/* Reads all extents of a tree. False, with a reason, if its records make no sense. */
bool xc_jemalloc_read_extents(struct xc_jemalloc *je, size_t tree, const char **why_out);

/* The extent that contains an address, or NULL. O(log n). */
const struct xc_jemalloc_extent *xc_jemalloc_extent_at(const struct xc_jemalloc *je, xc_addr addr);

/* The size of an extent's blocks (0 if it has none) and their number. */
uint64_t xc_jemalloc_block_size(const struct xc_jemalloc *je, const struct xc_jemalloc_extent *extent);
unsigned xc_jemalloc_block_count(const struct xc_jemalloc *je, const struct xc_jemalloc_extent *extent);

/* The words of a slab's bitmap; a set bit is a free region. False if they cannot be read. */
enum { XC_JEMALLOC_BITMAP = 128 }; /* words: a page of 64 KiB has 8,192 regions */
bool xc_jemalloc_bitmap(const struct xc_jemalloc *je, const struct xc_jemalloc_extent *extent,
			uint64_t words[XC_JEMALLOC_BITMAP]);

/* ---- bins ---- */

/* The block in use that contains an address, and its class. False if there is none. */
bool xc_jemalloc_block_at(const struct xc_jemalloc *je, xc_addr addr, xc_addr *block_out, unsigned *class_out);

/* Records that the block at `addr`, if there is one, is jemalloc's own. */
void xc_jemalloc_add_internal(struct xc_jemalloc *je, xc_addr addr);

/* Searches memory, copied from `addr`, for the bins of one cache, and takes what they hold. False if there are
 * none, or if they were read before. */
bool xc_jemalloc_search_bins(struct xc_jemalloc *je, xc_addr addr, const uint8_t *bytes, size_t len);

/* ---- caches ---- */

/* Finds the caches of all threads; fills je->cached and je->internal. */
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
