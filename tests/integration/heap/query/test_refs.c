/* layer: heap
 *
 * References, in a program that reports them itself: it stores the addresses in question in global numbers. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdlib.h>

#include "dwarf/elf/symbol.h"
#include "heap/graph/graph.h"
#include "heap/query/refs.h"
#include "heap/session/session.h"
#include "tests/support/opened.h"

/* Numbers are stored inverted, so that they are not pointers. */
static const char source[] =
	"#include <stdlib.h>\n#include <string.h>\n"
	"struct node { struct node *next; char *label; };\n"
	"struct node *head; unsigned long first, second, third, label, local, lost, lost_next, freed, holder, number;\n"
	"static struct node *make(struct node *next, const char *text)\n"
	"{ struct node *n = malloc(sizeof *n); n->next = next; n->label = strdup(text); return n; }\n"
	"static __attribute__((noinline)) void leak(void)\n"
	"{ struct node *n = make(make(NULL, \"b\"), \"a\"); lost = ~(unsigned long)n; lost_next = ~(unsigned "
	"long)n->next; }\n"
	"static __attribute__((noinline)) void wipe(void) { volatile char c[8192]; for (int i = 0; i < 8192; i++) c[i] "
	"= 0; }\n"
	"static __attribute__((noinline)) void use(struct node **volatile mine) { abort(); }\n"
	"int main(void) { struct node *mine;\n"
	"	leak();\n"
	"	head = make(make(make(NULL, \"three\"), \"two\"), \"one\");\n"
	"	mine = head->next; first = ~(unsigned long)head; second = ~(unsigned long)head->next;\n"
	"	third = ~(unsigned long)head->next->next; label = ~(unsigned long)head->next->next->label;\n"
	"	local = ~(unsigned long)&mine; number = 0x123456789abc;\n"
	"	void **hold = malloc(200); head->label = (char *)hold; holder = ~(unsigned long)hold; memset(hold, 0, "
	"200);\n"
	"	void *gone = malloc(5000); malloc(8); hold[3] = gone; free(gone); freed = ~(unsigned long)gone; gone = "
	"0;\n"
	"	wipe(); use(&mine); }\n";

static struct xc_process *process;
static struct xc_heap *heap;

static xc_addr told(const char *name)
{
	xc_addr addr;
	uint64_t value;
	assert_non_null(xc_symbol_find(process, name, NULL, &addr));
	assert_true(xc_space_peek_uint(process->space, addr, 8, &value));
	return ~value;
}

static xc_addr symbol(const char *name)
{
	xc_addr addr;
	assert_non_null(xc_symbol_find(process, name, NULL, &addr));
	return addr;
}

static int set_up(void **state)
{
	(void)state;
	process = died("gcc -g -O0 -x c", source);
	heap = xc_heap_of(process, NULL);
	return heap->blocks.count ? 0 : -1;
}

static int tear_down(void **state)
{
	(void)state;
	xc_heap_forget(process);
	close_process(process);
	return 0;
}

/* ---- answers ---- */

struct answer {
	struct xc_report *report;
	struct xc_section *section;
	const struct xc_table *table; /* NULL if there is none */
};

static struct answer answer_new(void)
{
	struct answer a = {.report = xc_report_new("heap")};
	a.section = xc_report_section(a.report, "answer", "Answer");
	return a;
}

static void find_table(struct answer *a)
{
	for (const struct xc_item *item = a->section->items; item; item = item->next)
		if (item->kind == XC_ITEM_TABLE)
			a->table = item->table;
}

static struct answer refs(xc_addr addr, size_t limit)
{
	struct answer a = answer_new();
	CHECK_OK(xc_refs(a.section, heap, addr, limit));
	find_table(&a);
	return a;
}

static struct answer path(xc_addr addr)
{
	struct answer a = answer_new();
	CHECK_OK(xc_path(a.section, heap, addr));
	find_table(&a);
	return a;
}

static const struct xc_cell *cell(const struct answer *a, size_t row, size_t column)
{
	return &a->table->cells[row * a->table->column_count + column];
}

static uint64_t number_of(const struct answer *a, const char *key)
{
	for (const struct xc_item *item = a->section->items; item; item = item->next)
		if (item->kind == XC_ITEM_FIELD && strcmp(item->field.key, key) == 0)
			return item->field.cell.number;
	return UINT64_MAX;
}

