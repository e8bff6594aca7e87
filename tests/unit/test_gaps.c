/* layer: triage */
/* A verdict that had less to go by says so. */
#include "opened.h"

#include "../../core/report.h"
#include "../../triage/cause.h"

#define CRASH                                                                                                          \
	"__attribute__((noinline)) int work(int *p) { *p = 1; return 2; }\n"                                           \
	"int *volatile none; int main(void) { return work(none) + 1; }"

static void expect(const char *compiler, const char *part)
{
	struct xc_process *process = died(compiler, CRASH);
	struct xc_report *report = xc_report_new("analyze");
	bool found = false;
	xc_cause(report, process, NULL);
	for (size_t i = 0; i < report->verdict->evidence_count; i++)
		found = found || strstr(report->verdict->evidence[i], part);
	assert_int_equal(found, strstr(compiler, "-g ") == NULL);
	xc_report_free(report);
	close_process(process);
}

static void a_program_without_debug_information_is_named(void **state)
{
	(void)state;
	expect("gcc -O0 -x c", "missing: debug information of ");
	expect("gcc -s -O2 -x c", "missing: debug information of ");
}

static void nothing_is_missing_where_all_is_there(void **state)
{
	(void)state;
	expect("gcc -g -O0 -x c", "missing: ");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_program_without_debug_information_is_named),
		cmocka_unit_test(nothing_is_missing_where_all_is_there),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
