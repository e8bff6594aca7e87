/* A damaged chunk has a header that breaks a rule or contradicts its neighbours. glibc_resync.c finds the next
 * chunk after it. From that follow the nature of the damaged chunk, and its culprit: the chunk where the chain
 * broke, or an earlier one whose size looked right but was wrong. */
#include "heap/glibc/glibc_repair.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>

#include "heap/glibc/glibc_resync.h"

enum {
	BACK = 4,   /* blocks before the damage that may have misled the walk */
	STEPS = 64, /* at most this distance before it */
};

enum trust {
	GUESS,  /* there may have been several chunks; nothing shows where they began */
	LIKELY, /* one chunk, if no other header is destroyed: nothing contradicts */
	SURE,   /* other evidence agrees */
};

/* The damaged chunk extends from `damaged` to `next`. */
struct repair {
	xc_addr bad;     /* where the chain broke */
	xc_addr damaged; /* the chunk with the wrong header: `bad`, or an earlier chunk whose size led there */
	xc_addr next;    /* a chunk, the top chunk, or the end of the segment */
	enum trust trust;
	enum xc_block_state state; /* of the damaged chunk; XC_BLOCK_UNKNOWN for a guess */
	const char *because;
};

/* ---- what the chunk was ---- */

static void push(struct xc_glibc_resync *h, xc_addr at)
{
	if (h->trail_count == XC_GLIBC_TRAIL) {
		for (size_t i = 1; i < XC_GLIBC_TRAIL; i++)
			h->trail[i - 1] = h->trail[i];
		h->trail_count--;
	}
	h->trail[h->trail_count++] = at;
}

