/* layer: heap
 *
 * A heap made by hand, damaged at each of its chunks in turn: nothing else may be lost. */
#include "tests/support/check.h"

#include "heap/blocks/allocator.h"
#include "heap/report/audit.h"
#include "heap/session/session.h"
#include "tests/support/chunks.h"

static struct chunks *c;

static int set_up(void **state)
{
	(void)state;
	c = chunks_new();
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	chunks_free(c);
	return 0;
}

static bool is_right(const struct xc_heap *heap, unsigned i)
{
	uint32_t block = xc_blocks_find(&heap->blocks, c->at[i] + 16);
	return block != XC_NO_BLOCK && xc_block_addr(&heap->blocks, block) == c->at[i] + 16 &&
	       xc_block_size(&heap->blocks, block) == c->size[i] - 8;
}

/* Chunks that the table lacks or has wrong. */
static unsigned lost(const struct xc_heap *heap)
{
	unsigned count = 0;
	for (unsigned i = 0; i < CHUNKS_COUNT; i++)
		count += !is_right(heap, i);
	return count;
}

static void the_made_heap_is_read_as_it_was_made(void **state)
{
	(void)state;
	chunks_write(c);
	struct xc_heap *heap = xc_heap_open(c->process, NULL);
	xc_audit_lists(heap);
	assert_int_equal(heap->damage_count, 0);
	assert_int_equal(heap->blocks.count, CHUNKS_COUNT + 2); /* a tcache, and top */
	assert_int_equal(lost(heap), 0);
	for (unsigned i = 0; i < CHUNKS_COUNT; i++) {
		uint32_t block = xc_blocks_find(&heap->blocks, c->at[i] + 16);
		enum xc_block_state want = c->free[i] ? XC_BLOCK_BIN : c->cached[i] ? XC_BLOCK_CACHED : XC_BLOCK_LIVE;
		assert_int_equal(xc_block_state(&heap->blocks, block), want);
	}
	assert_int_equal(xc_block_state(&heap->blocks, CHUNKS_COUNT + 1), XC_BLOCK_TOP);
	xc_heap_close(heap);
}

/* One header after the other gets this value. At most `most` blocks are lost each time, and `all` in total. */
static void smash_each(uint64_t (*value)(unsigned i), unsigned most, unsigned all)
{
	unsigned sum = 0;
	for (unsigned i = 0; i < CHUNKS_COUNT; i++) {
		chunks_write(c);
		chunks_put(c, c->at[i] + 8, value(i));
		struct xc_heap *heap = xc_heap_open(c->process, NULL);
		unsigned count = lost(heap);
		if (count > most || heap->damage_count == 0)
			fail_msg("chunk %u: %u blocks lost, %zu damages", i, count, heap->damage_count);
		assert_true(heap->damages[0].addr >= c->at[i ? i - 1 : 0] && heap->damages[0].addr <= c->at[i]);
		sum += count;
		xc_heap_close(heap);
	}
	assert_true(sum <= all);
}

static uint64_t zero(unsigned i)
{
	(void)i;
	return 0;
}

static uint64_t text(unsigned i)
{
	(void)i;
	return UINT64_C(0x4141414141414141);
}

static uint64_t even_text(unsigned i)
{
	(void)i;
	return UINT64_C(0x4242424242424242);
}

static uint64_t one_bit(unsigned i)
{
	return chunks_get(c, c->at[i] + 8) ^ 0x100000;
}

static uint64_t larger(unsigned i)
{
	return chunks_get(c, c->at[i] + 8) + 16; /* leads into the next chunk */
}

static uint64_t no_flags(unsigned i)
{
	return (chunks_get(c, c->at[i] + 8) ^ 6) & ~UINT64_C(1);
}

static uint64_t of_another_arena(unsigned i)
{
	return chunks_get(c, c->at[i] + 8) | 4;
}

