/* Chunks form a chain: the size of each leads to the next. After an overwritten header the chain continues, but its
 * next link is unknown, and data may look like a header. So each candidate is followed for some steps:
 *
 *	        back            bad          next
 *	... ─▶ [chunk] ─▶ [chunk]─▶ [?????????]─▶ [chunk] ─▶ [chunk] ─▶ … ─▶ top
 *	                              ▲      ▲
 *	           candidates: the candidate's own chain continues, reaches free chunks in bins and never skips one,
 *	           agrees with each valid prev_size, and ends exactly at the top chunk or the end
 *
 * The lowest such place is taken. The header at `bad` is not necessarily the broken one: an earlier chunk may have
 * a wrong size that looked right. Then candidates are before `bad`, inside that chunk's claimed range, and that
 * chunk is the broken one.
 *
 * A chain that breaks again before it is proved (another damaged header nearby) counts if it is three chunks long
 * and no better chain begins within it. Two chunks are enough between headers whose sizes reach far past the end: data
 * seldom has such a word at just that place. */
#include "heap/glibc/glibc_resync.h"

enum {
	ENOUGH = 8, /* this many consecutive chunks prove each other */
	ISLAND = 3, /* between two damaged ones */
	SHORT = 2,  /* between two that are overwritten beyond doubt */
};

/* The result of following a chain. */
struct run {
	size_t count; /* correct chunks */
	xc_addr end;  /* their end */
	bool proved;
};

/* Takes one step; false if none are left. */
static bool take_step(const struct xc_glibc_resync *h)
{
	if (*h->effort == 0)
		return false;
	--*h->effort;
	return true;
}

/* ---- chunks ---- */

bool xc_glibc_resync_load(const struct xc_glibc_resync *h, xc_addr at, struct xc_glibc_chunk *chunk_out)
{
	struct xc_glibc_chunk chunk = {.addr = at};
	if (!xc_glibc_jump(h->segment->glibc, h->window, at, &chunk.prev_size) ||
	    !xc_glibc_jump(h->segment->glibc, h->window, at + h->word, &chunk.head))
		return false;
	*chunk_out = chunk;
	return true;
}

bool xc_glibc_resync_load_right(const struct xc_glibc_resync *h, xc_addr at, struct xc_glibc_chunk *chunk_out)
{
	return at < h->end && xc_glibc_resync_load(h, at, chunk_out) &&
	       !xc_glibc_broken(h->segment, at, chunk_out->head) && xc_glibc_size(chunk_out->head) >= 4 * h->word &&
	       xc_glibc_size(chunk_out->head) <= h->end - at;
}

/* Two headers without room for data end a segment that could not grow further. */
static bool is_fencepost(const struct xc_glibc_resync *h, xc_addr at)
{
	struct xc_glibc_chunk chunk;
	return at < h->end && h->end - at <= 4 * h->word && xc_glibc_resync_load(h, at, &chunk) &&
	       xc_glibc_size(chunk.head) == 2 * h->word;
}

bool xc_glibc_resync_agrees(const struct xc_glibc_resync *h, const struct xc_glibc_chunk *chunk)
{
	struct xc_glibc_chunk behind;
	uint64_t size = xc_glibc_size(chunk->head);
	return !xc_glibc_resync_load(h, chunk->addr + size, &behind) || behind.head & XC_GLIBC_PREV_INUSE ||
	       behind.prev_size == size;
}

/* The same, except that a broken neighbour is ignored. */
static bool is_not_contradicted(const struct xc_glibc_resync *h, const struct xc_glibc_chunk *chunk)
{
	struct xc_glibc_chunk behind;
	xc_addr at = chunk->addr + xc_glibc_size(chunk->head);
	return xc_glibc_resync_agrees(h, chunk) ||
	       (xc_glibc_resync_load(h, at, &behind) && xc_glibc_broken(h->segment, at, behind.head));
}

