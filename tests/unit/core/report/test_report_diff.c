/* layer: core */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>

#include "core/report/report_diff.h"

static const struct xc_column columns[] = {
	{.key = "db", .label = "DB", .kind = XC_FIELD_TEXT},
	{.key = "keys", .label = "KEYS", .kind = XC_FIELD_COUNT},
	{.key = "bytes", .label = "BYTES", .kind = XC_FIELD_BYTES},
};

static struct xc_report *make(uint64_t clients, const char *const *names, const uint64_t *keys, size_t rows)
{
	struct xc_report *report = xc_report_new("analyze");
	struct xc_section *s = xc_report_section(report, "redis", "redis");
	xc_section_count(s, "clients", "clients", clients);
	xc_section_count(s, "same", "same", 7);
	xc_section_text(s, "version", "version", "7.0");
	struct xc_table *table = xc_section_table(s, "dbs", columns, XC_COUNT(columns));
	for (size_t i = 0; i < rows; i++) {
		const struct xc_cell row[] = {xc_cell_text(names[i]), xc_cell_count(keys[i]),
					      xc_cell_bytes(10 * keys[i])};
		xc_table_row(s, table, row);
	}
	return report;
}

static const struct xc_table *table_of(const struct xc_section *s, const char *key)
{
	for (const struct xc_item *item = s->items; item; item = item->next)
		if (item->kind == XC_ITEM_TABLE && strcmp(item->key, key) == 0)
			return item->table;
	return NULL;
}

static void expect_row(const struct xc_table *table, size_t row, const char *name, int64_t grown, uint64_t to)
{
	const struct xc_cell *cells = table->cells + row * table->column_count;
	assert_true(row < table->row_count);
	assert_string_equal(cells[0].text, name);
	assert_int_equal((int64_t)cells[1].number, grown);
	assert_int_equal(cells[3].number, to);
}

static void what_grew_most_comes_first_and_what_is_equal_is_left_out(void **state)
{
	(void)state;
	const char *const before[] = {"db0", "db1"}, *const after[] = {"db2", "db0"};
	const uint64_t old_keys[] = {100, 5}, new_keys[] = {9, 40};
	struct xc_report *old = make(3, before, old_keys, 2), *new = make(90, after, new_keys, 2);
	struct xc_report *shown = xc_report_new("diff");
	struct xc_section *s = xc_report_section(shown, "diff", "diff");
	xc_report_compare(s, old, new, 100);
	const struct xc_table *counts = table_of(s, "plugin_counts"), *bytes = table_of(s, "plugin_bytes");
	assert_non_null(counts);
	assert_int_equal(counts->row_count, 4);
	expect_row(counts, 0, "redis: clients", 87, 90);
	expect_row(counts, 1, "redis: db2: KEYS", 9, 9);
	expect_row(counts, 2, "redis: db1: KEYS", -5, 0);
	expect_row(counts, 3, "redis: db0: KEYS", -60, 40);
	assert_int_equal(bytes->row_count, 3);
	expect_row(bytes, 2, "redis: db0: BYTES", -600, 400);
	xc_report_free(old);
	xc_report_free(new);
	xc_report_free(shown);
}

static void equal_reports_give_no_tables_and_limits_hold(void **state)
{
	(void)state;
	const char *const names[] = {"a", "b", "b"};
	const uint64_t keys[] = {1, 2, 3}, more[] = {2, 4, 6};
	struct xc_report *old = make(1, names, keys, 3), *same = make(1, names, keys, 3),
			 *new = make(2, names, more, 3);
	struct xc_report *shown = xc_report_new("diff");
	struct xc_section *s = xc_report_section(shown, "none", "none");
	xc_report_compare(s, old, same, 100);
	assert_null(s->items);
	s = xc_report_section(shown, "two", "two");
	xc_report_compare(s, old, new, 1);
	assert_int_equal(table_of(s, "plugin_counts")->row_count, 1);
	expect_row(table_of(s, "plugin_counts"), 0, "redis: b: KEYS", 5, 10); /* rows with the same name are summed */
	xc_report_free(old);
	xc_report_free(same);
	xc_report_free(new);
	xc_report_free(shown);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_grew_most_comes_first_and_what_is_equal_is_left_out),
		cmocka_unit_test(equal_reports_give_no_tables_and_limits_hold),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
