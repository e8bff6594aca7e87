/* layer: triage tier: check
 *
 * Numbers of one byte, all values that matter, against turning the loop itself. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "triage/loop/meeting.h"

enum { BELOW = 2, EQUAL = 4, NOT_ABOVE = 6, LESS = 12, NOT_GREATER = 14 };

static bool holds(unsigned condition, uint8_t left, uint8_t right)
{
	bool is = (condition & ~1u) == BELOW       ? left < right
		  : (condition & ~1u) == EQUAL     ? left == right
		  : (condition & ~1u) == NOT_ABOVE ? left <= right
		  : (condition & ~1u) == LESS      ? (int8_t)left < (int8_t)right
						   : (int8_t)left <= (int8_t)right;
	return is != (condition & 1);
}

/* Turns until the condition is another one; UINT64_MAX: it never is. */
static uint64_t turn(const struct xc_meeting *m)
{
	uint8_t left = (uint8_t)m->left, right = (uint8_t)m->right;
	for (uint64_t rounds = 1; rounds <= 256; rounds++) {
		left = (uint8_t)(left + m->left_step);
		right = (uint8_t)(right + m->right_step);
		if (holds(m->condition, left, right) != m->holds)
			return rounds;
	}
	return UINT64_MAX;
}

static void check(unsigned condition, uint8_t left, uint8_t right, uint8_t left_step, uint8_t right_step)
{
	bool wraps;
	const struct xc_meeting m = {.left = left,
				     .right = right,
				     .left_step = left_step,
				     .right_step = right_step,
				     .size = 1,
				     .condition = condition,
				     .holds = holds(condition, left, right)};
	uint64_t said = xc_meeting_rounds(&m, &wraps), is = turn(&m);
	if (said != is)
		print_error("condition %u, %u by %u, %u by %u: %llu for %llu\n", condition, left, left_step, right,
			    right_step, (unsigned long long)said, (unsigned long long)is);
	assert_int_equal(said, is);
}

static void an_equality_is_met_after_so_many_rounds_or_never(void **state)
{
	(void)state;
	for (unsigned left = 0; left < 256; left += 11)
		for (unsigned right = 0; right < 256; right += 7)
			for (unsigned step = 0; step < 256; step++) {
				check(EQUAL, (uint8_t)left, (uint8_t)right, (uint8_t)step, 0);
				check(EQUAL + 1, (uint8_t)left, (uint8_t)right, (uint8_t)step, 3);
			}
}

/* With larger steps a number may go past the end of the interval and round it in one step, which is not foreseen. */
static void an_order_changes_after_so_many_rounds_or_never(void **state)
{
	static const unsigned conditions[] = {BELOW, NOT_ABOVE, LESS, NOT_GREATER};
	static const uint8_t steps[] = {0, 1, 255};
	(void)state;
	for (size_t c = 0; c < XC_COUNT(conditions); c++)
		for (unsigned left = 0; left < 256; left += 3)
			for (unsigned right = 0; right < 256; right += 1 + right % 3)
				for (size_t s = 0; s < XC_COUNT(steps); s++)
					for (unsigned not = 0; not < 2; not ++) {
						check(conditions[c] + not, (uint8_t)left, (uint8_t)right, steps[s], 0);
						check(conditions[c] + not, (uint8_t)left, (uint8_t)right, 0, steps[s]);
					}
}

static void what_goes_round_is_told(void **state)
{
	bool wraps;
	struct xc_meeting m = {.left = 5, .right = 10, .left_step = 1, .size = 4, .condition = LESS, .holds = true};
	(void)state;
	assert_int_equal(xc_meeting_rounds(&m, &wraps), 5);
	assert_false(wraps);
	m.left_step = UINT32_MAX; /* -1 */
	assert_int_equal(xc_meeting_rounds(&m, &wraps), (UINT64_C(1) << 31) + 6);
	assert_true(wraps);
	m.condition = EQUAL;
	m.holds = false;
	assert_int_equal(xc_meeting_rounds(&m, &wraps), UINT32_MAX - 4);
	assert_true(wraps);
}

static void what_is_not_understood_is_not_known(void **state)
{
	bool wraps;
	struct xc_meeting m = {.left = 5, .right = 10, .left_step = 1, .right_step = 2, .size = 8, .condition = LESS};
	(void)state;
	assert_int_equal(xc_meeting_rounds(&m, &wraps), 0); /* both move */
	m.right_step = 0;
	m.condition = 10; /* parity */
	assert_int_equal(xc_meeting_rounds(&m, &wraps), 0);
	m.size = 0;
	assert_int_equal(xc_meeting_rounds(&m, &wraps), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_equality_is_met_after_so_many_rounds_or_never),
		cmocka_unit_test(an_order_changes_after_so_many_rounds_or_never),
		cmocka_unit_test(what_goes_round_is_told),
		cmocka_unit_test(what_is_not_understood_is_not_known),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
