/* Chunks form a chain: each one's size leads to the next. Where a header is overwritten the chain behind it still stands, but where it
 * begins is lost, and what looks like a header may be data. So each place that could be a chunk is followed for some steps:
 *
 *	        back            bad          next
 *	... ─▶ [chunk] ─▶ [chunk]─▶ [?????????]─▶ [chunk] ─▶ [chunk] ─▶ … ─▶ top
 *	                              ▲      ▲
 *	                   candidates: whose own chain goes on, lands on free chunks that bins know and never jumps over one,
 *	                   agrees with each prev_size that counts, and ends exactly at the top chunk or the end
 *
 * The lowest such place is taken. That the walk came to `bad` does not mean that its header is the broken one: a chunk
 * before it may have a wrong size that looked right. Then candidates lie before `bad`, in what that chunk claims to be, and it is the one.
 *
 * A chain that breaks again before it has proved itself (another damaged header nearby) counts when it is three chunks long and nothing
 * better begins within it. */
#include "glibc_resume.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>

enum {
	ENOUGH = 8, /* chunks in a row prove each other */
	ISLAND = 3, /* between two damaged ones */
	TRAIL = 4,  /* `bad` and the chunks before it whose size may have led astray */
	BACK = 4,   /* blocks before `bad` that may have led astray */
	STEPS = 64, /* from there to `bad` at most */
	PAGE = 4096,
};

struct hunt {
	const struct xc_glibc_segment *segment;
	struct xc_window *window;
	const xc_glibc_anchor *anchors;
	size_t anchor_count;
	unsigned word;
	xc_addr end; /* where chains must end: the top chunk, or what lies behind the segment */
	xc_addr bad;
	xc_addr floor;        /* chunks are looked for above it only */
	xc_addr trail[TRAIL]; /* ascending; the last one is bad */
	size_t trail_count;
};

enum trust {
	GUESS,  /* several chunks may have been here: nothing says where they began */
	LIKELY, /* one chunk, if no other header is gone: nothing contradicts */
	SURE,   /* something else says the same */
};

/* The damaged chunk reaches from `damaged` to `next`. */
struct repair {
	xc_addr bad;     /* where the chain broke */
	xc_addr damaged; /* whose header is wrong: `bad`, or a chunk before it whose size led there */
	xc_addr next;    /* a chunk, the top chunk, or what lies behind the segment */
	enum trust trust;
	enum xc_block_state state; /* of the damaged chunk; XC_BLOCK_UNKNOWN when it is a guess */
	const char *because;
};

/* Where a chain leads. */
struct run {
	size_t count; /* chunks that are right */
	xc_addr end;  /* behind them */
	bool proved;
};

/* ---- chunks ---- */

static bool load(const struct hunt *h, xc_addr at, struct xc_glibc_chunk *chunk_out)
{
	struct xc_glibc_chunk chunk = {.addr = at};
	if (!xc_glibc_jump(h->segment->glibc, h->window, at, &chunk.prev_size) ||
	    !xc_glibc_jump(h->segment->glibc, h->window, at + h->word, &chunk.head))
		return false;
	*chunk_out = chunk;
	return true;
}

/* A chunk whose header breaks no rule and that ends before the chain must. */
static bool load_right(const struct hunt *h, xc_addr at, struct xc_glibc_chunk *chunk_out)
{
	return at < h->end && load(h, at, chunk_out) && !xc_glibc_broken(h->segment, at, chunk_out->head) &&
	       xc_glibc_size(chunk_out->head) >= 4 * h->word && xc_glibc_size(chunk_out->head) <= h->end - at;
}

/* Two headers without room for data end a segment that could not grow further. */
static bool is_fencepost(const struct hunt *h, xc_addr at)
{
	struct xc_glibc_chunk chunk;
	return at < h->end && h->end - at <= 4 * h->word && load(h, at, &chunk) &&
	       xc_glibc_size(chunk.head) == 2 * h->word;
}

/* Does what stands behind a chunk agree with its size? Only a free one's size is told twice. */
static bool agrees(const struct hunt *h, const struct xc_glibc_chunk *chunk)
{
	struct xc_glibc_chunk behind;
	uint64_t size = xc_glibc_size(chunk->head);
	return !load(h, chunk->addr + size, &behind) || behind.head & XC_GLIBC_PREV_INUSE || behind.prev_size == size;
}

