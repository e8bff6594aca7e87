/* glibc_walk: the chunks of a segment, in sequence.
 *
 * Each header gives the place of the next one, and its P bit says whether the previous chunk is in use. So the walk
 * reads one header for each chunk and carries the next one along. Chunks in fastbins and tcaches look used until
 * the lists are settled. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "heap/glibc/glibc_repair.h"
#include "heap/blocks/scan.h"

enum {
	AGAIN = 16, /* chunks in a row, after foreign memory */
	PAGE = 4096,
};

/* ---- rules ---- */

const char *xc_glibc_broken(const struct xc_glibc_segment *segment, xc_addr chunk, uint64_t head)
{
	const struct xc_glibc *glibc = segment->glibc;
	uint64_t size = xc_glibc_size(head);
	if (size < 4 * glibc->layout.word)
		return "its size is smaller than any chunk";
	if (size & (XC_GLIBC_ALIGN - 1) && !(chunk == segment->top && size - 1 == segment->hi - chunk))
		return "its size is no multiple of 16";
	if (size - 1 > segment->hi - chunk)
		return "its size reaches past the end of the heap";
	if (head & XC_GLIBC_MMAPPED)
		return "it is marked as mmapped, inside a heap";
	if (head & XC_GLIBC_NON_MAIN && glibc->arenas[segment->arena].main)
		return "it is marked as belonging to another arena";
	return NULL;
}

uint64_t xc_glibc_fence(const struct xc_glibc_segment *segment, struct xc_window *window, xc_addr chunk, uint64_t head)
{
	struct xc_glibc_chunk second;
	const unsigned header = 2 * segment->glibc->layout.word;
	uint64_t left = segment->hi - chunk + 1;
	if (xc_glibc_size(head) == 0) /* with 4-byte words some bytes may remain after it */
		return left >= header && left < header + XC_GLIBC_ALIGN ? left : 0;
	if (xc_glibc_size(head) != header || left < 2 * header ||
	    !xc_glibc_chunk(segment->glibc, window, chunk + header, &second))
		return 0;
	if (xc_glibc_size(second.head) == 0)
		return left < 2 * header + XC_GLIBC_ALIGN ? left : 0;
	return xc_glibc_size(second.head) == header ? 2 * header : 0;
}

size_t xc_glibc_run(const struct xc_glibc_segment *segment, struct xc_window *window, xc_addr chunk, size_t most)
{
	struct xc_glibc_chunk at, next;
	if (chunk < segment->lo || chunk > segment->hi || !xc_glibc_chunk(segment->glibc, window, chunk, &at))
		return 0;
	for (size_t count = 0; count < most; count++, at = next) {
		uint64_t size = xc_glibc_size(at.head);
		if (xc_glibc_broken(segment, at.addr, at.head))
			return count && xc_glibc_fence(segment, window, at.addr, at.head) ? most : count;
		if (size - 1 == segment->hi - at.addr)
			return most;
		if (!xc_glibc_chunk(segment->glibc, window, at.addr + size, &next) ||
		    (!(next.head & XC_GLIBC_PREV_INUSE) && next.prev_size != size))
			return count;
	}
	return most;
}

xc_addr xc_glibc_behind_gap(const struct xc_glibc_segment *segment, const struct xc_window *window, xc_addr at,
			    xc_addr to)
{
	xc_addr next = (at | (PAGE - 1)) + 1;
	if (next < at || next > to || !xc_scan_stored(window->space, &next, to, false))
		return 0;
	return next + (segment->lo - next) % XC_GLIBC_ALIGN;
}

xc_addr xc_glibc_guess(const struct xc_glibc_segment *segment, struct xc_window *window, xc_addr from, xc_addr to,
		       size_t most)
{
	unsigned header = 2 * segment->glibc->layout.word;
	from = from < segment->lo ? segment->lo : from;
	from = ((from + header + XC_GLIBC_ALIGN - 1) & ~(uint64_t)(XC_GLIBC_ALIGN - 1)) - header;
	to = to < segment->hi ? to : segment->hi;
	for (xc_addr at = from; at >= from && at <= to; at += XC_GLIBC_ALIGN) {
		if (!xc_window(window, at, header)) {
			xc_addr next = xc_glibc_behind_gap(segment, window, at, to);
			if (next <= at)
				return 0;
			at = next - XC_GLIBC_ALIGN;
		} else if (xc_glibc_run(segment, window, at, most) == most) {
			return at;
		}
	}
	return 0;
}

