/* tcmalloc: the objects of gperftools' spans, which tcmalloc_find.c finds. Checked against gperftools 2.10.
 *
 * A span with a class is an array of objects. Free ones are in one of three places, always linked by their first
 * words:
 *
 *	the span's own list         its length is objects - refcount            bin
 *	transfer caches             batches on their way between threads        cached
 *	caches of threads           with their length                           cached
 *
 * The first is read with the span. The other two lead through spans of all places, so they are followed when the
 * table of blocks is complete. A span without a class is one large block. Nothing is between objects, so an overrun
 * destroys no more than a free object's link. Then the list continues at the only chain of objects that is on no
 * other list and has the missing length. */
#include "heap/allocators/tcmalloc_impl.h"

#include <stdlib.h>

#include "heap/blocks/slab.h"

/* ---- one span ---- */

static void damaged_list(struct xc_walk *walk, const struct tc_span *span, const struct xc_slab_list *list)
{
	const struct tc_state *state = walk->state;
	struct xc_damage damage = {.addr = list->at,
				   .what = list->wrong ? list->wrong : "the list of free objects ends early",
				   .lost_lo = 1,
				   .arena = state->arena,
				   .before = XC_NO_BLOCK};
	damage.found = xc_arena_printf(&walk->memory, "0x%llx in the span of %u-byte objects at 0x%llx",
				       (unsigned long long)list->next, span->size, (unsigned long long)span->lo);
	damage.expected = xc_arena_printf(&walk->memory, "a free object of that span: %u more are free", span->missing);
	xc_walk_add_damage(walk, &damage);
}

static void read_free(struct xc_walk *walk, struct tc_span *span, struct xc_slab *slab)
{
	uint64_t free_count = slab->count > span->in_use ? slab->count - span->in_use : 0;
	struct xc_slab_list list = {.at = span->span + 32, .next = span->objects};
	xc_slab_follow(slab, &list, free_count);
	span->missing = (uint32_t)(free_count - list.found);
	if (!span->missing && list.next)
		list.wrong = "the list of free objects is longer than the span's count says";
	if (span->missing || list.wrong)
		damaged_list(walk, span, &list);
}

static void walk_span(struct xc_walk *walk, struct tc_span *span)
{
	if (!span->size) {
		xc_block_list_add(&walk->blocks, span->lo, span->bytes,
				  span->location == TC_IN_USE ? XC_BLOCK_LIVE : XC_BLOCK_BIN);
		return;
	}
	struct xc_slab slab = {.window = &walk->window, .lo = span->lo, .size = span->size, .count = tc_objects(span)};
	slab.free = xc_alloc(slab.count);
	read_free(walk, span, &slab);
	for (uint64_t i = 0; i < slab.count; i++)
		xc_block_list_add(&walk->blocks, span->lo + i * span->size, span->size,
				  slab.free[i] ? XC_BLOCK_BIN : XC_BLOCK_LIVE);
	free(slab.free);
}

static void walk(struct xc_walk *walk, size_t piece)
{
	const struct tc_state *state = walk->state;
	size_t most = 0;
	for (size_t i = state->pieces[piece]; i < state->pieces[piece + 1]; i++)
		most += tc_objects(&state->spans[i]);
	xc_block_list_init(&walk->blocks, most);
	for (size_t i = state->pieces[piece]; i < state->pieces[piece + 1]; i++)
		walk_span(walk, &state->spans[i]);
}

/* ---- caches ---- */

struct settler {
	struct xc_heap *heap;
	const struct tc_state *state;
	uint64_t effort; /* left for broken lists */
};

/* A broken list. */
struct broken {
	struct tc_list rest;        /* the object whose link leads nowhere; the list's head */
	xc_addr next;               /* … if that is known */
	const struct tc_span *span; /* whose own list it is; else NULL */
};

