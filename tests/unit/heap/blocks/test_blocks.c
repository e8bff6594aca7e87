/* layer: heap
 *
 * The table of blocks against a search through all of them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdlib.h>

#include "heap/blocks/blocks.h"

enum { LISTS = 5, A_LIST = 3000 };

static uint64_t seed = 20261121;

static uint64_t any(uint64_t below)
{
	seed ^= seed << 13, seed ^= seed >> 7, seed ^= seed << 17;
	return seed % below;
}

/* Blocks of a list, with gaps, a few of them large; all in a range that other lists may share. */
static void fill(struct xc_block_list *list, xc_addr at, uint64_t step)
{
	xc_block_list_init(list, A_LIST);
	for (size_t i = 0; i < A_LIST; i++) {
		uint64_t size = any(200) ? (2 + any(40)) * step - 8 - any(8) : (1 + any(64)) << 14;
		assert_true(xc_block_list_add(list, at, size, (enum xc_block_state)any(3)));
		at += (size + 8 + step - 1) / step * step + (any(10) ? 0 : any(100000) / step * step);
	}
	assert_false(xc_block_list_add(list, at, 24, XC_BLOCK_LIVE));
}

static uint32_t searched(const struct xc_blocks *blocks, xc_addr addr)
{
	uint32_t from = xc_blocks_from(blocks, addr + 1);
	return from && addr - xc_block_addr(blocks, from - 1) < xc_block_size(blocks, from - 1) ? from - 1
												: XC_NO_BLOCK;
}

static void compare(const struct xc_blocks *blocks)
{
	for (uint32_t i = 0; i < blocks->count; i++) {
		xc_addr lo = xc_block_addr(blocks, i), hi = lo + xc_block_size(blocks, i) - 1;
		assert_int_equal(xc_blocks_find(blocks, lo), i);
		assert_int_equal(xc_blocks_find(blocks, hi), i);
		assert_int_equal(xc_blocks_find(blocks, lo + any(hi - lo + 1)), i);
		assert_int_equal(xc_blocks_find(blocks, hi + 1), searched(blocks, hi + 1));
		assert_int_equal(xc_blocks_find(blocks, lo - 1), searched(blocks, lo - 1));
		if (i)
			assert_true(xc_block_addr(blocks, i - 1) + xc_block_size(blocks, i - 1) <= lo);
	}
	for (int i = 0; i < 100000; i++) {
		xc_addr addr = blocks->lo - 5000 + any(blocks->hi - blocks->lo + 10000);
		assert_int_equal(xc_blocks_find(blocks, addr), searched(blocks, addr));
	}
	assert_int_equal(xc_blocks_find(blocks, 0), XC_NO_BLOCK);
	assert_int_equal(xc_blocks_find(blocks, UINT64_MAX), XC_NO_BLOCK);
}

static void an_address_finds_the_block_that_a_search_finds(void **state)
{
	(void)state;
	for (unsigned granule = 8; granule <= 16; granule *= 2) {
		struct xc_block_list lists[LISTS];
		struct xc_blocks blocks;
		size_t total = 0;
		for (size_t i = 0; i < LISTS; i++) {
			fill(&lists[i], 0x7f0000000000 + i * 0x1fff00000, granule); /* disjoint, not in order below */
			total += lists[i].count;
		}
		struct xc_block_list swapped = lists[0];
		lists[0] = lists[3];
		lists[3] = swapped;
		xc_blocks_build(&blocks, lists, LISTS);
		assert_int_equal(blocks.count, total);
		assert_int_equal(blocks.left_out, 0);
		compare(&blocks);
		xc_blocks_fini(&blocks);
		for (size_t i = 0; i < LISTS; i++)
			xc_block_list_fini(&lists[i]);
	}
}

/* Lists in the same range: overlapping blocks are dropped, the others interleave. */
static void lists_that_lie_between_each_other_become_one_order(void **state)
{
	(void)state;
	struct xc_block_list lists[LISTS];
	struct xc_blocks blocks;
	size_t total = 0;
	for (size_t i = 0; i < LISTS; i++) {
		fill(&lists[i], 0x555500000000 + i * 0x10000, 16);
		total += lists[i].count;
	}
	xc_blocks_build(&blocks, lists, LISTS);
	assert_int_equal(blocks.count + blocks.left_out, total);
	assert_true(blocks.left_out > 0);
	compare(&blocks);
	xc_blocks_fini(&blocks);
	for (size_t i = 0; i < LISTS; i++)
		xc_block_list_fini(&lists[i]);
}

