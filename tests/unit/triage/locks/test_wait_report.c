/* layer: triage */
/* The report's words for the waits of threads. */
#include <string.h>

#include "tests/support/check.h"
#include "triage/locks/wait_report.h"

/* A group of two threads in these calls, on descriptors 5 and 6. */
static struct xc_stack_group group_of(const char *first, const char *second)
{
	struct xc_thread threads[] = {{.tid = 1, .call_known = true, .call_args = {5}},
				      {.tid = 2, .call_known = true, .call_args = {6}}};
	struct xc_wait items[] = {{.thread = &threads[0], .kind = XC_WAIT_CALL, .call = first},
				  {.thread = &threads[1], .kind = XC_WAIT_CALL, .call = second}};
	struct xc_wait_id ids[] = {{1, 0}, {2, 1}};
	struct xc_waits waits = {.items = items, .count = 2, .ids = ids};
	struct xc_process process = {.waits = &waits, .pid = 1};
	struct xc_stack stacks[] = {{.tid = 1}, {.tid = 2}};
	size_t members[] = {0, 1};
	struct xc_stack_group group = {.members = members, .member_count = 2};
	struct xc_report *report = xc_report_new("analyze");
	struct xc_section *section = xc_report_section(report, "stacks", "Threads");
	*xc_section_stacks(section, "stacks") =
		(struct xc_stacks){.stacks = stacks, .stack_count = 2, .groups = &group, .group_count = 1};
	xc_wait_report_stacks(section, &process);
	assert_non_null(stacks[0].waits);
	xc_report_free(report);
	return group;
}

static void groups_know_whether_all_wait_for_descriptors(void **state)
{
	(void)state;
	assert_true(group_of("read", "read").on_descriptors);
	assert_false(group_of("read", "read").alike);
	assert_true(group_of("epoll_wait", "poll").on_descriptors);
	assert_false(group_of("read", "pause").on_descriptors);
	assert_false(group_of("pause", "pause").on_descriptors);
	assert_true(group_of("pause", "pause").alike);
	assert_false(group_of("wait4", "of_no_known_name").on_descriptors);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(groups_know_whether_all_wait_for_descriptors),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
