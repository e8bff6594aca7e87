/* glibc_impl: shared by the files of glibc's malloc: arenas, the segments that hold their chunks, and access to a
 * chunk.
 *
 *	glibc.c                the table of the allocator
 *	glibc_arena.c          finds the arenas and the layout of their state
 *	glibc_segment.c        finds the memory that holds their chunks
 *	glibc_noncontiguous.c  the same for a main arena that cannot use the break
 *	glibc_mapped.c         chunks with mappings of their own
 *	glibc_bins.c           bins and fastbins: chunks known to be free
 *	glibc_tcache.c         caches of threads
 *	glibc_chain.c          the lists in them
 *	glibc_tls.c            words in thread-local storage that point to them
 *	glibc_walk.c           the chunks of a piece of a segment
 *	glibc_piece.c          divides segments into pieces, and joins the results
 *	glibc_repair.c         decides what a damaged chunk was
 *	glibc_resync.c         finds the next chunk after a damaged one
 *
 * A chunk is identified by the address of its header (its prev_size). The block that malloc returned begins two
 * words after that. */
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
	bool contiguous;    /* main arena: all of its memory came from sbrk */
	bool heaps_damaged; /* sub-arena: its heaps do not lead to each other … */
	bool heaps_lost;    /* … as far as they are in the core */
	unsigned number;    /* sub-arena: from 1, in the order of creation */
	const char *how;    /* how it was found, for the evidence; in the heap's memory */
};

/* A range of memory that chunks fill without gaps. */
struct xc_glibc_segment {
	struct xc_glibc *glibc;
	xc_addr lo, hi;   /* header of the first chunk; last byte, inclusive */
	xc_addr top;      /* the arena's top chunk if it is here, else 0 */
	uint32_t arena;   /* in glibc->arenas */
	const char *what; /* of struct xc_region */
};

/* A part of a segment, walked separately. */
struct xc_glibc_piece {
	const struct xc_glibc_segment *segment;
	xc_addr from, end; /* the first chunk; the beginning of the next piece, or the byte after the segment */
	xc_addr landed;    /* after the walk: the end of its last chunk; equal to `end` if it met the next piece */
};

/* A chunk with an IS_MMAPPED header. */
struct xc_glibc_mapped {
	xc_addr chunk;
	uint64_t size;   /* from the header to the end of its mapping */
	uint64_t usable; /* malloc_usable_size */
};

/* A chunk in a bin or list, so certainly a chunk: its address, with the kind (enum xc_block_state) in the low three
 * bits. */
typedef uint64_t xc_glibc_anchor;

/* A word in libc's thread-local storage that may point to a block. */
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
	uint32_t mapped_arena;  /* in heap->arenas: their arena */
	const char *mapped_how; /* evidence */
	struct xc_glibc_piece *pieces;
	size_t piece_count, piece_capacity;
	xc_glibc_anchor *anchors; /* access by xc_glibc_anchors */
	size_t anchor_count, anchor_capacity;
	bool anchors_sorted;
	uint64_t fast_left;       /* anchors that fastbins may still add: lists may share chunks */
	struct xc_glibc_tls *tls; /* sorted by value */
	size_t tls_count, tls_capacity;
	pthread_mutex_t lock; /* protects the sorting of anchors */
	size_t caches;        /* tcaches found */
	bool lost;            /* an arena, or some of its heaps, are not in the core */
};

/* The chunks on free lists, in ascending order. The first caller sorts them, on any thread. */
const xc_glibc_anchor *xc_glibc_anchors(struct xc_glibc *glibc, size_t *count_out);

static inline xc_addr xc_glibc_anchor_chunk(xc_glibc_anchor anchor)
{
	return anchor & ~(uint64_t)7;
}

/* ---- steps of opening, in order ---- */

/* Finds the arenas and their layout. False if this malloc is absent or was never used; why_out may then get a
 * reason. */
bool xc_glibc_find_arenas(struct xc_glibc *glibc, struct xc_window *window, const char **why_out);

/* The same for a main arena that is not contiguous. */
void xc_glibc_find_noncontiguous(struct xc_glibc *glibc, struct xc_window *window, size_t arena);
void xc_glibc_add_segment(struct xc_glibc *glibc, size_t arena, xc_addr lo, xc_addr hi, const char *what);

/* Is this private, anonymous, written memory that is not a stack? */
bool xc_glibc_may_be_heap(const struct xc_process *process, const struct xc_mapping *mapping);

/* Finds the memory of the arenas, and mappings of single chunks. */
void xc_glibc_find_segments(struct xc_glibc *glibc, struct xc_window *window);
void xc_glibc_find_mapped(struct xc_glibc *glibc, struct xc_window *window);

/* Collects the anchors from bins and fastbins. */
void xc_glibc_find_free(struct xc_glibc *glibc, struct xc_window *window);

/* Divides the segments into pieces; the last piece is the mapped chunks. xc_glibc_join reconciles pieces that do
 * not meet. */
