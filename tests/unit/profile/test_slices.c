/* layer: profile
 *
 * What is counted over time adds up, whatever slices are joined. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdlib.h>

#include "profile/data/profile_data.h"
#include "profile/data/slices.h"

enum { COUNTS = 40, MS = 1000000, START = 5 * MS };

static uint64_t sum_of(const struct xc_slices *s, uint32_t count, uint64_t from_slice)
{
	uint64_t sum = 0;
	for (size_t i = 0; i < s->entry_count; i++)
		if (s->entries[i].count == count && s->entries[i].slice >= from_slice)
			sum += s->entries[i].samples;
	return sum;
}

static void all_samples_are_kept_in_their_order(void **state)
{
	struct xc_slices s;
	uint64_t sums[COUNTS] = {0};
	(void)state;
	srand(7);
	xc_slices_init(&s, START);
	s.most = 3000;
	for (uint64_t now = START, turn = 0; turn < 100000; turn++) {
		const uint32_t count = (uint32_t)rand() % COUNTS;
		const uint64_t samples = 1 + (uint64_t)rand() % 20, from = now - (uint64_t)rand() % (turn % 7 ? 1 : MS);
		now += (uint64_t)rand() % (MS / 5);
		xc_slices_add(&s, count, from, now, samples);
		sums[count] += samples;
	}
	assert_in_range(s.entry_count, 100, 3000 + XC_PROFILE_SLICES);
	xc_slices_merge(&s);
	for (uint32_t i = 0; i < COUNTS; i++)
		assert_int_equal(sum_of(&s, i, 0), sums[i]);
	for (size_t i = 0; i < s.entry_count; i++) {
		const struct xc_slice_entry *one = &s.entries[i], *before = one - 1;
		assert_in_range(one->slice, 0, XC_PROFILE_SLICES - 1);
		assert_true(!i || one->count > before->count || one->slice > before->slice);
	}
	xc_slices_fini(&s);
}

static void a_long_wait_is_spread_over_its_time(void **state)
{
	struct xc_slices s;
	(void)state;
	xc_slices_init(&s, START);
	xc_slices_add(&s, 3, START + 10 * MS, START + 110 * MS, 50);
	assert_int_equal(s.length_ns, MS);
	xc_slices_merge(&s);
	assert_int_equal(sum_of(&s, 3, 0), 50);
	assert_int_equal(sum_of(&s, 3, 10), 50);
	assert_int_equal(sum_of(&s, 3, 60), 25);
	assert_int_equal(sum_of(&s, 3, 110), 0);
	xc_slices_add(&s, 3, START - 4, START - 2, 7); /* before the start: in the first */
	xc_slices_merge(&s);
	assert_int_equal(sum_of(&s, 3, 0), 57);
	xc_slices_add(&s, 0, START + 86400000 * (uint64_t)MS, START + 86400000 * (uint64_t)MS, 1); /* a day later */
	assert_int_equal(sum_of(&s, 3, 0), 57);
	assert_int_equal(sum_of(&s, 0, XC_PROFILE_SLICES / 2), 1);
	xc_slices_fini(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(all_samples_are_kept_in_their_order),
		cmocka_unit_test(a_long_wait_is_spread_over_its_time),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
