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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(frozen_ranges_agree_with_a_flat_array),
		cmocka_unit_test(there_is_a_limit_on_bytes_and_on_ranges),
	};
	return cmocka_run_group_tests_name("live_frozen", tests, NULL, NULL);
}
