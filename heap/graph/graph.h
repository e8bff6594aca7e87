/* graph: blocks, the pointers between them, and the roots that keep them alive.
 *
 * Every aligned word of a live block whose value lies in another live block (interior addresses included) is an
 * edge. Every such word outside the heap is a root. Free blocks have no edges: their content is history. Edges are
 * kept in compressed rows: those of block b are to[start[b]] … to[start[b + 1] - 1], in the order of their words.
 * Offsets are not stored; another read of the block gives them. Making the rows reads all live blocks once, in
 * parallel. They cost 4 bytes a block and 4 bytes an edge, and the same again for the reverse direction. */
#ifndef XC_GRAPH_H
#define XC_GRAPH_H

#include "core/base/text.h"
#include "heap/blocks/heap.h"
#include "heap/graph/roots.h"

#define XC_EDGE_INTERIOR 0x80000000U /* in an edge: it points into the middle of the block, by no known type */

/* A root on a stack, in a variable that is not in scope any more, or not yet; or below the frame of a function that
 * calls others; or in a register that a system call leaves to nobody. The names live as long as the process. */
struct xc_stale_slot {
	uint32_t block;       /* the target */
	uint32_t root;        /* index */
	const char *variable; /* NULL: it is below the frame, or a register */
	const char *function; /* NULL: not known */
};

struct xc_graph {
	const struct xc_heap *heap;
	struct xc_root *roots; /* by kind, then by address; roots.h says which are kept */
	size_t root_count;
	struct xc_root_ranges ranges; /* where they were searched */
	uint64_t missing_roots;       /* unreadable bytes that may hold roots: apparent leaks may be none */
	uint64_t missing_blocks;      /* bytes of live blocks that could not be read */
	size_t disguised_count;       /* edges and roots that are disguised pointers */
	size_t threads_without_regs;  /* their whole stacks are roots */
	uint32_t *start, *to;         /* forward rows; to has XC_EDGE_INTERIOR in it */
	uint32_t *back_start, *back;  /* the reverse direction, without flags; NULL until xc_graph_back */
	size_t edge_count;
	uint64_t *reached; /* a bit for each block: reached from a root by any chain of pointers */
	uint64_t *surely;  /* a bit for each block: reached by pointers to beginnings, or to parts of objects, only */
	uint64_t *stale;   /* a bit for each block: its one pointer may be stale (graph_stale.c); NULL: none */
	struct xc_stale_slot *slots; /* words of stacks that may be stale, by block; those that matter */
	size_t slot_count;
	struct xc_stale_word *words; /* of stale_range.h, by target; NULL: there are none */
	size_t word_count, edge_word_count;
	uint64_t *wordy;             /* a bit for each block: some of its edges are such words; NULL: none */
	uint64_t *firmly;            /* a bit for each block: reached without those; NULL: there are none */
	struct xc_reserve memory[5]; /* start, to, back_start, back, first_root */
	uint32_t *first_root;        /* by block: index of its best root + 1, or 0; NULL until a path is requested */
};

/* The graph with its roots and reachability; made on first use. At most 2^32 - 2 edges; more are an error
 * (XC_ERR_LIMIT). Plugins must have added their roots and edges before (claim.h). */
XC_MUST_CHECK struct xc_error *xc_graph_of(struct xc_heap *heap, struct xc_graph **graph_out);
void xc_graph_free(struct xc_graph *graph); /* NULL is fine */

/* Makes the reverse direction, once. */
void xc_graph_back(struct xc_graph *graph);

/* Arrays with a bit for each block, root, or other item; malloc'ed, zeroed. */
static inline uint64_t *xc_graph_bits(size_t count)
{
	return (uint64_t *)xc_alloc((count / 64 + 1) * sizeof(uint64_t));
}

static inline bool xc_graph_bit(const uint64_t *bits, uint32_t index)
{
	return bits[index >> 6] >> (index & 63) & 1;
}

static inline void xc_graph_set_bit(uint64_t *bits, uint32_t index)
{
	bits[index >> 6] |= UINT64_C(1) << (index & 63);
}

/* Disguised pointers have other bits around the address: in the payload of a NaN (boxed values of interpreters), a tag
 * or a counter in the upper 16 bits, or a counter in the lower 16. Such a word is no address, but programs that use it
 * keep a block alive. So what only such words lead to is possibly leaked, not leaked.
 *
 * The two addresses that a word may hold so; out[] is set in any case. False: it is a plain address, or a number as
 * small as one. */
static inline bool xc_disguised_addresses(uint64_t word, xc_addr out[2])
{
	enum { ADDRESS_BITS = 47, TAG_BITS = 16, LOW_TAGS = 7 };
	const uint64_t upper = word >> ADDRESS_BITS;
	out[0] = word & UINT64_MAX >> TAG_BITS & ~(uint64_t)LOW_TAGS;
	out[1] = word >> TAG_BITS & ~(uint64_t)LOW_TAGS;
	return upper != 0 && upper != UINT64_MAX >> ADDRESS_BITS;
}

/* Leaked: live and not reached from any root. Possibly leaked: reached, but every chain contains an interior
 * pointer (of those that inner_pointer.h does not explain) or a disguised one, or every chain contains a pointer that
 * may be stale. */
static inline bool xc_graph_leaked(const struct xc_graph *graph, uint32_t block)
{
	return xc_block_state(&graph->heap->blocks, block) == XC_BLOCK_LIVE && !xc_graph_bit(graph->reached, block);
}

static inline bool xc_graph_possibly_leaked(const struct xc_graph *graph, uint32_t block)
{
	return xc_graph_bit(graph->reached, block) &&
	       (!xc_graph_bit(graph->surely, block) || (graph->firmly && !xc_graph_bit(graph->firmly, block)));
}

/* How the others of them are reached: "only through pointers into the middle of blocks", also with other bits around
 * them if there are disguised pointers. */
static inline const char *xc_graph_only_interior(const struct xc_graph *graph)
{
	return graph->disguised_count
		       ? "only through pointers into the middle of blocks, or with other bits around them"
		       : "only through pointers into the middle of blocks";
}

/* Is it so because of pointers that may be stale? */
static inline bool xc_graph_only_stale(const struct xc_graph *graph, uint32_t block)
{
	return graph->firmly && xc_graph_bit(graph->reached, block) && !xc_graph_bit(graph->firmly, block);
}

/* Appends the word that leads to `block` and why it may be stale: "only 0x7f… leads to it, as a free list's link: its
 * block has no other contents". False, with nothing appended, if no such word leads directly to it. */
bool xc_graph_stale_text(const struct xc_graph *graph, uint32_t block, struct xc_text *text);

/* The shortest chain from a root to a block. path_out gets the blocks from the root's target to `block` (malloc'ed,
 * owned by the caller), root_out the root. Among equally short chains the kind that comes first in enum
 * xc_root_kind is preferred. Returns 0 and sets nothing if no root reaches the block. */
size_t xc_graph_path(struct xc_graph *graph, uint32_t block, uint32_t **path_out, const struct xc_root **root_out);

#endif