/* The live block at this address that is an object of the class; XC_NO_BLOCK if there is none. */
static uint32_t live_object(const struct settler *s, xc_addr object, unsigned size_class)
{
	const struct xc_blocks *blocks = &s->heap->blocks;
	uint32_t block = xc_blocks_find(blocks, object);
	return block != XC_NO_BLOCK && xc_block_addr(blocks, block) == object &&
			       xc_block_size(blocks, block) == s->state->sizes[size_class] &&
			       xc_block_state(blocks, block) == XC_BLOCK_LIVE
		       ? block
		       : XC_NO_BLOCK;
}

/* Frees everything on a list. The list of a thread has a length; a batch in transfer ends with 0. False if the list
 * breaks. */
static bool settle_list(struct settler *s, const struct tc_list *list, struct broken *broken)
{
	*broken = (struct broken){.rest = *list, .next = list->head};
	for (; broken->rest.count && (list->thread || broken->next); broken->rest.count--) {
		uint32_t block = live_object(s, broken->next, list->size_class);
		if (block == XC_NO_BLOCK)
			return false;
		xc_blocks_set_state(&s->heap->blocks, block, XC_BLOCK_CACHED);
		broken->rest.head = broken->next;
		if (!xc_space_peek_uint(s->heap->process->space, broken->next, 8, &broken->next))
			broken->next = UINT64_MAX;
	}
	return true;
}

/* The length of the chain of live objects that begins here and ends like the list: with 0, and for a batch in
 * transfer with its tail. 0 if it does not. */
static uint64_t chain_of(struct settler *s, const struct broken *broken, xc_addr at)
{
	const struct tc_list *list = &broken->rest;
	const struct tc_span *span = broken->span;
	xc_addr last = 0;
	for (uint64_t length = 0; length <= list->count && s->effort; length++, s->effort--) {
		if (!at)
			return !list->tail || last == list->tail ? length : 0;
		if (span && at - span->lo >= span->bytes)
			return 0;
		last = at;
		if (live_object(s, at, list->size_class) == XC_NO_BLOCK ||
		    !xc_space_peek_uint(s->heap->process->space, at, 8, &at))
			return 0;
	}
	return 0;
}

/* Searches the objects of a span for the rest of a list. False if there are several candidates. */
static bool find_within(struct settler *s, const struct broken *broken, const struct tc_span *span, uint64_t *best,
			xc_addr *found)
{
	for (uint64_t i = 0; i < tc_objects(span) && s->effort; i++) {
		uint64_t length = chain_of(s, broken, span->lo + i * span->size);
		bool longer = broken->rest.tail && length > *best;
		if (!longer && length != broken->rest.count)
			continue;
		if (*found && !longer)
			return false;
		*found = span->lo + i * span->size;
		*best = length;
	}
	return true;
}

/* The beginning of the missing objects of a broken list; 0 if it is uncertain. A list of known length continues in
 * the only chain of the missing length, a batch in transfer in the longest chain that ends with its tail. */
static xc_addr find_rest(struct settler *s, const struct broken *broken)
{
	uint64_t best = 0;
	xc_addr found = 0;
	if (broken->span)
		return find_within(s, broken, broken->span, &best, &found) && s->effort ? found : 0;
	for (size_t i = 0; i < s->state->count; i++)
		if (s->state->spans[i].size_class == broken->rest.size_class &&
		    !find_within(s, broken, &s->state->spans[i], &best, &found))
			return 0;
	return s->effort ? found : 0;
}

/* Frees the rest; returns the number of objects. */
static uint64_t mark_rest(struct settler *s, const struct broken *broken, xc_addr at)
{
	uint64_t count = 0;
	for (; at && count < broken->rest.count; count++) {
		uint32_t block = live_object(s, at, broken->rest.size_class);
		if (block == XC_NO_BLOCK || !xc_space_peek_uint(s->heap->process->space, at, 8, &at))
			break;
		xc_blocks_set_state(&s->heap->blocks, block, broken->span ? XC_BLOCK_BIN : XC_BLOCK_CACHED);
	}
	return count;
}

