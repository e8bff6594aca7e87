/* layer: core */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "core/report/report.h"

static void items_keep_their_order_and_are_copied(void **state)
{
	(void)state;
	struct xc_report *report = xc_report_new("info");
	struct xc_section *s = xc_report_section(report, "one", "One");
	char text[] = "value", key[] = "key";
	xc_section_text(s, key, "Key", text);
	memset(text, 'x', sizeof text - 1);
	memset(key, 'x', sizeof key - 1);
	xc_section_message(s, XC_WARNING, NULL, "%d things", 3);
	xc_section_bytes(s, "size", "Size", 7);
	struct xc_item *item = s->items;
	assert_string_equal(item->field.key, "key");
	assert_string_equal(item->field.cell.text, "value");
	assert_int_equal(item->next->kind, XC_ITEM_MESSAGE);
	assert_string_equal(item->next->message.text, "3 things");
	assert_int_equal(item->next->next->field.cell.number, 7);
	assert_null(item->next->next->next);
	xc_report_free(report);
}

static void a_key_used_twice_gets_a_number(void **state)
{
	(void)state;
	struct xc_report *report = xc_report_new("info");
	struct xc_section *s = xc_report_section(report, "one", "One");
	assert_string_equal(xc_section_count(s, "n", "n", 1)->key, "n");
	assert_string_equal(xc_section_count(s, "n", "n", 2)->key, "n_2");
	assert_string_equal(xc_section_count(s, "n", "n", 3)->key, "n_3");
	assert_string_equal(xc_section_lines(s, "n", "text")->key, "n"); /* texts are a separate object */
	xc_report_free(report);
}

static void null_text_becomes_an_unknown_field(void **state)
{
	(void)state;
	struct xc_report *report = xc_report_new("info");
	struct xc_section *s = xc_report_section(report, "one", "One");
	assert_int_equal(xc_section_text(s, "a", "a", NULL)->cell.kind, XC_FIELD_NULL);
	struct xc_field *unknown = xc_section_unknown(s, "b", "b", "not dumped");
	assert_int_equal(unknown->cell.kind, XC_FIELD_NULL);
	assert_string_equal(unknown->cell.text, "not dumped");
	xc_report_free(report);
}

static void tables_grow_and_keep_every_row(void **state)
{
	(void)state;
	static const struct xc_column columns[] = {{"i", "I", XC_FIELD_COUNT, false}, {"t", "T", XC_FIELD_TEXT, false}};
	struct xc_report *report = xc_report_new("info");
	struct xc_section *s = xc_report_section(report, "one", "One");
	struct xc_table *table = xc_section_table(s, "rows", columns, XC_COUNT(columns));
	for (unsigned i = 0; i < 1000; i++) {
		char text[16];
		snprintf(text, sizeof text, "row %u", i);
		const struct xc_cell row[] = {xc_cell_count(i), xc_cell_text(text)};
		xc_table_row(s, table, row);
	}
	assert_int_equal(table->row_count, 1000);
	assert_int_equal(table->cells[2 * 999].number, 999);
	assert_string_equal(table->cells[2 * 17 + 1].text, "row 17");
	xc_report_free(report);
}

static void a_note_takes_its_error_and_marks_the_report_incomplete(void **state)
{
	(void)state;
	struct xc_report *report = xc_report_new("info");
	struct xc_section *s = xc_report_section(report, "one", "One");
	assert_false(report->incomplete);
	xc_section_note(s, xc_error_hint(xc_error_fault(0x10, "not mapped"), "look at %s", "maps"));
	assert_true(report->incomplete);
	assert_string_equal(s->items->message.text, "0x10: not mapped");
	assert_string_equal(s->items->message.hint, "look at maps");
	xc_report_free(report);
}

static void evidence_accumulates(void **state)
{
	(void)state;
	struct xc_report *report = xc_report_new("analyze");
	for (int i = 0; i < 20; i++)
		xc_verdict_evidence(report, "fact %d", i);
	assert_int_equal(report->verdict->evidence_count, 20);
	assert_string_equal(report->verdict->evidence[0], "fact 0");
	assert_string_equal(report->verdict->evidence[19], "fact 19");
	xc_verdict_redact(report, "a fact");
	assert_string_equal(report->verdict->evidence[19], "fact 19");
	assert_string_equal(report->verdict->redacted[19], "a fact");
	assert_string_equal(report->verdict->redacted[18], "fact 18");
	xc_report_free(report);
}

static void target_and_run_are_made_once_and_are_no_sections(void **state)
{
	(void)state;
	struct xc_report *report = xc_report_new("analyze");
	assert_ptr_equal(xc_report_target(report), xc_report_target(report));
	assert_ptr_equal(xc_report_run(report), xc_report_run(report));
	assert_ptr_not_equal(report->target, report->run);
	assert_null(report->sections);
	xc_report_free(report);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(items_keep_their_order_and_are_copied),
		cmocka_unit_test(a_key_used_twice_gets_a_number),
		cmocka_unit_test(null_text_becomes_an_unknown_field),
		cmocka_unit_test(tables_grow_and_keep_every_row),
		cmocka_unit_test(a_note_takes_its_error_and_marks_the_report_incomplete),
		cmocka_unit_test(evidence_accumulates),
		cmocka_unit_test(target_and_run_are_made_once_and_are_no_sections),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
