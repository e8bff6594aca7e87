/* layer: cli */
/* --fail-on and --strict: which targets meet each condition. */
#include "cli/policy.h"

#include "core/io/source.h"
#include "tests/support/check.h"

static const char *hit(const char *words, struct xc_process *process, struct xc_verdict *verdict)
{
	struct xc_words list = {.items = &words, .count = 1};
	struct xc_report report = {.verdict = verdict};
	CHECK_OK(xc_policy_check(&list));
	return xc_policy_hit(&list, process, &report);
}

static void words_are_checked(void **state)
{
	static const char *const wrong[] = {"crashed", "crash,,low", "Low", "info", "missing;low"};
	(void)state;
	for (size_t i = 0; i < XC_COUNT(wrong); i++) {
		const char *word = wrong[i];
		struct xc_words list = {.items = &word, .count = 1};
		CHECK_ERROR(xc_policy_check(&list), XC_ERR_USAGE, "--fail-on: ");
	}
}

static void a_severity_is_met_by_itself_and_worse(void **state)
{
	struct xc_process process = {.live = true};
	struct xc_verdict high = {.severity = "high"}, info = {.severity = "info"}, none = {.severity = NULL};
	(void)state;
	assert_string_equal(hit("low", &process, &high), "low");
	assert_string_equal(hit("high", &process, &high), "high");
	assert_null(hit("critical", &process, &high));
	assert_string_equal(hit("critical,medium", &process, &high), "medium");
	assert_null(hit("low", &process, &info));
	assert_null(hit("low", &process, &none));
}

static void a_signal_of_a_core_is_a_crash(void **state)
{
	struct xc_verdict info = {.severity = "info"};
	struct xc_process process = {.signal = {.known = true, .number = 11}};
	(void)state;
	assert_string_equal(hit("crash", &process, &info), "crash");
	process.signal.number = 0;
	assert_null(hit("crash", &process, &info));
	process.signal = (struct xc_signal){.known = false, .number = 11};
	assert_null(hit("crash", &process, &info));
	process = (struct xc_process){.live = true, .signal = {.known = true, .number = 11}};
	assert_null(hit("crash", &process, &info));
}

static void every_part_that_is_missing_counts(void **state)
{
	struct xc_source core = {.cut = false};
	struct xc_module file = {.kind = XC_MODULE_EXE, .identity = XC_VERIFIED}, *modules[] = {&file};
	struct xc_process process = {.core = &core, .modules = modules, .module_count = 1};
	struct xc_report report = {.incomplete = false};
	(void)state;
	assert_false(xc_policy_incomplete(&process, &report));
	assert_false(xc_policy_incomplete(&process, NULL));
	core.cut = true;
	assert_true(xc_policy_incomplete(&process, &report));
	core.cut = false;
	process.missing_bytes = 1;
	assert_true(xc_policy_incomplete(&process, &report));
	process.missing_bytes = 0;
	report.incomplete = true;
	assert_true(xc_policy_incomplete(&process, &report));
	report.incomplete = false;
	file.identity = XC_NO_FILE;
	assert_true(xc_policy_incomplete(&process, &report));
	file.identity = XC_REFUSED;
	assert_true(xc_policy_incomplete(&process, &report));
	file.kind = XC_MODULE_VDSO;
	assert_false(xc_policy_incomplete(&process, &report));
}

static void files_of_another_build_are_unverified(void **state)
{
	struct xc_verdict info = {.severity = "info"};
	struct xc_module file = {.identity = XC_VERIFIED}, *modules[] = {&file};
	struct xc_process process = {.live = true, .modules = modules, .module_count = 1};
	(void)state;
	assert_null(hit("unverified", &process, &info));
	file.identity = XC_UNVERIFIED;
	assert_string_equal(hit("unverified", &process, &info), "unverified");
	assert_null(hit("missing", &process, &info));
	file.identity = XC_REFUSED;
	assert_string_equal(hit("unverified", &process, &info), "unverified");
	assert_string_equal(hit("missing", &process, &info), "missing");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(words_are_checked),
		cmocka_unit_test(a_severity_is_met_by_itself_and_worse),
		cmocka_unit_test(a_signal_of_a_core_is_a_crash),
		cmocka_unit_test(every_part_that_is_missing_counts),
		cmocka_unit_test(files_of_another_build_are_unverified),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
