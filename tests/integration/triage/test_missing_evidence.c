/* layer: triage */
/* A verdict with reduced inputs reports that. */
#include "tests/support/opened.h"

#include "core/report/report.h"
#include "heap/session/session.h"
#include "triage/cause.h"

#define CRASH                                                                                                          \
	"__attribute__((noinline)) int work(int *p) { *p = 1; return 2; }\n"                                           \
	"int *volatile none; int main(void) { return work(none) + 1; }"

static bool says(struct xc_process *process, struct xc_heap *heap, const char *part)
{
	struct xc_report *report = xc_report_new("analyze");
	bool found = false;
	xc_cause(report, process, heap);
	for (size_t i = 0; i < report->verdict->evidence_count; i++)
		found = found || strstr(report->verdict->evidence[i], part);
	xc_report_free(report);
	return found;
}

static void expect(const char *compiler, const char *part)
{
	struct xc_process *process = died(compiler, CRASH);
	assert_int_equal(says(process, NULL, part), strstr(compiler, "-g ") == NULL);
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

/* Blocks after an overwritten header may be lost, and metadata may be wrong. */
static void a_heap_that_was_walked_in_part_is_named(void **state)
{
	(void)state;
	struct xc_process *process =
		died("gcc -g -O0 -x c", "#include <stdlib.h>\nint main(void) { free(malloc(100));\n"
					" *(volatile int *)0x123456789000 = 1; return 0; }\n");
	struct xc_heap *heap = xc_heap_of(process, NULL);
	xc_addr lo = heap->regions[0].lo;
	assert_false(says(process, heap, "missing: "));
	heap->pieces_dropped = 3;
	assert_true(says(process, heap, "missing: 3 parts of the heap"));
	heap->pieces_dropped = 0;
	xc_heap_add_damage(heap, &(struct xc_damage){
					 .what = "a test", .lost_lo = lo, .lost_hi = lo + 2047, .before = XC_NO_BLOCK});
	assert_true(says(process, heap, "missing: 2.00 KiB of the heap"));
	xc_heap_forget(process);
	close_process(process);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_program_without_debug_information_is_named),
		cmocka_unit_test(nothing_is_missing_where_all_is_there),
		cmocka_unit_test(a_heap_that_was_walked_in_part_is_named),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