static void impossible_blocks_are_left_out_and_counted(void **state)
{
	(void)state;
	struct xc_block_list list;
	struct xc_blocks blocks;
	xc_block_list_init(&list, 16);
	assert_true(xc_block_list_add(&list, 0x1000, 4096, XC_BLOCK_LIVE));
	assert_true(xc_block_list_add(&list, 0x1010, 16, XC_BLOCK_LIVE));                /* in the previous one */
	assert_true(xc_block_list_add(&list, 0x2004, 16, XC_BLOCK_LIVE));                /* not aligned */
	assert_true(xc_block_list_add(&list, 0x3000, 0, XC_BLOCK_LIVE));                 /* empty */
	assert_true(xc_block_list_add(&list, UINT64_C(1) << 60, 16, XC_BLOCK_LIVE));     /* at no possible address */
	assert_true(xc_block_list_add(&list, 0x4000, UINT64_MAX - 15, XC_BLOCK_LIVE));   /* too far */
	assert_true(xc_block_list_add(&list, 0x5000, UINT64_C(1) << 40, XC_BLOCK_LIVE)); /* large, but possible */
	assert_int_equal(list.left_out, 5);
	xc_blocks_build(&blocks, &list, 1);
	assert_int_equal(blocks.count, 2);
	assert_int_equal(xc_block_size(&blocks, 1), UINT64_C(1) << 40);
	assert_int_equal(xc_blocks_find(&blocks, 0x5000 + (UINT64_C(1) << 40) - 1), 1);
	assert_int_equal(xc_blocks_find(&blocks, 0x5000 + (UINT64_C(1) << 40)), XC_NO_BLOCK);
	assert_int_equal(xc_blocks_find(&blocks, 0x2004), XC_NO_BLOCK);
	xc_blocks_fini(&blocks);
	xc_block_list_fini(&list);
}

/* Hostile sizes must not cost memory without bound. */
static void blocks_over_all_of_memory_cost_little(void **state)
{
	(void)state;
	struct xc_block_list list;
	struct xc_blocks blocks;
	xc_block_list_init(&list, 64);
	for (uint64_t i = 0; i < 60; i++)
		assert_true(xc_block_list_add(&list, 0x10000 + (i << 51), (UINT64_C(1) << 51) - 64, XC_BLOCK_LIVE));
	xc_blocks_build(&blocks, &list, 1);
	assert_int_equal(blocks.count, 0);
	assert_int_equal(blocks.left_out, 60);
	assert_int_equal(xc_blocks_find(&blocks, 0x10000), XC_NO_BLOCK);
	xc_blocks_fini(&blocks);
	xc_block_list_fini(&list);
}

/* Blocks of terabytes between small ones: all are found, and few tables are needed. */
static void claims_of_terabytes_take_three_tables_each(void **state)
{
	(void)state;
	enum { CLAIMS = 300 };
	const uint64_t step = UINT64_C(1) << 39, claim = (UINT64_C(1) << 38) + (7 << 20);
	struct xc_block_list list;
	struct xc_blocks blocks;
	xc_block_list_init(&list, 3 * CLAIMS);
	for (uint64_t i = 0; i < CLAIMS; i++) {
		xc_addr at = (UINT64_C(1) << 40) + i * step;
		assert_true(xc_block_list_add(&list, at - 64, 56, XC_BLOCK_LIVE));
		assert_true(xc_block_list_add(&list, at + (3 << 20), claim, XC_BLOCK_LIVE));
		assert_true(xc_block_list_add(&list, at + (3 << 20) + claim + 64, 24, XC_BLOCK_LIVE));
	}
	xc_blocks_build(&blocks, &list, 1);
	assert_true(blocks.table_count <= XC_BLOCK_TABLES_MAX);
	assert_int_equal(blocks.count + blocks.left_out, 3 * CLAIMS);
	assert_true(blocks.count > XC_BLOCK_TABLES_MAX / 2);
	compare(&blocks);
	for (uint32_t i = 0; i < blocks.count; i++)
		for (uint64_t at = 0; at < xc_block_size(&blocks, i); at += UINT64_C(1) << 31)
			assert_int_equal(xc_blocks_find(&blocks, xc_block_addr(&blocks, i) + at), i);
	xc_blocks_fini(&blocks);
	xc_block_list_fini(&list);
}

