/* layer: profile
 *
 * The median of delays is that of the sorted delays, or at most a quarter above it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdlib.h>

#include "profile/read_delays.h"

enum { COUNT = 1001 };

static int by_size(const void *a, const void *b)
{
	const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
	return (x > y) - (x < y);
}

static void the_median_is_that_of_the_sorted_delays(void **state)
{
	(void)state;
	srand(3);
	for (unsigned bits = 0; bits < 64; bits++) {
		struct xc_read_delays d = {0};
		uint64_t all[COUNT];
		for (size_t i = 0; i < COUNT; i++) {
			all[i] = ((uint64_t)rand() << 33 ^ (uint64_t)rand() << 11 ^ (uint64_t)rand()) >> bits;
			xc_read_delays_add(&d, all[i]);
		}
		qsort(all, COUNT, sizeof *all, by_size);
		const uint64_t right = all[COUNT / 2], median = xc_read_delays_median(&d);
		assert_true(median >= right && median - right <= right / 4);
		assert_int_equal(d.most_ns, all[COUNT - 1]);
	}
}

static void none_and_the_largest(void **state)
{
	(void)state;
	struct xc_read_delays d = {0};
	assert_int_equal(xc_read_delays_median(&d), 0);
	xc_read_delays_add(&d, UINT64_MAX);
	assert_true(xc_read_delays_median(&d) == UINT64_MAX);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_median_is_that_of_the_sorted_delays),
		cmocka_unit_test(none_and_the_largest),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
