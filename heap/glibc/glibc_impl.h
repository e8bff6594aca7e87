/* glibc_impl: what the files of glibc's malloc share: arenas, the segments their chunks lie in, and how a chunk is read.
 *
 *	glibc.c         the vtable
 *	glibc_arena.c   which arenas there are, where their fields lie
 *	glibc_segment.c where their chunks lie
 *	glibc_noncontiguous.c  those of a main arena that could not use the break
 *	glibc_mapped.c  chunks that are mappings of their own
 *	glibc_bins.c    bins and fastbins: chunks that are known to be free
 *	glibc_tcache.c  caches of threads
 *	glibc_chain.c   the lists in them
 *	glibc_tls.c     words of threads that point to them
 *	glibc_walk.c    the chunks of a piece of a segment
 *	glibc_piece.c     segments are cut in pieces, and pieces joined
 *	glibc_repair.c  where the next chunk begins behind a damaged one
 *
 * A chunk is told by the address of its header (its prev_size); the block that malloc returned begins two words behind. */
#ifndef XC_GLIBC_IMPL_H
#define XC_GLIBC_IMPL_H

#include <pthread.h>

#include "heap/blocks/allocator.h"
#include "heap/glibc/glibc_layout.h"

/* A malloc_state. */
struct xc_glibc_arena {
	xc_addr addr;
	bool main;
	uint32_t index; /* in heap->arenas */
	xc_addr top;    /* its top chunk; 0 when it has none yet */
	uint64_t system_mem;
	bool contiguous;    /* main arena: all of it came from sbrk */
	bool heaps_damaged; /* of a sub-arena: its heaps do not lead to each other … */
	bool heaps_lost;    /* … as far as they are in the core */
	unsigned number;    /* of a sub-arena, from 1 in the order they were made */
	const char *how;    /* it was found: for the evidence; memory of the heap */
};

/* A range of memory that chunks fill without a gap. */
struct xc_glibc_segment {
	struct xc_glibc *glibc;
	xc_addr lo, hi;   /* header of the first chunk; last byte, inclusive */
	xc_addr top;      /* the arena's top chunk when it lies here, else 0 */
	uint32_t arena;   /* in glibc->arenas */
	const char *what; /* of struct xc_region */
};

/* Part of a segment that is walked by itself. */
struct xc_glibc_piece {
	const struct xc_glibc_segment *segment;
	xc_addr from, end; /* the first chunk; where the next piece begins, or the byte behind the segment */
	xc_addr landed;    /* when walked: behind its last chunk; `end`, unless it did not meet the next piece */
};

/* A chunk that has an IS_MMAPPED header. */
struct xc_glibc_mapped {
	xc_addr chunk;
	uint64_t size;   /* from the header to the end of its mapping */
	uint64_t usable; /* malloc_usable_size */
};

/* A chunk that a bin or a list links, and so is known to be one: its address with the kind (enum xc_block_state) in the low three
 * bits. */
typedef uint64_t xc_glibc_anchor;

/* A word in a thread's storage of libc that may point to a block. */
struct xc_glibc_tls {
	xc_addr value;
	const struct xc_thread *thread;
};

struct xc_glibc {
	struct xc_heap *heap;
	struct xc_glibc_layout layout;
	struct xc_glibc_arena *arenas;
	size_t arena_count, arena_capacity;
	struct xc_glibc_segment *segments; /* in address order */
	size_t segment_count, segment_capacity;
	struct xc_glibc_mapped *mapped; /* in address order */
	size_t mapped_count, mapped_capacity;
	uint32_t mapped_arena;  /* in heap->arenas, for those */
	const char *mapped_how; /* evidence */
	struct xc_glibc_piece *pieces;
	size_t piece_count, piece_capacity;
	xc_glibc_anchor *anchors; /* use xc_glibc_anchors */
	size_t anchor_count, anchor_capacity;
	bool anchors_sorted;
	uint64_t fast_left;       /* anchors that fastbins may add: lists may share chunks */
	struct xc_glibc_tls *tls; /* by value */
	size_t tls_count, tls_capacity;
	pthread_mutex_t lock; /* of sorting them */
	size_t caches;        /* tcaches that were found */
	bool lost;            /* an arena, or heaps of one, are not in the core */
};

/* Chunks linked by free lists, in ascending order: sorted when first asked for, by whichever thread. */
const xc_glibc_anchor *xc_glibc_anchors(struct xc_glibc *glibc, size_t *count_out);

static inline xc_addr xc_glibc_anchor_chunk(xc_glibc_anchor anchor)
{
	return anchor & ~(uint64_t)7;
}

/* ---- opening, in this order ---- */

/* Find the arenas and how they are laid out. False when this malloc is not there, or was never used; why_out may get a reason. */
bool xc_glibc_find_arenas(struct xc_glibc *glibc, struct xc_window *window, const char **why_out);

/* The same for a main arena that is not contiguous. */
void xc_glibc_find_noncontiguous(struct xc_glibc *glibc, struct xc_window *window, size_t arena);
void xc_glibc_add_segment(struct xc_glibc *glibc, size_t arena, xc_addr lo, xc_addr hi, const char *what);

/* Is this private anonymous memory that is written to, and not a stack? */
bool xc_glibc_may_be_heap(const struct xc_process *process, const struct xc_mapping *mapping);

/* Find the memory of the arenas, and mappings of single chunks. */
void xc_glibc_find_segments(struct xc_glibc *glibc, struct xc_window *window);
void xc_glibc_find_mapped(struct xc_glibc *glibc, struct xc_window *window);

/* Collect the anchors from bins and fastbins. */
void xc_glibc_find_free(struct xc_glibc *glibc, struct xc_window *window);