void xc_glibc_plan(struct xc_glibc *glibc, struct xc_window *window);
void xc_glibc_walk(struct xc_walk *walk, size_t piece);
void xc_glibc_walk_piece(struct xc_walk *walk, struct xc_glibc_piece *piece);
void xc_glibc_join(struct xc_walk *const *walks, size_t count);

/* Runs when the table is complete: marks the chunks in fastbins and tcaches as free. */
void xc_glibc_settle_fast(struct xc_glibc *glibc, struct xc_window *window);
void xc_glibc_settle_tcaches(struct xc_glibc *glibc, struct xc_window *window);

/* libc; a static program itself. NULL if there is no module. */
const struct xc_module *xc_glibc_module(const struct xc_process *process);

/* Collects glibc->tls. The other returns the thread that has a word with the value, or NULL. */
void xc_glibc_read_tls(struct xc_glibc *glibc);
const struct xc_thread *xc_glibc_thread_with(const struct xc_glibc *glibc, xc_addr addr);

/* The same for a block of the table that has the size of a tcache. */
const struct xc_thread *xc_glibc_tcache_of(const struct xc_glibc *glibc, uint32_t block);

/* ---- free lists ---- */

/* The segment that contains an address, or NULL. */
const struct xc_glibc_segment *xc_glibc_segment_of(const struct xc_glibc *glibc, xc_addr addr);

/* Is the address aligned like a chunk, and in a segment? */
bool xc_glibc_is_chunk_place(const struct xc_glibc *glibc, xc_addr chunk);

/* Like xc_glibc_word, but for scattered reads: the window does not copy ahead. */
bool xc_glibc_jump(const struct xc_glibc *glibc, struct xc_window *window, xc_addr addr, uint64_t *value_out);

/* The block of a chunk, if the table has a block that begins there; else XC_NO_BLOCK. */
uint32_t xc_glibc_block(const struct xc_glibc *glibc, xc_addr chunk);

/* Does a link stored at `at` make sense only if mangled (1), only if plain (-1), or is that open (0)? offset: from
 * a chunk to the target of the link. */
int xc_glibc_vote(const struct xc_glibc *glibc, xc_addr at, uint64_t stored, unsigned offset);

/* Is it open whether links are mangled, and does a link stored at `at` make sense if it is? Then it is no damage. */
bool xc_glibc_is_open(const struct xc_glibc *glibc, xc_addr at, uint64_t stored, unsigned offset);

/* May a block begin here that the walk could not find because memory is missing in the core? */
bool xc_glibc_is_lost(const struct xc_glibc *glibc, xc_addr block);

/* Decodes a link of a fastbin or tcache that is stored at `at`. */
static inline uint64_t xc_glibc_unmangle(const struct xc_glibc *glibc, xc_addr at, uint64_t stored)
{
	return glibc->layout.mangled ? stored ^ at >> XC_GLIBC_MANGLE : stored;
}

/* ---- chunks ---- */

struct xc_glibc_chunk {
	xc_addr addr;
	uint64_t prev_size; /* valid only if the previous chunk is free */
	uint64_t head;      /* size and flags */
};

static inline uint64_t xc_glibc_size(uint64_t head)
{
	return head & ~(uint64_t)XC_GLIBC_FLAGS;
}

/* Loads a word of the target: 8 or 4 bytes. */
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

/* The rule that the header of a chunk of this segment breaks by itself, as static text; NULL if it breaks none.
 * Following memory is not examined. */
const char *xc_glibc_broken(const struct xc_glibc_segment *segment, xc_addr chunk, uint64_t head);

/* The size in bytes of the fenceposts that begin here; 0 if there are none. Fenceposts replace the end of memory
 * that could not grow: a chunk of two words, then the last header, of size 0 in sub-arenas and of two words in the
 * main arena. */
uint64_t xc_glibc_fence(const struct xc_glibc_segment *segment, struct xc_window *window, xc_addr chunk, uint64_t head);

/* The number of consecutive chunks from this address, at most `most`, that break no rule and agree with each other
 * (a free one with the prev_size after it). A run that ends exactly at fenceposts or at the end of the segment
 * counts as `most`. */
size_t xc_glibc_run(const struct xc_glibc_segment *segment, struct xc_window *window, xc_addr chunk, size_t most);

/* After unreadable memory at `at`: the place where the next chunk may begin, at most `to`; 0 if all memory up to
 * there is unreadable. */
xc_addr xc_glibc_behind_gap(const struct xc_glibc_segment *segment, const struct xc_window *window, xc_addr at,
			    xc_addr to);

/* The first address from `from` to `to` (inclusive) with `most` correct consecutive chunks; 0 if there is none. */
xc_addr xc_glibc_guess(const struct xc_glibc_segment *segment, struct xc_window *window, xc_addr from, xc_addr to,
		       size_t most);

#endif