static void damaged_cache(struct settler *s, const struct broken *broken, uint64_t mended)
{
	const struct tc_list *list = &broken->rest;
	struct xc_arena *memory = &s->heap->memory;
	struct xc_damage damage = {.addr = list->head, .lost_lo = 1, .arena = s->state->arena, .before = XC_NO_BLOCK};
	damage.what = list->thread ? "the link of an object in a thread's cache leads to no object of its class"
				   : "the link of an object in transfer leads to no object of its class";
	damage.found = xc_arena_printf(memory, "0x%llx in a list of %u-byte objects", (unsigned long long)broken->next,
				       s->state->sizes[list->size_class]);
	if (list->thread)
		damage.expected =
			xc_arena_printf(memory, "%llu more objects: %llu were found, the others count as live",
					(unsigned long long)list->count, (unsigned long long)mended);
	xc_heap_add_damage(s->heap, &damage);
}

static void mend(struct settler *s, const struct broken *broken)
{
	xc_addr rest = find_rest(s, broken);
	uint64_t mended = rest ? mark_rest(s, broken, rest) : 0;
	if (!broken->span) /* the walk has reported those of spans */
		damaged_cache(s, broken, mended);
}

/* Broken lists are repaired after all others are known: only objects on no list may be the rest of one. */
static void settle(struct xc_heap *heap, void *memory)
{
	struct settler s = {.heap = heap, .state = memory, .effort = 1 << 24};
	struct broken *broken = NULL;
	size_t count = 0, capacity = 0;
	for (size_t i = 0; i < s.state->list_count; i++) {
		broken = xc_grow(broken, count, &capacity, sizeof *broken);
		count += !settle_list(&s, &s.state->lists[i], &broken[count]);
	}
	for (size_t i = 0; i < count; i++)
		mend(&s, &broken[i]);
	free(broken);
	for (size_t i = 0; i < s.state->count; i++) {
		const struct tc_span *span = &s.state->spans[i];
		if (span->missing)
			mend(&s, &(struct broken){.rest = {.count = span->missing, .size_class = span->size_class},
						  .span = span});
	}
}

/* ---- the table's entry ---- */

static void fini(void *memory)
{
	struct tc_state *state = memory;
	free(state->spans);
	free(state->lists);
	free(state->pieces);
	free(state);
}

static void *detect(struct xc_heap *heap, size_t *pieces_out, const char **why_out)
{
	struct tc_state *state = xc_alloc(sizeof *state);
	if (!tc_find(heap, state, why_out)) {
		fini(state);
		return NULL;
	}
	*pieces_out = state->piece_count;
	return state;
}

static void explain(const struct xc_heap *heap, void *memory, uint32_t block, struct xc_text *text)
{
	const struct tc_state *state = memory;
	xc_addr addr = xc_block_addr(&heap->blocks, block);
	size_t lo = XC_LOWER_BOUND(state->count, i, state->spans[i].lo <= addr);
	if (lo == 0 || addr - state->spans[lo - 1].lo >= state->spans[lo - 1].bytes)
		return;
	const struct tc_span *span = &state->spans[lo - 1];
	if (span->size)
		xc_text_printf(text, "object %llu of %llu, %u bytes each (class %u), ",
			       (unsigned long long)((addr - span->lo) / span->size),
			       (unsigned long long)tc_objects(span), span->size, span->size_class);
	xc_text_printf(text, "span 0x%llx: %llu pages at 0x%llx%s", (unsigned long long)span->span,
		       (unsigned long long)(span->bytes >> state->page_bits), (unsigned long long)span->lo,
		       span->location == TC_FREE       ? ", free"
		       : span->location == TC_RETURNED ? ", free and given back to the system"
						       : "");
}

const struct xc_allocator xc_allocator_tcmalloc = {
	.name = "tcmalloc",
	.leaves_links = true,
	.checks =
		"spans against the page map; the links of free objects in spans, transfer caches and caches of threads",
	.detect = detect,
	.walk = walk,
	.settle = settle,
	.fini = fini,
	.explain = explain,
};