/* The chunks by which the walk reached `bad`, up to the first one that reaches past the end. */
static bool come_again(struct xc_glibc_resync *h, xc_addr back)
{
	struct xc_glibc_chunk chunk;
	xc_addr at = back;
	for (int i = 0; i < STEPS && at < h->bad; i++) {
		push(h, at);
		if (!xc_glibc_resync_load(h, at, &chunk) || xc_glibc_broken(h->segment, at, chunk.head))
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

static void find_trail(struct xc_glibc_resync *h, xc_addr back)
{
	struct xc_glibc_chunk chunk;
	if (!come_again(h, back)) {
		h->trail_count = 0; /* the caller took another way */
		push(h, h->bad);
	}
	if (xc_glibc_resync_load_right(h, h->bad, &chunk) && !xc_glibc_resync_agrees(h, &chunk)) {
		h->bad += xc_glibc_size(
			chunk.head); /* its header is as plausible as the next one's: the earlier one is taken */
		push(h, h->bad);
	}
}

/* Its size may still be right, with only the flags or prev_size overwritten. */
static bool only_flags(const struct xc_glibc_resync *h, struct repair *repair)
{
	struct xc_glibc_chunk chunk;
	if (!xc_glibc_resync_load(h, h->bad, &chunk))
		return false;
	uint64_t size = chunk.head & ~(uint64_t)(XC_GLIBC_ALIGN - 1);
	if (size < 4 * h->word || size > h->end - h->bad)
		return false;
	chunk.head = size;
	if (!xc_glibc_resync_agrees(h, &chunk) || !xc_glibc_resync_goes_on(h, h->bad, h->bad + size))
		return false;
	repair->damaged = h->bad;
	repair->next = h->bad + size;
	repair->trust = SURE;
	repair->because = "as its size still leads to a chunk";
	return true;
}

/* The number of bytes from `at` that one careless write produced: text, or one repeated byte. */
static uint64_t overrun(const struct xc_glibc_resync *h, xc_addr at, uint64_t most)
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

/* Are all bytes of its size except the lowest intact? A write that ends inside a word leaves that trace. */
static bool upper_bytes_stand(uint64_t head, uint64_t size)
{
	return size >= 0x100 && head >> 8 == size >> 8;
}

/* The end of the damaged chunk is known. Was it one chunk, and in which state? */
static void classify(const struct xc_glibc_resync *h, struct repair *repair)
{
	struct xc_glibc_chunk behind = {.head = 0}, chunk = {.head = 0};
	bool behind_known = xc_glibc_resync_load(h, repair->next, &behind),
	     free = behind_known && !(behind.head & XC_GLIBC_PREV_INUSE);
	uint64_t size = repair->next - repair->damaged;
	enum xc_block_state state = free ? XC_BLOCK_BIN : xc_glibc_resync_state(h, repair->damaged);
	repair->state = state;
	if (repair->trust == SURE)
		return;
	repair->state = XC_BLOCK_UNKNOWN;
	repair->trust = GUESS;
	repair->because = "if it was one chunk";
	if (xc_glibc_resync_may_contain(h, repair->damaged, repair->next)) {
		repair->because = "if it was one chunk, but there may be others in it, one of them damaged as well";
		return;
	}
	if (!behind_known || !xc_glibc_resync_load(h, repair->damaged, &chunk))
		return;
	if (upper_bytes_stand(chunk.head, size)) {
		repair->trust = SURE;
		repair->because = "as all but its lowest byte say, and the next chunk";
	} else if (overrun(h, repair->damaged + h->word, size) <=
		   4 * h->word) { /* the overrun did not reach the next header */
		repair->trust = LIKELY;
		repair->because = "as the next chunk begins there";
	}
	if (repair->trust != GUESS)
		repair->state = state;
}

/* Of the chunks that led to `bad`, the one that contains the beginning of the next chunk is wrong, unless the next
 * one's prev_size names it. */
static void blame(const struct xc_glibc_resync *h, struct repair *repair)
{
	struct xc_glibc_chunk behind;
	for (size_t i = 0; i < h->trail_count && h->trail[i] < repair->next; i++)
		repair->damaged = h->trail[i];
	if (!xc_glibc_resync_load(h, repair->next, &behind) || behind.head & XC_GLIBC_PREV_INUSE)
		return;
	for (size_t i = 0; i < h->trail_count; i++)
		if (h->trail[i] < repair->next && repair->next - h->trail[i] == behind.prev_size) {
			repair->damaged = h->trail[i];
			repair->trust = SURE;
			repair->because = "as prev_size of the next chunk says";
		}
}

/* The top chunk's address is known, and it extends to the end of the segment. */
static void mend_top(const struct xc_glibc_resync *h, xc_addr at, struct repair *repair)
{
	repair->damaged = at;
	repair->next = h->segment->hi + 1;
	repair->state = at == h->segment->top ? XC_BLOCK_TOP : XC_BLOCK_UNKNOWN;
	repair->trust = at == h->segment->top ? SURE : GUESS;
	repair->because = "as the top chunk reaches to the end of the heap";
}

/* `back`: some chunks before `bad`, not below the floor; or `bad`. */
static struct xc_glibc_resync start(const struct xc_glibc_segment *segment, struct xc_window *window, xc_addr back,
				    xc_addr bad, struct xc_glibc_repair_state *repair)
{
	struct xc_glibc_resync h = {.segment = segment,
				    .window = window,
				    .word = segment->glibc->layout.word,
				    .end = segment->hi + 1,
				    .bad = bad,
				    .floor = repair->floor,
				    .effort = &repair->effort};
	struct xc_glibc_chunk top;
	if (segment->top && xc_glibc_resync_load_right(&h, segment->top, &top) &&
	    segment->top + xc_glibc_size(top.head) == segment->hi + 1) /* else the pointer to it may be damaged */
		h.end = segment->top;
	h.anchors = xc_glibc_anchors(segment->glibc, &h.anchor_count);
	find_trail(&h, back);
	return h;
}

/* If chunks continue from a place before `bad`, some chunks that led to `bad` are false. The larger number is
 * believed. */
static bool outweighs(const struct xc_glibc_resync *h, xc_addr place)
{
	struct xc_glibc_chunk chunk;
	size_t with = 0, against = 0;
	for (xc_addr at = place; at < h->bad && xc_glibc_resync_load_right(h, at, &chunk) && with < XC_GLIBC_TRAIL;
	     with++)
		at += xc_glibc_size(chunk.head);
	for (size_t i = 0; i < h->trail_count; i++)
		against += h->trail[i] > place && h->trail[i] < h->bad;
	return with > against;
}

static void find_repair(const struct xc_glibc_resync *h, struct repair *repair_out)
{
	struct repair repair = {.bad = h->bad, .damaged = h->bad, .trust = GUESS};
	if (h->bad >= h->end || h->bad == h->segment->top) {
		mend_top(h, h->bad, &repair);
		*repair_out = repair;
		return;
	}
	xc_addr from = h->trail[0] + 4 * h->word;
	repair.next = xc_glibc_resync_search(h, from > h->floor ? from : h->floor + XC_GLIBC_ALIGN, h->bad);
	bool before = repair.next < h->bad && outweighs(h, repair.next);
	if (before || !only_flags(h, &repair)) {
		if (!before)
			repair.next = xc_glibc_resync_search(h, h->bad + 4 * h->word, h->end);
		blame(h, &repair);
	}
	if (repair.next > h->segment->hi && xc_glibc_resync_on_trail(h, h->segment->top))
		mend_top(h, h->segment->top, &repair); /* its size looked right */
	else
		classify(h, &repair);
	*repair_out = repair;
}

/* ---- recording ---- */

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
		return; /* it would be discarded */
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
	xc_walk_add_damage(walk, &damage);
}

/* ---- interface of the walk ---- */

/* Some blocks before, as far as the walk may return. */
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

xc_addr xc_glibc_repair(struct xc_walk *walk, const struct xc_glibc_segment *segment, xc_addr bad, const char *why,
			struct xc_glibc_repair_state *repair)
{
	struct xc_block_list *blocks = &walk->blocks;
	struct repair done;
	struct xc_glibc_chunk chunk;
	unsigned word = segment->glibc->layout.word, header = 2 * word;
	xc_addr back = some_before(blocks, header, bad, repair->floor);
	struct xc_glibc_resync h = start(segment, &walk->window, back, bad, repair);
	find_repair(&h, &done);
	xc_block_list_cut(blocks, done.damaged + header);
	for (size_t i = 0; i < h.trail_count && h.trail[i] < done.damaged; i++)
		if (h.trail[i] >= bad && xc_glibc_resync_load(&h, h.trail[i], &chunk)) /* it was correct after all */
			xc_block_list_add(blocks, h.trail[i] + header, xc_glibc_size(chunk.head) - word,
					  xc_glibc_resync_state(&h, h.trail[i]));
	if (done.next - done.damaged >= 2 * header)
		xc_block_list_add(blocks, done.damaged + header,
				  done.next - done.damaged - (done.state == XC_BLOCK_TOP ? header : word), done.state);
	if (repair->effort == 0 && done.trust == GUESS)
		done.because = "if it was one chunk: so much is damaged that the search for others was abandoned";
	note(walk, segment, &done, done.damaged == bad ? why : NULL);
	if (done.next <= bad)
		repair->floor = done.next;
	return done.next;
}