/* Pages of a list are given back while it is merged, so that the peak is that of the table. */
static void a_large_heap_is_not_held_twice(void **state)
{
	(void)state;
	enum { LARGE = 3 << 18, SMALL = 1 << 14 };
	struct xc_block_list lists[2];
	struct xc_blocks blocks;
	for (size_t i = 0; i < 2; i++) {
		xc_block_list_init(&lists[i], LARGE);
		for (uint64_t k = 0; k < (i ? SMALL : LARGE); k++)
			assert_true(xc_block_list_add(&lists[i], 0x10000 + i * 0x4000000 + k * 64, 48, XC_BLOCK_LIVE));
	}
	xc_blocks_build(&blocks, lists, 2);
	assert_int_equal(blocks.count + blocks.left_out, LARGE + SMALL);
	assert_int_equal(xc_blocks_find(&blocks, 0x10000 + 5000 * 64), 5000);
	for (size_t i = 0; i < 2; i++) {
		assert_int_equal(lists[i].heads[100], 0);
		assert_int_equal(lists[i].sizes[100], 0);
		xc_block_list_fini(&lists[i]);
	}
	xc_blocks_fini(&blocks);
}

/* Only blocks without a table are left out. */
static void a_claim_that_is_too_large_costs_no_other_block(void **state)
{
	(void)state;
	struct xc_block_list list;
	struct xc_blocks blocks;
	xc_block_list_init(&list, 8);
	assert_true(xc_block_list_add(&list, 0x1000, 64, XC_BLOCK_LIVE));
	assert_true(xc_block_list_add(&list, 0x2000, UINT64_C(1) << 40, XC_BLOCK_LIVE));
	assert_true(xc_block_list_add(&list, UINT64_C(1) << 41, UINT64_C(1) << 56, XC_BLOCK_LIVE)); /* too large */
	assert_true(
		xc_block_list_add(&list, (UINT64_C(1) << 56) + (UINT64_C(1) << 42), UINT64_C(5) << 32, XC_BLOCK_LIVE));
	assert_true(xc_block_list_add(&list, (UINT64_C(1) << 56) + (UINT64_C(1) << 43), 64, XC_BLOCK_LIVE));
	xc_blocks_build(&blocks, &list, 1);
	assert_int_equal(blocks.left_out, 1);
	assert_int_equal(blocks.count, 4);
	assert_int_equal(xc_block_size(&blocks, 2), UINT64_C(5) << 32);
	assert_int_equal(xc_blocks_find(&blocks, UINT64_C(1) << 41), XC_NO_BLOCK);
	compare(&blocks);
	xc_blocks_fini(&blocks);
	xc_block_list_fini(&list);
}

static void states_can_be_corrected(void **state)
{
	(void)state;
	struct xc_block_list list;
	struct xc_blocks blocks;
	xc_block_list_init(&list, 16);
	for (xc_addr at = 0x1000; at < 0x1400; at += 0x40)
		assert_true(xc_block_list_add(&list, at, 0x38, XC_BLOCK_LIVE));
	xc_blocks_build(&blocks, &list, 1);
	xc_blocks_set_state(&blocks, 3, XC_BLOCK_CACHED);
	assert_int_equal(xc_block_state(&blocks, 3), XC_BLOCK_CACHED);
	assert_int_equal(xc_block_addr(&blocks, 3), 0x10c0);
	assert_string_equal(xc_block_state_word(XC_BLOCK_CACHED), "free");
	assert_string_equal(xc_block_free_word(XC_BLOCK_CACHED), "tcache");
	assert_null(xc_block_free_word(XC_BLOCK_LIVE));
	assert_int_equal(xc_block_state(&blocks, 4), XC_BLOCK_LIVE);
	xc_blocks_fini(&blocks);
	xc_block_list_fini(&list);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_address_finds_the_block_that_a_search_finds),
		cmocka_unit_test(lists_that_lie_between_each_other_become_one_order),
		cmocka_unit_test(impossible_blocks_are_left_out_and_counted),
		cmocka_unit_test(blocks_over_all_of_memory_cost_little),
		cmocka_unit_test(a_large_heap_is_not_held_twice),
		cmocka_unit_test(claims_of_terabytes_take_three_tables_each),
		cmocka_unit_test(a_claim_that_is_too_large_costs_no_other_block),
		cmocka_unit_test(states_can_be_corrected),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