/* ---- walking ---- */

struct walker {
	struct xc_walk *walk;
	const struct xc_glibc_segment *segment;
	unsigned word;
	xc_addr at, end;
	struct xc_glibc_repair_state repair;
};

/* The chain broke: records it and finds the place to continue. */
static void damaged(struct walker *w, const char *why)
{
	w->at = xc_glibc_repair(w->walk, w->segment, w->at, why, &w->repair);
}

/* A remainder of a full heap that is too small to be freed becomes part of its fenceposts (sysmalloc): a chunk of
 * minimum size directly before the last header is not a block. If the remainder was larger, a fencepost of two
 * words is between. */
static void drop_small_rest(struct walker *w)
{
	struct xc_block_list *blocks = &w->walk->blocks;
	if (blocks->count && blocks->end == w->at + w->word && blocks->sizes[blocks->count - 1] == 3 * w->word)
		blocks->count--;
}

/* Fenceposts end memory that could not grow. In the main arena more memory of its own follows, possibly after
 * foreign memory. */
static bool fenced(struct walker *w, uint64_t head)
{
	struct xc_window *window = &w->walk->window;
	uint64_t size = xc_glibc_fence(w->segment, window, w->at, head);
	if (size == 0)
		return false;
	if (xc_glibc_size(head) == 0)
		drop_small_rest(w);
	w->at += size;
	if (w->at <= w->segment->hi && xc_glibc_run(w->segment, window, w->at, AGAIN) < AGAIN) {
		xc_addr next = xc_glibc_guess(w->segment, window, w->at, w->segment->hi, AGAIN);
		w->at = next ? next : w->segment->hi + 1;
	}
	return true;
}

/* A chunk that breaks a rule, or the last one of the segment. */
static void odd(struct walker *w, uint64_t head)
{
	if (fenced(w, head))
		return;
	damaged(w, xc_glibc_broken(w->segment, w->at, head));
}

/* Without the arena's state, a chunk that reaches to the end of a page is taken as its top; otherwise the memory
 * after it is missing too. */
static void last(struct walker *w, uint64_t size)
{
	bool lost = w->segment->glibc->arenas[w->segment->arena].addr == 0;
	bool top = w->at == w->segment->top || (lost && (w->at + size) % PAGE == 0);
	xc_block_list_add(&w->walk->blocks, w->at + 2 * w->word, size - 2 * w->word,
			  top ? XC_BLOCK_TOP : XC_BLOCK_UNKNOWN);
	if (!top && !lost)
		xc_walk_add_damage(w->walk,
				   &(struct xc_damage){
					   .addr = w->at,
					   .what = "the last chunk of the heap is neither its top nor a fencepost",
					   .lost_lo = 1,
					   .arena = w->segment->glibc->arenas[w->segment->arena].index,
					   .before = XC_NO_BLOCK,
				   });
	w->at = w->segment->hi + 1;
}

/* The header at w->at, or the one after its chunk, cannot be read. Missing memory is skipped up to a place with
 * many correct chunks in a row: it may be the end of one chunk or contain thousands. */
static void unreadable(struct walker *w)
{
	struct xc_window *window = &w->walk->window;
	struct xc_glibc_chunk chunk;
	bool known = xc_glibc_chunk(w->segment->glibc, window, w->at, &chunk);
	xc_addr behind = known ? w->at + xc_glibc_size(chunk.head) : w->at;
	if (!xc_heap_is_lost(w->walk->heap, behind, 2 * w->word)) {
		damaged(w, "its header, or that of the next chunk, cannot be read");
		return;
	}
	if (known)
		xc_block_list_add(&w->walk->blocks, w->at + 2 * w->word, xc_glibc_size(chunk.head) - w->word,
				  XC_BLOCK_UNKNOWN);
	xc_addr next = behind < w->end ? xc_glibc_guess(w->segment, window, behind, w->end - 1, AGAIN) : 0;
	if (!next)
		next = behind < w->end ? w->end : behind;
	w->at = next;
}