/* The same, but what is broken itself has no say. */
static bool is_not_contradicted(const struct hunt *h, const struct xc_glibc_chunk *chunk)
{
	struct xc_glibc_chunk behind;
	xc_addr at = chunk->addr + xc_glibc_size(chunk->head);
	return agrees(h, chunk) || (load(h, at, &behind) && xc_glibc_broken(h->segment, at, behind.head));
}

/* ---- chunks that lists know ---- */

static size_t first_anchor(const struct hunt *h, xc_addr from)
{
	size_t lo = 0, hi = h->anchor_count;
	while (lo < hi) {
		size_t middle = lo + (hi - lo) / 2;
		if (xc_glibc_anchor_chunk(h->anchors[middle]) < from)
			lo = middle + 1;
		else
			hi = middle;
	}
	return lo;
}

static const xc_glibc_anchor *anchor_at(const struct hunt *h, xc_addr at)
{
	size_t i = first_anchor(h, at);
	return i < h->anchor_count && xc_glibc_anchor_chunk(h->anchors[i]) == at ? &h->anchors[i] : NULL;
}

/* Of a chunk that the one behind it does not tell the state of. */
static enum xc_block_state state_of(const struct hunt *h, xc_addr at)
{
	const xc_glibc_anchor *anchor = anchor_at(h, at);
	return anchor ? (enum xc_block_state)(*anchor & 7) : XC_BLOCK_LIVE;
}

/* A list may be damaged too: its chunk must look like one that is free in that way. */
static bool is_good(const struct hunt *h, xc_glibc_anchor anchor)
{
	struct xc_glibc_chunk chunk, behind;
	if (!load_right(h, xc_glibc_anchor_chunk(anchor), &chunk) ||
	    !load(h, chunk.addr + xc_glibc_size(chunk.head), &behind))
		return false;
	bool in_use = behind.head & XC_GLIBC_PREV_INUSE;
	return (anchor & 7) == XC_BLOCK_BIN ? !in_use && behind.prev_size == xc_glibc_size(chunk.head) : in_use;
}

/* A chunk never has another one within. */
static bool jumps_over_one(const struct hunt *h, xc_addr at, xc_addr behind)
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

