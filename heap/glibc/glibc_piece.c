/* glibc_piece: divides large segments into pieces that are walked in parallel.
 *
 * A piece begins where many chunks in a row look right. That is a guess, since data may look like chunks. So each
 * piece is walked until it ends at or after the beginning of the next one. The guess was right if it ends exactly
 * there. Otherwise the result of the next piece is discarded and that piece is walked again, from the last chunks
 * of the previous piece. */
#include <stdlib.h>

#include "heap/glibc/glibc_impl.h"
#include "heap/blocks/scan.h"

#ifdef XC_HOSTILE /* many pieces, many of them wrong */
enum { PIECE = 1 << 14, REACH = 1 << 12, SURE = 1 };
#else
enum {
	PIECE = 16 << 20, /* bytes */
	REACH = 1 << 20,  /* searched for a chunk, after a cut */
	SURE = 64,        /* chunks in a row */
};
#endif

enum { BACK = 4 }; /* chunks walked again, as context for damage after them */

static void add_piece(struct xc_glibc *glibc, const struct xc_glibc_segment *segment, xc_addr from, xc_addr end)
{
	glibc->pieces = xc_grow(glibc->pieces, glibc->piece_count, &glibc->piece_capacity, sizeof *glibc->pieces);
	glibc->pieces[glibc->piece_count++] = (struct xc_glibc_piece){segment, from, end, end};
}

static void cut(struct xc_glibc *glibc, struct xc_window *window, const struct xc_glibc_segment *segment)
{
	xc_addr from = segment->lo;
	while (segment->hi - from > 2 * PIECE) {
		xc_addr at = from + PIECE, next = xc_glibc_guess(segment, window, at, at + REACH, SURE);
		while (!next && segment->hi - at > 2 * PIECE) {
			at += PIECE;
			if (!xc_scan_stored(window->space, &at, segment->hi, false))
				break;
			next = xc_glibc_guess(segment, window, at, at + REACH, SURE);
		}
		if (!next)
			break;
		add_piece(glibc, segment, from, next);
		from = next;
	}
	add_piece(glibc, segment, from, segment->hi + 1);
}

void xc_glibc_plan(struct xc_glibc *glibc, struct xc_window *window)
{
	for (size_t i = 0; i < glibc->segment_count; i++)
		cut(glibc, window, &glibc->segments[i]);
}

/* ---- joining ---- */

static void forget(struct xc_walk *walk)
{
	xc_block_list_fini(&walk->blocks);
	walk->damage_count = 0;
}

/* The place where the last chunks of a piece begin. These and the damage there are removed from the piece. */
static xc_addr take_last(struct xc_walk *walk, const struct xc_glibc_piece *piece)
{
	const unsigned header = 2 * piece->segment->glibc->layout.word;
	struct xc_block_list *blocks = &walk->blocks;
	xc_addr from = piece->from;
	if (blocks->count > BACK)
		from = (blocks->heads[blocks->count - BACK] & ~(uint64_t)7) - header;
	xc_block_list_cut(blocks, from + header);
	while (walk->damage_count && walk->damages[walk->damage_count - 1].addr >= from)
		walk->damage_count--;
	return from;
}

void xc_glibc_join(struct xc_walk *const *walks, size_t count)
{
	struct xc_glibc *glibc = count ? walks[0]->state : NULL;
	for (size_t i = 1, before = 0; i < count && i < glibc->piece_count; i++) {
		struct xc_glibc_piece *piece = &glibc->pieces[i], *last = &glibc->pieces[before];
		bool meets = last->segment != piece->segment || last->landed == piece->from;
		if (!meets) {
			forget(walks[i]);
			if (last->landed >= piece->end) /* all of it is inside one chunk */
				continue;
			last->landed = piece->from = take_last(walks[before], last);
			xc_glibc_walk_piece(walks[i], piece);
		}
		before = i;
	}
}