/* ---- chunks on lists ---- */

static size_t first_anchor(const struct xc_glibc_resync *h, xc_addr from)
{
	return XC_LOWER_BOUND(h->anchor_count, i, xc_glibc_anchor_chunk(h->anchors[i]) < from);
}

static const xc_glibc_anchor *anchor_at(const struct xc_glibc_resync *h, xc_addr at)
{
	size_t i = first_anchor(h, at);
	return i < h->anchor_count && xc_glibc_anchor_chunk(h->anchors[i]) == at ? &h->anchors[i] : NULL;
}

enum xc_block_state xc_glibc_resync_state(const struct xc_glibc_resync *h, xc_addr at)
{
	const xc_glibc_anchor *anchor = anchor_at(h, at);
	return anchor ? (enum xc_block_state)(*anchor & 7) : XC_BLOCK_LIVE;
}

/* A list may be damaged too: its chunk must look free in the way of that list. */
static bool is_good(const struct xc_glibc_resync *h, xc_glibc_anchor anchor)
{
	struct xc_glibc_chunk chunk, behind;
	if (!xc_glibc_resync_load_right(h, xc_glibc_anchor_chunk(anchor), &chunk) ||
	    !xc_glibc_resync_load(h, chunk.addr + xc_glibc_size(chunk.head), &behind))
		return false;
	bool in_use = behind.head & XC_GLIBC_PREV_INUSE;
	return (anchor & 7) == XC_BLOCK_BIN ? !in_use && behind.prev_size == xc_glibc_size(chunk.head) : in_use;
}

/* A chunk never contains another one. */
static bool jumps_over_one(const struct xc_glibc_resync *h, xc_addr at, xc_addr behind)
{
	for (size_t i = first_anchor(h, at + 1), looked = 0; i < h->anchor_count && looked < ENOUGH; i++, looked++) {
		if (xc_glibc_anchor_chunk(h->anchors[i]) >= behind)
			return false;
		if (is_good(h, h->anchors[i]))
			return true;
	}
	return false;
}

/* ---- chains ---- */

static struct run follow(const struct xc_glibc_resync *h, xc_addr from)
{
	struct run run = {.end = from};
	struct xc_glibc_chunk chunk;
	for (; run.count < ENOUGH; run.count++) {
		if (!take_step(h))
			return run;
		if (run.end == h->end || run.end == h->segment->top || is_fencepost(h, run.end))
			break;
		if (run.end == h->bad || !xc_glibc_resync_load_right(h, run.end, &chunk) ||
		    !is_not_contradicted(h, &chunk))
			return run;
		xc_addr behind = run.end + xc_glibc_size(chunk.head);
		if (jumps_over_one(h, run.end, behind))
			return run;
		const xc_glibc_anchor *anchor = anchor_at(h, run.end);
		if (anchor && is_good(h, *anchor))
			break;
		run.end = behind;
	}
	run.proved = true;
	return run;
}

bool xc_glibc_resync_on_trail(const struct xc_glibc_resync *h, xc_addr at)
{
	for (size_t i = 0; i < h->trail_count; i++)
		if (h->trail[i] == at)
			return true;
	return false;
}

/* Could a chunk begin here? If its header says that the previous chunk is free, that must be true. */
static bool may_begin(const struct xc_glibc_resync *h, xc_addr at)
{
	struct xc_glibc_chunk chunk, before;
	if (at == h->end || is_fencepost(h, at))
		return true;
	if (!xc_glibc_resync_load_right(h, at, &chunk) || xc_glibc_resync_on_trail(h, at))
		return false;
	if (chunk.head & XC_GLIBC_PREV_INUSE)
		return true;
	if (chunk.prev_size > at - h->segment->lo)
		return false;
	return xc_glibc_resync_on_trail(h, at - chunk.prev_size) ||
	       (xc_glibc_resync_load_right(h, at - chunk.prev_size, &before) &&
		xc_glibc_size(before.head) == chunk.prev_size);
}

