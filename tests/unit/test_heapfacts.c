/* layer: triage */
/* What the heap adds to the verdict, over programs that die of it. */
#include "opened.h"

#include "../../core/report.h"
#include "../../triage/cause.h"
#include "../../triage/heapfacts.h"

#define HEAD                                                                                                           \
	"#include <stdlib.h>\n#include <string.h>\n"                                                                   \
	"struct node { struct node *next; long id; char name[24]; }; struct node *volatile head; volatile long sum;\n"

static bool has_evidence(const char *source, const char *part)
{
	struct xc_process *process = died("gcc -g -O1 -x c", source);
	struct xc_report *report = xc_report_new("analyze");
	bool found = false;
	xc_cause(report, process);
	xc_heap_facts(report, xc_heap_of(process, NULL));
	assert_non_null(report->verdict);
	for (size_t i = 0; i < report->verdict->evidence_count; i++)
		found |= strstr(report->verdict->evidence[i], part) != NULL;
	for (size_t i = 0; i < report->verdict->evidence_count && !found; i++)
		print_message("evidence: %s\n", report->verdict->evidence[i]);
	xc_report_free(report);
	xc_heap_forget(process);
	close_process(process);
	return found;
}

static void a_pointer_that_is_text_says_which(void **state)
{
	(void)state;
	assert_true(has_evidence(
		HEAD "int main(void) { head = calloc(1, sizeof *head); memcpy((char *)head, \"hello me\", 8);\n"
		     " sum = head->next->id; return 0; }\n",
		"\"hello me\""));
}

static void a_register_into_freed_memory_is_named(void **state)
{
	(void)state;
	assert_true(has_evidence(
		HEAD "int main(void) { struct node *a = calloc(1, sizeof *a), *b = calloc(1, sizeof *b); head = a; "
		     "a->next = b;\n"
		     " free(b); free(a); struct node *n = head; struct node *bad = n->next; sum = bad->id + n->id;\n"
		     " return (int)n->id; }\n",
		"points into freed memory"));
}

static void the_block_that_was_written_past_its_end_is_named_with_its_type(void **state)
{
	(void)state;
	assert_true(has_evidence(
		HEAD "int main(void) { struct node *a = malloc(sizeof *a), *b = malloc(sizeof *b); head = a;\n"
		     " a->next = 0; free(malloc(3000)); memset(a->name, 'x', 60); free(b); free(malloc(2000));\n"
		     " abort(); }\n",
		"was likely written past its end: struct node"));
}

static void a_healthy_heap_adds_nothing(void **state)
{
	(void)state;
	struct xc_process *process =
		died("gcc -g -O1 -x c", HEAD "int main(void) { head = malloc(40); return *(volatile int *)8; }\n");
	struct xc_report *report = xc_report_new("analyze");
	xc_cause(report, process);
	size_t before = report->verdict->evidence_count;
	xc_heap_facts(report, xc_heap_of(process, NULL));
	assert_int_equal(report->verdict->evidence_count, before);
	xc_report_free(report);
	xc_heap_forget(process);
	close_process(process);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_pointer_that_is_text_says_which),
		cmocka_unit_test(a_register_into_freed_memory_is_named),
		cmocka_unit_test(the_block_that_was_written_past_its_end_is_named_with_its_type),
		cmocka_unit_test(a_healthy_heap_adds_nothing),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
