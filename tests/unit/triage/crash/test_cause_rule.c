/* layer: triage */
/* Rules are tried in order until one classifies the crash; only rules that need the current event are tried. */
#include <signal.h>

#include "triage/crash/cause_rule.h"
#include "tests/support/check.h"

static char tried[8];

static bool try_a(struct xc_crash_context *q)
{
	(void)q;
	strcat(tried, "a");
	return false;
}

static bool try_b(struct xc_crash_context *q)
{
	(void)q;
	strcat(tried, "b");
	return true;
}

static bool try_c(struct xc_crash_context *q)
{
	(void)q;
	strcat(tried, "c");
	return true;
}

static const struct xc_cause_rule rules[] = {
	{"a", XC_CAUSE_SEGV | XC_CAUSE_ILL, try_a},
	{"b", XC_CAUSE_SEGV | XC_CAUSE_ABORT, try_b},
	{"c", XC_CAUSE_ILL | XC_CAUSE_ABORT, try_c},
	{NULL, 0, NULL},
};

static void assert_tried(enum xc_cause_event event, bool classified, const char *which)
{
	struct xc_crash_context q = {.rules = rules};
	tried[0] = '\0';
	assert_int_equal(xc_cause_rule_apply(&q, event), classified);
	assert_string_equal(tried, which);
}

static void the_first_rule_of_the_event_that_holds_decides(void **state)
{
	(void)state;
	assert_tried(XC_CAUSE_SEGV, true, "ab");
	assert_tried(XC_CAUSE_ILL, true, "ac");
	assert_tried(XC_CAUSE_ABORT, true, "b");
	assert_tried(XC_CAUSE_FPE, false, "");
}

static void without_rules_nothing_is_classified(void **state)
{
	(void)state;
	struct xc_crash_context q = {.rules = NULL};
	assert_false(xc_cause_rule_apply(&q, XC_CAUSE_SEGV));
}

static void a_stack_segment_fault_is_an_access_like_any_other(void **state)
{
	(void)state;
	struct xc_fault fault = {.signal = SIGBUS, .code = BUS_ADRERR, .code_known = true};
	assert_int_equal(xc_cause_rule_event(&fault), XC_CAUSE_BUS);
	fault.code = SI_KERNEL;
	assert_int_equal(xc_cause_rule_event(&fault), XC_CAUSE_SEGV);
	fault.code_known = false;
	assert_int_equal(xc_cause_rule_event(&fault), XC_CAUSE_BUS);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_first_rule_of_the_event_that_holds_decides),
		cmocka_unit_test(without_rules_nothing_is_classified),
		cmocka_unit_test(a_stack_segment_fault_is_an_access_like_any_other),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
