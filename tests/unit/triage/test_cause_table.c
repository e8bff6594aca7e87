/* layer: triage */
/* The table of causes: complete, without duplicates. */
#include "triage/cause_table.h"
#include "tests/support/check.h"

static void names_are_unique(void **state)
{
	(void)state;
	for (const struct xc_cause_rule *a = xc_cause_table; a->classify; a++)
		for (const struct xc_cause_rule *b = a + 1; b->classify; b++)
			assert_string_not_equal(a->name, b->name);
}

static void each_event_has_a_rule_and_each_rule_an_event(void **state)
{
	(void)state;
	unsigned events = 0;
	for (const struct xc_cause_rule *rule = xc_cause_table; rule->classify; rule++) {
		assert_int_not_equal(rule->needs, 0);
		events |= rule->needs;
	}
	assert_int_equal(events, 2 * XC_CAUSE_OTHER - 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names_are_unique),
		cmocka_unit_test(each_event_has_a_rule_and_each_rule_an_event),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