/* The number of chunks that lead from a place exactly to `end`; 0 if they do not. */
static size_t chunks_to(const struct xc_glibc_resync *h, xc_addr at, xc_addr end, size_t *budget)
{
	struct xc_glibc_chunk chunk;
	size_t count = 0;
	for (; at < end && at != h->bad && *budget && take_step(h) && xc_glibc_resync_load_right(h, at, &chunk) &&
	       xc_glibc_resync_agrees(h, &chunk);
	     count++, --*budget)
		at += xc_glibc_size(chunk.head);
	return at == end ? count : 0;
}

/* A number in some block may look like a header and lead to a distant chunk by chance. Then it skips a chain that
 * ends at the same place; returns the beginning of that chain. (Or former chunks are now inside one large chunk;
 * then that chunk is lost.) */
static xc_addr not_leaping(const struct xc_glibc_resync *h, xc_addr place, xc_addr end)
{
	size_t budget = (end - place) / 4;
	for (xc_addr at = place + 4 * h->word; at < end && budget && take_step(h); at += XC_GLIBC_ALIGN)
		if (may_begin(h, at) && chunks_to(h, at, end, &budget) >= ISLAND)
			return at;
	return place;
}

/* Is the size larger than the whole segment? */
static bool is_overwritten(const struct xc_glibc_resync *h, xc_addr at)
{
	struct xc_glibc_chunk chunk;
	return at < h->end && xc_glibc_resync_load(h, at, &chunk) &&
	       xc_glibc_size(chunk.head) > h->end - h->segment->lo;
}

static bool is_island(const struct xc_glibc_resync *h, const struct run *run)
{
	return run->end > h->bad && (run->count >= ISLAND ||
				     (run->count >= SHORT && is_overwritten(h, h->bad) && is_overwritten(h, run->end)));
}

bool xc_glibc_resync_may_contain(const struct xc_glibc_resync *h, xc_addr lo, xc_addr hi)
{
	struct xc_glibc_chunk chunk;
	for (xc_addr at = lo + 4 * h->word; at < hi && take_step(h); at += XC_GLIBC_ALIGN)
		if (xc_glibc_resync_load_right(h, at, &chunk) &&
		    (chunk.head & XC_GLIBC_PREV_INUSE || chunk.prev_size == at - lo) &&
		    xc_glibc_size(chunk.head) < hi - at && is_overwritten(h, at + xc_glibc_size(chunk.head)))
			return true;
	return false;
}

xc_addr xc_glibc_resync_search(const struct xc_glibc_resync *h, xc_addr from, xc_addr to)
{
	struct run island = {.count = 0};
	xc_addr island_at = 0;
	uint64_t head;
	for (xc_addr at = from; at < to && take_step(h); at += XC_GLIBC_ALIGN) {
		if (island.count && at >= island.end)
			return island_at; /* no better chain began within it */
		if (!xc_glibc_word(h->segment->glibc, h->window, at + h->word, &head)) {
			xc_addr next = xc_glibc_behind_gap(h->segment, h->window, at, to - 1);
			if (next <= at)
				break;
			at = next - XC_GLIBC_ALIGN;
			continue;
		}
		if (xc_glibc_broken(h->segment, at, head) || !may_begin(h, at))
			continue;
		struct run run = follow(h, at);
		if (run.proved)
			return run.count ? not_leaping(h, at, at + (head & ~(uint64_t)XC_GLIBC_FLAGS)) : at;
		if (!island.count && is_island(h, &run)) {
			island = run;
			island_at = at;
		}
	}
	return island.count ? island_at : to;
}

bool xc_glibc_resync_goes_on(const struct xc_glibc_resync *h, xc_addr at, xc_addr end)
{
	return !jumps_over_one(h, at, end) && follow(h, end).proved && not_leaping(h, at, end) == at;
}