static void a_smashed_header_costs_no_block(void **state)
{
	(void)state;
	smash_each(zero, 1, 2);
	smash_each(text, 1, 2);
	smash_each(even_text, 1, 2);
	smash_each(one_bit, 1, 2);
	smash_each(larger, 1, 2);
	smash_each(no_flags, 1, 2);
	smash_each(of_another_arena, 1, 2);
}

/* Two headers at a distance of so many chunks, each with a number that a neighbour wrote there. Both are found, or what
 * is between them is told as a guess. */
static unsigned smash_two(unsigned distance)
{
	unsigned guesses = 0;
	for (unsigned i = 1; i + distance + 1 < CHUNKS_COUNT; i++) {
		chunks_write(c);
		chunks_put(c, c->at[i] + 8, 0x4058e00000000000);
		chunks_put(c, c->at[i + distance] + 8, 0x4063233333333333);
		struct xc_heap *heap = xc_heap_open(c->process, NULL);
		unsigned headers = 0, guess = 0;
		for (size_t k = 0; k < heap->damage_count; k++) {
			headers += heap->damages[k].kind == XC_DAMAGE_HEADER;
			guess += heap->damages[k].lost_lo <= heap->damages[k].lost_hi;
		}
		if ((headers < 2 || lost(heap) > 2) && !guess)
			fail_msg("chunks %u and %u: %u damages, %u blocks lost", i, i + distance, headers, lost(heap));
		guesses += headers < 2;
		xc_heap_close(heap);
	}
	return guesses;
}

static void two_smashed_headers_are_two(void **state)
{
	(void)state;
	assert_int_equal(smash_two(4), 0);
	assert_int_equal(smash_two(3), 0);
	assert_true(smash_two(2) > 0); /* one chunk between them proves nothing */
}

static void a_chunk_of_another_arena_is_told_as_that(void **state)
{
	(void)state;
	chunks_write(c);
	chunks_put(c, c->at[9] + 8, of_another_arena(9));
	struct xc_heap *heap = xc_heap_open(c->process, NULL);
	assert_true(heap->damage_count > 0);
	assert_non_null(strstr(heap->damages[0].what, "another arena"));
	xc_heap_close(heap);
}

/* A block with an overwritten header, and the previous one, contain the bytes of a header of a chunk that ends exactly
 * where a distant chunk starts. */
static void a_number_that_leads_far_away_is_no_chunk(void **state)
{
	(void)state;
	for (unsigned i = 1; i + 30 < CHUNKS_COUNT; i++)
		for (unsigned before = 0; before < 2; before++) {
			unsigned in = i - before;
			if (c->size[in] < 0x60 || c->free[in] || c->cached[in] || c->free[i])
				continue;
			chunks_write(c);
			chunks_put(c, c->at[i] + 8, 0);
			chunks_put(c, c->at[in] + 0x28, (c->at[i + 30] - c->at[in] - 0x20) | !c->free[i + 29]);
			struct xc_heap *heap = xc_heap_open(c->process, NULL);
			assert_in_range(lost(heap), 0, 2);
			xc_heap_close(heap);
		}
}

/* All memory between two chunks is overwritten. */
static void what_goes_on_behind_a_hole_is_found(void **state)
{
	(void)state;
	for (unsigned from = 1; from + 20 < CHUNKS_COUNT; from += 9) {
		chunks_write(c);
		for (xc_addr at = c->at[from] + 8; at < c->at[from + 10] + 8; at += 8)
			chunks_put(c, at, UINT64_C(0x5858585858585858));
		struct xc_heap *heap = xc_heap_open(c->process, NULL);
		assert_in_range(lost(heap), 9, 12);
		const struct xc_damage *damage = heap->damages;
		while (damage->kind != XC_DAMAGE_HEADER) /* the tcache leads into the hole */
			damage++;
		assert_int_equal(damage->addr, c->at[from]);
		assert_int_equal(damage->lost_lo, c->at[from]);
		assert_in_range(damage->lost_hi, c->at[from + 10] - 1, c->at[from + 13]);
		xc_heap_close(heap);
	}
}

