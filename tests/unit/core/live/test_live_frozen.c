/* layer: core
 *
 * Frozen ranges against a flat array: the bytes first frozen at an address stay. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "core/live/live_frozen.h"

enum { SIZE = 300, ROUNDS = 300, ADDS = 40 };

static void assert_agrees(const struct xc_live_frozen *f, xc_addr base, const short *oracle)
{
	const struct xc_live_frozen_range *last = NULL;
	for (size_t i = 0; i < SIZE; i++) {
		const struct xc_live_frozen_range *r = xc_live_frozen_find(f, base + i);
		bool frozen = r && r->lo <= base + i;
		assert_int_equal(frozen, oracle[i] >= 0);
		if (frozen)
			assert_int_equal(r->bytes[base + i - r->lo], oracle[i]);
		if (r && r != last)
			assert_true(!last || last->hi < r->lo);
		last = r;
	}
}

static void frozen_ranges_agree_with_a_flat_array(void **state)
{
	const xc_addr bases[] = {0, 0x7f0000000000, UINT64_MAX - SIZE + 1};
	(void)state;
	srand(4711);
	for (int round = 0; round < ROUNDS; round++) {
		struct xc_live_frozen f = {0};
		xc_addr base = bases[round % 3];
		short oracle[SIZE];
		memset(oracle, 0xff, sizeof oracle);
		for (int i = 0; i < ADDS; i++) {
			uint8_t bytes[SIZE];
			size_t lo = (size_t)rand() % SIZE, len = 1 + (size_t)rand() % (SIZE - lo);
			if (rand() % 2)
				len = len < 9 ? len : 1 + len % 9;
			for (size_t k = 0; k < len; k++) {
				bytes[k] = (uint8_t)rand();
				oracle[lo + k] = oracle[lo + k] < 0 ? bytes[k] : oracle[lo + k];
			}
			if (rand() % 2)
				xc_live_frozen_add(&f, base + lo, bytes, len);
			else
				xc_live_frozen_take(&f, base + lo, memcpy(xc_alloc(len), bytes, len), len);
			assert_agrees(&f, base, oracle);
		}
		xc_live_frozen_clear(&f);
		assert_null(xc_live_frozen_find(&f, base));
	}
}

static void there_is_a_limit_on_bytes_and_on_ranges(void **state)
{
	struct xc_live_frozen f = {0};
	uint8_t byte = 1;
	size_t count = 0;
	(void)state;
	assert_true(xc_live_frozen_fits(&f, XC_FROZEN_MAX));
	assert_false(xc_live_frozen_fits(&f, XC_FROZEN_MAX + 1));
	assert_false(xc_live_frozen_fits(&f, UINT64_MAX));
	for (; xc_live_frozen_fits(&f, 1); count++)
		xc_live_frozen_add(&f, 2 * count, &byte, 1);
	assert_int_equal(count, XC_FROZEN_MAX / 4096);
	xc_live_frozen_clear(&f);
	assert_true(xc_live_frozen_fits(&f, XC_FROZEN_MAX));
}

/* Memory above the window's bytes, as it is now: each byte is that of its address. */
static size_t read_now(struct xc_live_region *region, xc_addr addr, uint8_t *buf, size_t len)
{
	(void)region;
	for (size_t i = 0; i < len; i++)
		buf[i] = (uint8_t)(addr + i);
	return len;
}

static int frozen_byte(const struct xc_live_frozen *f, xc_addr addr)
{
	const struct xc_live_frozen_range *r = xc_live_frozen_find(f, addr);
	return !r || r->lo > addr ? -1 : !r->bytes ? -2 : r->bytes[addr - r->lo];
}

/* What was read later starts at the first address that was asked for; the rest is a hole, and so is the red zone. */
static void a_window_is_held_with_what_was_read_later_or_without(void **state)
{
	static const uint8_t copied[16] = {7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7};
	const xc_addr lo = 0x10000, end = 0x10fff;
	(void)state;
	for (int late = 0; late < 2; late++) {
		struct xc_live_window w = {0};
		struct xc_live_frozen f = {0};
		uint8_t word[8];
		xc_live_window_set(&w, lo, copied, sizeof copied, end);
		assert_int_equal(xc_live_window_read(&w, NULL, end, read_now, lo + 12, word, 4), 4);
		assert_int_equal(word[3], 7);
		assert_int_equal(xc_live_window_read(&w, NULL, end, read_now, lo + 0x801, word, 8), 8);
		assert_int_equal(word[0], 1);
		xc_live_window_hold(&w, &f, late);
		assert_int_equal(frozen_byte(&f, lo), 7);
		assert_int_equal(frozen_byte(&f, lo + 15), 7);
		assert_int_equal(frozen_byte(&f, lo + 16), -2);
		assert_int_equal(frozen_byte(&f, lo + 0x800), -2);
		assert_int_equal(frozen_byte(&f, lo + 0x801), late ? 1 : -2);
		assert_int_equal(frozen_byte(&f, end), late ? 0xff : -2);
		assert_int_equal(frozen_byte(&f, end + 1), -1);
		assert_int_equal(frozen_byte(&f, lo - 1), -2);
		assert_int_equal(frozen_byte(&f, lo - 4096), -1);
		xc_live_frozen_clear(&f);
		xc_live_window_fini(&w);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(frozen_ranges_agree_with_a_flat_array),
		cmocka_unit_test(there_is_a_limit_on_bytes_and_on_ranges),
		cmocka_unit_test(a_window_is_held_with_what_was_read_later_or_without),
	};
	return cmocka_run_group_tests_name("live_frozen", tests, NULL, NULL);
}