/* Cut the segments in pieces; the last piece is the mapped chunks. Where the pieces do not meet they are joined. */
void xc_glibc_plan(struct xc_glibc *glibc, struct xc_window *window);
void xc_glibc_walk(struct xc_walk *walk, size_t piece);
void xc_glibc_walk_piece(struct xc_walk *walk, struct xc_glibc_piece *piece);
void xc_glibc_join(struct xc_walk *const *walks, size_t count);

/* When the table stands: chunks in fastbins and tcaches are free. */
void xc_glibc_settle_fast(struct xc_glibc *glibc, struct xc_window *window);
void xc_glibc_settle_tcaches(struct xc_glibc *glibc, struct xc_window *window);

/* Collect glibc->tls; and the thread that has such a word, or NULL. */
void xc_glibc_read_tls(struct xc_glibc *glibc);
const struct xc_thread *xc_glibc_thread_with(const struct xc_glibc *glibc, xc_addr addr);

/* The same for a block of the table that has the size of a tcache. */
const struct xc_thread *xc_glibc_tcache_of(const struct xc_glibc *glibc, uint32_t block);

/* ---- free lists ---- */

/* The segment that holds an address, or NULL. */
const struct xc_glibc_segment *xc_glibc_segment_of(const struct xc_glibc *glibc, xc_addr addr);

/* Aligned as chunks are, and in a segment. */
bool xc_glibc_is_chunk_place(const struct xc_glibc *glibc, xc_addr chunk);

/* Like xc_glibc_word, but for reading here and there: copied memory is not copied by the megabyte. */
bool xc_glibc_jump(const struct xc_glibc *glibc, struct xc_window *window, xc_addr addr, uint64_t *value_out);

/* The block of a chunk, when the table has one that begins there; else XC_NO_BLOCK. */
uint32_t xc_glibc_block(const struct xc_glibc *glibc, xc_addr chunk);

/* Does a link stored at `at` make sense only when mangled (1), only when plain (-1), or not tell (0)? offset: from a chunk to
 * what is linked. */
int xc_glibc_vote(const struct xc_glibc *glibc, xc_addr at, uint64_t stored, unsigned offset);

/* May a block have begun here that the walk could not find, since the core has not all that leads to it? */
bool xc_glibc_is_lost(const struct xc_glibc *glibc, xc_addr block);

/* What a link of a fastbin or tcache that is stored at `at` means. */
static inline uint64_t xc_glibc_unmangle(const struct xc_glibc *glibc, xc_addr at, uint64_t stored)
{
	return glibc->layout.mangled ? stored ^ at >> XC_GLIBC_MANGLE : stored;
}

/* ---- chunks ---- */

struct xc_glibc_chunk {
	xc_addr addr;
	uint64_t prev_size; /* valid only when the chunk before is free */
	uint64_t head;      /* size and flags */
};

static inline uint64_t xc_glibc_size(uint64_t head)
{
	return head & ~(uint64_t)XC_GLIBC_FLAGS;
}

/* A word of the target: 8 or 4 bytes. */
static inline uint64_t xc_glibc_load(const uint8_t *bytes, unsigned word)
{
	uint64_t wide;
	uint32_t narrow;
	if (word == 8) {
		__builtin_memcpy(&wide, bytes, sizeof wide);
		return wide;
	}
	__builtin_memcpy(&narrow, bytes, sizeof narrow);
	return narrow;
}

static inline bool xc_glibc_word(const struct xc_glibc *glibc, struct xc_window *window, xc_addr addr,
				 uint64_t *value_out)
{
	const uint8_t *bytes = xc_window(window, addr, glibc->layout.word);
	if (bytes)
		*value_out = xc_glibc_load(bytes, glibc->layout.word);
	return bytes;
}

static inline bool xc_glibc_chunk(const struct xc_glibc *glibc, struct xc_window *window, xc_addr addr,
				  struct xc_glibc_chunk *chunk_out)
{
	unsigned word = glibc->layout.word;
	const uint8_t *bytes = xc_window(window, addr, 2 * word);
	if (bytes)
		*chunk_out =
			(struct xc_glibc_chunk){addr, xc_glibc_load(bytes, word), xc_glibc_load(bytes + word, word)};
	return bytes;
}

/* The rule that the header of a chunk of this segment breaks, taken alone: static text; NULL when it breaks none. What comes behind it
 * is not looked at. */
const char *xc_glibc_broken(const struct xc_glibc_segment *segment, xc_addr chunk, uint64_t head);

/* The fenceposts that begin here: how many bytes, 0 when there are none. They are what the end of memory that could not grow became: a
 * chunk of two words, behind it the last header of size 0 in sub-arenas, and one more of two words in the main arena. */
uint64_t xc_glibc_fence(const struct xc_glibc_segment *segment, struct xc_window *window, xc_addr chunk, uint64_t head);

/* How many chunks in a row, from this address on, break no rule and agree with each other (a free one with the prev_size behind it); at
 * most `most`. Reaching fenceposts or the end of the segment exactly counts as `most`. */
size_t xc_glibc_run(const struct xc_glibc_segment *segment, struct xc_window *window, xc_addr chunk, size_t most);

/* Behind memory at `at` that cannot be read: where the next chunk may begin, at most `to`; 0 when all up to there cannot be. */
xc_addr xc_glibc_behind_gap(const struct xc_glibc_segment *segment, const struct xc_window *window, xc_addr at,
			    xc_addr to);

/* The first address from `from` to `to` (inclusive) from which `most` chunks in a row are right; 0 when there is none. */
xc_addr xc_glibc_guess(const struct xc_glibc_segment *segment, struct xc_window *window, xc_addr from, xc_addr to,
		       size_t most);

#endif