/* Walks from w->at to w->end for one word size; the compiler makes two versions of it. Returns when the chain
 * breaks. */
static inline __attribute__((always_inline)) void chain(struct walker *w, const unsigned word)
{
	struct xc_window *window = &w->walk->window;
	struct xc_block_list *blocks = &w->walk->blocks;
	const bool main = w->segment->glibc->arenas[w->segment->arena].main;
	const uint64_t wrong =
		(XC_GLIBC_ALIGN - 1 - XC_GLIBC_FLAGS) | XC_GLIBC_MMAPPED | (main ? XC_GLIBC_NON_MAIN : 0);
	const xc_addr last_byte = w->segment->hi, end = w->end;
	xc_addr at = w->at;
	const uint8_t *bytes = xc_window(window, at, 2 * word);
	uint64_t head = bytes ? xc_glibc_load(bytes + word, word) : 0,
		 prev_size = bytes ? xc_glibc_load(bytes, word) : 0;
	while (bytes && at < end) {
		uint64_t size = head & ~(uint64_t)XC_GLIBC_FLAGS;
		w->at = at;
		if (__builtin_expect(head & wrong || size < 4 * word || size - 1 >= last_byte - at, 0)) {
			if (size - 1 == last_byte - at && !xc_glibc_broken(w->segment, at, head))
				last(w, size);
			else
				odd(w, head);
			return;
		}
		bytes = xc_window(window, at + size, 2 * word);
		if (__builtin_expect(!bytes, 0))
			break;
		prev_size = xc_glibc_load(bytes, word);
		head = xc_glibc_load(bytes + word, word); /* cppcheck-suppress nullPointerArithmeticRedundantCheck */
		bool live = head & XC_GLIBC_PREV_INUSE;
		if (__builtin_expect(!live && prev_size != size, 0)) {
			damaged(w, "the next chunk says that it is free, with another size");
			return;
		}
		xc_block_list_add(blocks, at + 2 * word, size - word, live ? XC_BLOCK_LIVE : XC_BLOCK_BIN);
		at += size;
	}
	w->at = at;
	if (!bytes)
		unreadable(w);
}

void xc_glibc_walk_piece(struct xc_walk *walk, struct xc_glibc_piece *piece)
{
	const struct xc_glibc *glibc = walk->state;
	unsigned word = glibc->layout.word;
	struct walker w = {walk, piece->segment, word, piece->from, piece->end, {0}};
	uint64_t bytes = xc_scan_stored_bytes(walk->window.space, piece->from, piece->end - 1);
	xc_block_list_init(&walk->blocks, bytes / (4 * word) + 2);
	w.repair.effort = XC_GLIBC_LEAST_EFFORT + 2 * bytes;
	while (w.at < w.end) {
		if (word == 8)
			chain(&w, 8);
		else
			chain(&w, 4);
	}
	piece->landed = w.at;
}

static void walk_mapped(struct xc_walk *walk)
{
	const struct xc_glibc *glibc = walk->state;
	unsigned header = 2 * glibc->layout.word;
	xc_block_list_init(&walk->blocks, glibc->mapped_count);
	for (size_t i = 0; i < glibc->mapped_count; i++)
		xc_block_list_add(&walk->blocks, glibc->mapped[i].chunk + header, glibc->mapped[i].usable,
				  XC_BLOCK_LIVE);
}

void xc_glibc_walk(struct xc_walk *walk, size_t piece)
{
	const struct xc_glibc *glibc = walk->state;
	if (piece < glibc->piece_count)
		xc_glibc_walk_piece(walk, &glibc->pieces[piece]);
	else
		walk_mapped(walk);
}