static void a_smashed_top_is_still_the_top(void **state)
{
	static const uint64_t values[] = {0, UINT64_MAX, 0x21, 0x1000001};
	(void)state;
	for (size_t i = 0; i < XC_COUNT(values); i++) {
		chunks_write(c);
		chunks_put(c, c->at[CHUNKS_COUNT] + 8, values[i]);
		struct xc_heap *heap = xc_heap_open(c->process, NULL);
		uint32_t last = (uint32_t)heap->blocks.count - 1;
		assert_int_equal(lost(heap), 0);
		assert_int_equal(heap->damages[0].addr, c->at[CHUNKS_COUNT]);
		assert_int_equal(xc_block_addr(&heap->blocks, last), c->at[CHUNKS_COUNT] + 16);
		assert_int_equal(xc_block_state(&heap->blocks, last), XC_BLOCK_TOP);
		xc_heap_close(heap);
	}
}

static void a_lost_pointer_to_the_top_costs_nothing(void **state)
{
	static const uint64_t values[] = {UINT64_MAX - 15, 0x4141414141414141, CHUNKS_HEAP_AT + 0x1238};
	(void)state;
	for (size_t i = 0; i < XC_COUNT(values); i++) {
		chunks_write(c);
		chunks_put(c, CHUNKS_DATA_AT + CHUNKS_STATE + 0x60, values[i]);
		struct xc_heap *heap = xc_heap_open(c->process, NULL);
		assert_int_equal(lost(heap), 0);
		xc_audit_lists(heap);
		assert_true(heap->damage_count > 0);
		xc_heap_close(heap);
	}
}

/* The arena's link to itself, since it is the only one. */
static void a_lost_ring_of_arenas_costs_nothing(void **state)
{
	(void)state;
	chunks_write(c);
	chunks_put(c, CHUNKS_DATA_AT + CHUNKS_STATE + 0x870, CHUNKS_HEAP_AT + 0x1230);
	struct xc_heap *heap = xc_heap_open(c->process, NULL);
	assert_int_equal(lost(heap), 0);
	xc_audit_lists(heap);
	assert_int_equal(heap->damages[0].kind, XC_DAMAGE_BOOKS);
	xc_heap_close(heap);
}

/* A header in each block's data that would lead on endlessly, or back. */
static void a_walk_comes_to_an_end(void **state)
{
	(void)state;
	for (unsigned pattern = 0; pattern < 6; pattern++) {
		chunks_write(c);
		for (xc_addr at = CHUNKS_HEAP_AT + 8; at < CHUNKS_HEAP_AT + CHUNKS_HEAP; at += 16)
			chunks_put(c, at,
				   pattern < 3 ? 0x21 + 16 * pattern : (at * 7919 >> 4) % (1U << (4 * pattern)) | 1);
		struct xc_heap *heap = xc_heap_open(c->process, NULL);
		assert_true(heap->blocks.count <= CHUNKS_HEAP / 32);
		xc_heap_close(heap);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_made_heap_is_read_as_it_was_made),
		cmocka_unit_test(a_smashed_header_costs_no_block),
		cmocka_unit_test(two_smashed_headers_are_two),
		cmocka_unit_test(a_chunk_of_another_arena_is_told_as_that),
		cmocka_unit_test(a_number_that_leads_far_away_is_no_chunk),
		cmocka_unit_test(what_goes_on_behind_a_hole_is_found),
		cmocka_unit_test(a_smashed_top_is_still_the_top),
		cmocka_unit_test(a_lost_pointer_to_the_top_costs_nothing),
		cmocka_unit_test(a_lost_ring_of_arenas_costs_nothing),
		cmocka_unit_test(a_walk_comes_to_an_end),
	};
	return cmocka_run_group_tests(tests, set_up, tear_down);
}