static struct run follow(const struct hunt *h, xc_addr from)
{
	struct run run = {.end = from};
	struct xc_glibc_chunk chunk;
	for (; run.count < ENOUGH; run.count++) {
		if (run.end == h->end || run.end == h->segment->top || is_fencepost(h, run.end))
			break;
		if (run.end == h->bad || !load_right(h, run.end, &chunk) || !is_not_contradicted(h, &chunk))
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

static bool on_trail(const struct hunt *h, xc_addr at)
{
	for (size_t i = 0; i < h->trail_count; i++)
		if (h->trail[i] == at)
			return true;
	return false;
}

/* Could a chunk begin here? If it says that the one before is free, then that must be so. */
static bool may_begin(const struct hunt *h, xc_addr at)
{
	struct xc_glibc_chunk chunk, before;
	if (at == h->end || is_fencepost(h, at))
		return true;
	if (!load_right(h, at, &chunk) || on_trail(h, at))
		return false;
	if (chunk.head & XC_GLIBC_PREV_INUSE)
		return true;
	if (chunk.prev_size > at - h->segment->lo)
		return false;
	return on_trail(h, at - chunk.prev_size) ||
	       (load_right(h, at - chunk.prev_size, &before) && xc_glibc_size(before.head) == chunk.prev_size);
}

/* How many chunks lead from a place exactly to `end`; 0 when they do not. */
static size_t chunks_to(const struct hunt *h, xc_addr at, xc_addr end, size_t *budget)
{
	struct xc_glibc_chunk chunk;
	size_t count = 0;
	for (; at < end && at != h->bad && *budget && load_right(h, at, &chunk) && agrees(h, &chunk);
	     count++, --*budget)
		at += xc_glibc_size(chunk.head);
	return at == end ? count : 0;
}

/* A number in some block may look like a header and lead to a chunk far away by chance. Then what it leaps over is a chain that ends at the
 * same place: where that begins. (Or memory that was chunks once is one large chunk now; then that one is lost.) */
static xc_addr not_leaping(const struct hunt *h, xc_addr place, xc_addr end)
{
	size_t budget = (end - place) / 4;
	for (xc_addr at = place + 4 * h->word; at < end && budget; at += XC_GLIBC_ALIGN)
		if (may_begin(h, at) && chunks_to(h, at, end, &budget) >= ISLAND)
			return at;
	return place;
}

/* Behind what cannot be read: the next page, or the next piece of the space when that is known to be missing as a whole. */
static xc_addr behind_gap(const struct hunt *h, xc_addr at)
{
	const struct xc_segment *gap = xc_space_find(h->window->space, at);
	xc_addr to = (at | (PAGE - 1)) + 1;
	if (gap && !gap->bytes && !gap->backing && gap->hi - at < h->end - at)
		to = gap->hi + 1;
	return to + (h->segment->lo - to) % XC_GLIBC_ALIGN; /* where chunks may begin */
}

/* The lowest place from `from` on, below `to`, where chunks go on; `to` when there is none. */
static xc_addr search(const struct hunt *h, xc_addr from, xc_addr to)
{
	struct run island = {.count = 0};
	xc_addr island_at = 0;
	uint64_t head;
	for (xc_addr at = from; at < to; at += XC_GLIBC_ALIGN) {
		if (island.count && at >= island.end)
			return island_at; /* nothing better began within it */
		if (!xc_glibc_word(h->segment->glibc, h->window, at + h->word, &head)) {
			at = behind_gap(h, at) - XC_GLIBC_ALIGN;
			continue;
		}
		if (xc_glibc_broken(h->segment, at, head) || !may_begin(h, at))
			continue;
		struct run run = follow(h, at);
		if (run.proved)
			return run.count ? not_leaping(h, at, at + (head & ~(uint64_t)XC_GLIBC_FLAGS)) : at;
		if (!island.count && run.count >= ISLAND && run.end > h->bad) {
			island = run;
			island_at = at;
		}
	}
	return island.count ? island_at : to;
}

/* ---- what it was ---- */

static void push(struct hunt *h, xc_addr at)
{
	if (h->trail_count == TRAIL) {
		for (size_t i = 1; i < TRAIL; i++)
			h->trail[i - 1] = h->trail[i];
		h->trail_count--;
	}
	h->trail[h->trail_count++] = at;
}

/* The chunks by which the walk came to `bad`, up to the first one that leaps over the end. */
static bool come_again(struct hunt *h, xc_addr back)
{
	struct xc_glibc_chunk chunk;
	xc_addr at = back;
	for (int i = 0; i < STEPS && at < h->bad; i++) {
		push(h, at);
		if (!load(h, at, &chunk) || xc_glibc_broken(h->segment, at, chunk.head))
			return false;
		if (at < h->end && xc_glibc_size(chunk.head) > h->end - at) {
			h->bad = at;
			return true;
		}
		at += xc_glibc_size(chunk.head);
	}
	push(h, h->bad);
	return at == h->bad;
}

static void find_trail(struct hunt *h, xc_addr back)
{
	struct xc_glibc_chunk chunk;
	if (!come_again(h, back)) {
		h->trail_count = 0; /* the caller came another way */
		push(h, h->bad);
	}
	if (load_right(h, h->bad, &chunk) && !agrees(h, &chunk)) {
		h->bad += xc_glibc_size(
			chunk.head); /* its header is as good as the one behind it: that one comes first */
		push(h, h->bad);
	}
}

/* Its size may still be right, with only the flags or prev_size overwritten. */
static bool only_flags(const struct hunt *h, struct repair *repair)
{
	struct xc_glibc_chunk chunk;
	if (!load(h, h->bad, &chunk))
		return false;
	uint64_t size = chunk.head & ~(uint64_t)(XC_GLIBC_ALIGN - 1);
	if (size < 4 * h->word || size > h->end - h->bad)
		return false;
	chunk.head = size;
	if (!agrees(h, &chunk) || jumps_over_one(h, h->bad, h->bad + size) || !follow(h, h->bad + size).proved ||
	    not_leaping(h, h->bad, h->bad + size) != h->bad)
		return false;
	repair->damaged = h->bad;
	repair->next = h->bad + size;
	repair->trust = SURE;
	repair->because = "as its size still leads to a chunk";
	return true;
}

/* Bytes from `at` on that one careless write made: text, or one byte repeated. */
static uint64_t overrun(const struct hunt *h, xc_addr at, uint64_t most)
{
	uint64_t len = 0, count = 0;
	const uint8_t *bytes = xc_window_run(h->window, at, most, &len);
	if (!bytes)
		return 0;
	bool text = isprint(bytes[0]) || isspace(bytes[0]);
	while (count < len && (text ? isprint(bytes[count]) || isspace(bytes[count]) : bytes[count] == bytes[0]))
		count++;
	return count;
}

/* Do all bytes of its size but the lowest stand? A write that ends in the middle of a word says that much. */
static bool upper_bytes_stand(uint64_t head, uint64_t size)
{
	return size >= 0x100 && head >> 8 == size >> 8;
}

/* How far the damaged chunk reached is known; was it one chunk, and in which state? */
static void judge(const struct hunt *h, struct repair *repair)
{
	struct xc_glibc_chunk behind = {.head = 0}, chunk = {.head = 0};
	bool behind_known = load(h, repair->next, &behind), free = behind_known && !(behind.head & XC_GLIBC_PREV_INUSE);
	uint64_t size = repair->next - repair->damaged;
	enum xc_block_state state = free ? XC_BLOCK_BIN : state_of(h, repair->damaged);
	repair->state = state;
	if (repair->trust == SURE)
		return;
	repair->state = XC_BLOCK_UNKNOWN;
	repair->trust = GUESS;
	repair->because = "if it was one chunk";
	if (!behind_known || !load(h, repair->damaged, &chunk))
		return;
	if (upper_bytes_stand(chunk.head, size)) {
		repair->trust = SURE;
		repair->because = "as all but the lowest byte of it says, and the chunk behind it";
	} else if (overrun(h, repair->damaged + h->word, size) <=
		   4 * h->word) { /* the next header was out of its reach */
		repair->trust = LIKELY;
		repair->because = "as the next chunk begins there";
	}
	if (repair->trust != GUESS)
		repair->state = state;
}

/* Of the chunks that led to `bad`, the one in which the next chunk begins is wrong; unless the next one's prev_size names it. */
static void blame(const struct hunt *h, struct repair *repair)
{
	struct xc_glibc_chunk behind;
	for (size_t i = 0; i < h->trail_count && h->trail[i] < repair->next; i++)
		repair->damaged = h->trail[i];
	if (!load(h, repair->next, &behind) || behind.head & XC_GLIBC_PREV_INUSE)
		return;
	for (size_t i = 0; i < h->trail_count; i++)
		if (h->trail[i] < repair->next && repair->next - h->trail[i] == behind.prev_size) {
			repair->damaged = h->trail[i];
			repair->trust = SURE;
			repair->because = "as prev_size of the chunk behind it says";
		}
}

/* The top chunk's address is known, and it reaches to the end of the segment. */
static void mend_top(const struct hunt *h, xc_addr at, struct repair *repair)
{
	repair->damaged = at;
	repair->next = h->segment->hi + 1;
	repair->state = at == h->segment->top ? XC_BLOCK_TOP : XC_BLOCK_UNKNOWN;
	repair->trust = at == h->segment->top ? SURE : GUESS;
	repair->because = "as the top chunk reaches to the end of the heap";
}

/* `back`: some chunks before `bad`, not below `floor`, or `bad`. */
static struct hunt start(const struct xc_glibc_segment *segment, struct xc_window *window, xc_addr back, xc_addr bad,
			 xc_addr floor)
{
	struct hunt h = {.segment = segment,
			 .window = window,
			 .word = segment->glibc->layout.word,
			 .end = segment->hi + 1,
			 .bad = bad,
			 .floor = floor};
	struct xc_glibc_chunk top;
	if (segment->top && load_right(&h, segment->top, &top) &&
	    segment->top + xc_glibc_size(top.head) == segment->hi + 1) /* else the pointer to it may be damaged */
		h.end = segment->top;
	h.anchors = xc_glibc_anchors(segment->glibc, &h.anchor_count);
	find_trail(&h, back);
	return h;
}

/* A place before `bad` from which chunks go on says that some chunks that led to `bad` are none. Believe the more numerous. */
static bool outweighs(const struct hunt *h, xc_addr place)
{
	struct xc_glibc_chunk chunk;
	size_t with = 0, against = 0;
	for (xc_addr at = place; at < h->bad && load_right(h, at, &chunk) && with < TRAIL; with++)
		at += xc_glibc_size(chunk.head);
	for (size_t i = 0; i < h->trail_count; i++)
		against += h->trail[i] > place && h->trail[i] < h->bad;
	return with > against;
}

static void find_repair(const struct hunt *h, struct repair *repair_out)
{
	struct repair repair = {.bad = h->bad, .damaged = h->bad, .trust = GUESS};
	if (h->bad >= h->end || h->bad == h->segment->top) {
		mend_top(h, h->bad, &repair);
		*repair_out = repair;
		return;
	}
	xc_addr from = h->trail[0] + 4 * h->word;
	repair.next = search(h, from > h->floor ? from : h->floor + XC_GLIBC_ALIGN, h->bad);
	bool before = repair.next < h->bad && outweighs(h, repair.next);
	if (before || !only_flags(h, &repair)) {
		if (!before)
			repair.next = search(h, h->bad + 4 * h->word, h->end);
		blame(h, &repair);
	}
	if (repair.next > h->segment->hi && on_trail(h, h->segment->top))
		mend_top(h, h->segment->top, &repair); /* its size looked right */
	else
		judge(h, &repair);
	*repair_out = repair;
}

/* ---- telling ---- */

static const char *decoded(struct xc_arena *memory, const struct xc_glibc_chunk *chunk)
{
	return xc_arena_printf(memory, "prev_size 0x%" PRIx64 ", size 0x%" PRIx64 ", flags %s%s%s%s", chunk->prev_size,
			       xc_glibc_size(chunk->head), chunk->head & XC_GLIBC_NON_MAIN ? "A" : "",
			       chunk->head & XC_GLIBC_MMAPPED ? "M" : "", chunk->head & XC_GLIBC_PREV_INUSE ? "P" : "",
			       chunk->head & XC_GLIBC_FLAGS ? "" : "none");
}

static void note(struct xc_walk *walk, const struct xc_glibc_segment *segment, const struct repair *repair,
		 const char *broken)
{
	struct xc_glibc_chunk chunk;
	if (walk->damage_count > XC_DAMAGES)
		return; /* it would be dropped */
	struct xc_damage damage = {.kind = XC_DAMAGE_HEADER,
				   .addr = repair->damaged,
				   .lost_lo = 1,
				   .arena = segment->glibc->arenas[segment->arena].index,
				   .before = XC_NO_BLOCK};
	bool loaded = xc_glibc_chunk(segment->glibc, &walk->window, repair->damaged, &chunk);
	if (loaded && !broken)
		broken = xc_glibc_broken(segment, repair->damaged, chunk.head);
	if (repair->damaged != repair->bad)
		damage.what = xc_arena_printf(&walk->memory, "its size leads to 0x%" PRIx64 ", where no chunk begins",
					      repair->bad);
	else
		damage.what = broken ? broken : "it does not agree with the chunk before it";
	if (loaded)
		damage.found = decoded(&walk->memory, &chunk);
	if (repair->next > repair->damaged)
		damage.expected = xc_arena_printf(&walk->memory, "size 0x%" PRIx64 ", %s",
						  repair->next - repair->damaged, repair->because);
	if (repair->trust == GUESS) {
		damage.lost_lo = repair->damaged;
		damage.lost_hi = repair->next - 1;
	}
	xc_walk_damage(walk, &damage);
}

/* ---- for the walk ---- */

/* Some blocks before, as far as they may be gone back to. */
static xc_addr some_before(const struct xc_block_list *blocks, unsigned header, xc_addr bad, xc_addr floor)
{
	xc_addr from = bad;
	for (size_t i = 1; i <= BACK && i <= blocks->count; i++) {
		xc_addr chunk = (blocks->heads[blocks->count - i] & ~(uint64_t)7) - header;
		if (chunk < floor || chunk > bad)
			break;
		from = chunk;
	}
	return from;
}

xc_addr xc_glibc_mend(struct xc_walk *walk, const struct xc_glibc_segment *segment, xc_addr bad, const char *why,
		      xc_addr *floor)
{
	struct xc_block_list *blocks = &walk->blocks;
	struct repair done;
	struct xc_glibc_chunk chunk;
	unsigned word = segment->glibc->layout.word, header = 2 * word;
	xc_addr back = some_before(blocks, header, bad, *floor);
	struct hunt h = start(segment, &walk->window, back, bad, *floor);
	find_repair(&h, &done);
	xc_block_list_cut(blocks, done.damaged + header);
	for (size_t i = 0; i < h.trail_count && h.trail[i] < done.damaged; i++)
		if (h.trail[i] >= bad && load(&h, h.trail[i], &chunk)) /* it was right after all */
			xc_block_list_add(blocks, h.trail[i] + header, xc_glibc_size(chunk.head) - word,
					  state_of(&h, h.trail[i]));
	if (done.next - done.damaged >= 2 * header)
		xc_block_list_add(blocks, done.damaged + header,
				  done.next - done.damaged - (done.state == XC_BLOCK_TOP ? header : word), done.state);
	note(walk, segment, &done, done.damaged == bad ? why : NULL);
	if (done.next <= bad)
		*floor = done.next;
	return done.next;
}