/* The row of the word at this address contains this text. */
static void expect_word(const struct answer *a, xc_addr at, const char *kind, const char *where)
{
	for (size_t i = 0; i < a->table->row_count; i++) {
		if (cell(a, i, 1)->number != at)
			continue;
		assert_string_equal(cell(a, i, 0)->text, kind);
		if (!strstr(cell(a, i, 2)->text, where))
			fail_msg("%s is not in %s", where, cell(a, i, 2)->text);
		return;
	}
	fail_msg("0x%lx is not told", (unsigned long)at);
}

static void expect_step(const struct answer *a, size_t row, xc_addr at, const char *what)
{
	assert_true(row < a->table->row_count);
	assert_int_equal(cell(a, row, 1)->number, at);
	if (!strstr(cell(a, row, 2)->text, what))
		fail_msg("%s is not in %s", what, cell(a, row, 2)->text);
}

/* ---- tests ---- */

static void globals_locals_and_blocks_that_point_to_a_block_are_told(void **state)
{
	(void)state;
	struct answer a = refs(told("second"), 0);
	expect_word(&a, told("first"), "block", "struct node");
	expect_word(&a, told("first"), "block", ".next");
	expect_word(&a, told("local"), "stack", "main, mine");
	assert_int_equal(number_of(&a, "count"), a.table->row_count);
	xc_report_free(a.report);
	a = refs(told("first") + 8, 0);
	expect_word(&a, symbol("head"), "global", "head");
	xc_report_free(a.report);
}

static void rows_are_limited_and_counted_all_the_same(void **state)
{
	(void)state;
	struct answer all = refs(told("second"), 0), one = refs(told("second"), 1);
	assert_true(all.table->row_count > 1);
	assert_int_equal(one.table->row_count, 1);
	assert_int_equal(number_of(&one, "count"), number_of(&all, "count"));
	xc_report_free(all.report);
	xc_report_free(one.report);
}

static void what_points_to_a_free_block_is_found_in_all_of_memory(void **state)
{
	(void)state;
	struct answer a = refs(told("freed"), 0);
	expect_word(&a, told("holder") + 24, "block", "[3]");
	xc_report_free(a.report);
}

static void what_points_to_a_global_is_found_in_all_of_memory(void **state)
{
	(void)state;
	struct answer a = refs(told("local"), 0); /* `use` got a pointer to main's variable */
	assert_true(a.table->row_count >= 1);
	for (size_t i = 0; i < a.table->row_count; i++)
		assert_int_equal(cell(&a, i, 3)->number, 0);
	bool in_use = false;
	for (size_t i = 0; i < a.table->row_count; i++)
		in_use |= strstr(cell(&a, i, 2)->text, "use, mine") != NULL;
	assert_true(in_use);
	xc_report_free(a.report);
}

static void the_path_to_a_block_is_told_step_by_step(void **state)
{
	(void)state;
	struct answer a = path(told("label"));
	/* main's variable is one step nearer than the global. */
	assert_int_equal(a.table->row_count, 4);
	expect_step(&a, 0, told("local"), "main, mine");
	expect_step(&a, 1, told("second"), "struct node (heap, live, 24 bytes) .next");
	expect_step(&a, 2, told("third") + 8, ".label");
	expect_step(&a, 3, told("label"), "heap, live");
	xc_report_free(a.report);
	a = path(told("first"));
	assert_int_equal(a.table->row_count, 2);
	expect_step(&a, 0, symbol("head"), "head");
	xc_report_free(a.report);
}

static void of_a_leaked_block_the_head_is_told(void **state)
{
	(void)state;
	struct answer a = path(told("lost_next"));
	assert_null(a.table);
	assert_int_equal(number_of(&a, "head"), told("lost"));
	xc_report_free(a.report);
}

static void there_is_no_path_to_what_is_no_live_block(void **state)
{
	(void)state;
	struct answer a = answer_new();
	struct xc_error *err = xc_path(a.section, heap, told("freed"));
	assert_non_null(err);
	assert_int_equal(err->code, XC_ERR_NOT_FOUND);
	xc_error_free(err);
	xc_report_free(a.report);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(globals_locals_and_blocks_that_point_to_a_block_are_told),
		cmocka_unit_test(rows_are_limited_and_counted_all_the_same),
		cmocka_unit_test(what_points_to_a_free_block_is_found_in_all_of_memory),
		cmocka_unit_test(what_points_to_a_global_is_found_in_all_of_memory),
		cmocka_unit_test(the_path_to_a_block_is_told_step_by_step),
		cmocka_unit_test(of_a_leaked_block_the_head_is_told),
		cmocka_unit_test(there_is_no_path_to_what_is_no_live_block),
	};
	return cmocka_run_group_tests(tests, set_up, tear_down);
}
