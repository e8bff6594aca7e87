/* layer: heap tier: long
 *
 * Programs that damage their heaps in a known way: the lost blocks, compared with their list, and the reported
 * culprit. */
#include "tests/support/opened.h"

#include "core/report/report.h"
#include "heap/blocks/allocator.h"
#include "heap/report/audit.h"
#include "heap/session/session.h"
#include "heap/report/overrun.h"
#include "tests/support/smashed.h"

struct opened {
	struct smashed *book;
	struct xc_process *process;
	struct xc_heap *heap;
	struct xc_report *report;
	struct xc_section *section;
};

static struct opened open_smashed(const char *how)
{
	struct opened o = {.book = smashed_new(how)};
	o.process = open_core(o.book->core);
	o.heap = xc_heap_open(o.process, NULL);
	o.report = xc_report_new("heap");
	o.section = xc_report_section(o.report, "check", "Heap");
	xc_audit(o.section, o.heap);
	return o;
}

static void close_smashed(struct opened *o)
{
	xc_report_free(o->report);
	xc_heap_close(o->heap);
	close_process(o->process);
	free(o->book);
}

static uint32_t block_at(const struct xc_heap *heap, const struct smashed_block *want)
{
	uint32_t block = xc_blocks_find(&heap->blocks, want->addr);
	return block != XC_NO_BLOCK && xc_block_addr(&heap->blocks, block) == want->addr ? block : XC_NO_BLOCK;
}

/* Live blocks that the table lacks, or has with another size, or as free. */
static size_t lost(const struct opened *o)
{
	size_t count = 0;
	for (size_t i = 0; i < o->book->live_count; i++) {
		uint32_t block = block_at(o->heap, &o->book->live[i]);
		count += block == XC_NO_BLOCK || xc_block_size(&o->heap->blocks, block) != o->book->live[i].size ||
			 xc_block_is_free(xc_block_state(&o->heap->blocks, block));
	}
	return count;
}

static bool freed_as_live(const struct opened *o)
{
	for (size_t i = 0; i < o->book->freed_count; i++) {
		uint32_t block = block_at(o->heap, &o->book->freed[i]);
		if (block != XC_NO_BLOCK && xc_block_state(&o->heap->blocks, block) == XC_BLOCK_LIVE)
			return true;
	}
	return false;
}

static const struct xc_field *field(const struct opened *o, const char *key)
{
	for (const struct xc_item *item = o->section->items; item; item = item->next)
		if (item->kind == XC_ITEM_FIELD && strcmp(item->field.key, key) == 0)
			return &item->field;
	return NULL;
}

static const char *text_of(const struct opened *o, const char *key)
{
	const struct xc_field *f = field(o, key);
	return f && f->cell.text ? f->cell.text : "";
}

/* The report names the block that was overrun. */
static void check_named(const struct opened *o)
{
	char addr[32];
	snprintf(addr, sizeof addr, "0x%" PRIx64 ",", o->book->victim.addr);
	if (!strstr(text_of(o, "culprit"), addr))
		fail_msg("culprit is \"%s\", not %s", text_of(o, "culprit"), addr);
}

static xc_addr behind_victim(const struct opened *o)
{
	return o->book->victim.addr + o->book->victim.size - 8;
}

/* ---- tests ---- */

static void a_clean_heap_is_said_to_be_clean(void **state)
{
	(void)state;
	struct opened o = open_smashed("none");
	assert_int_equal(o.heap->damage_count, 0);
	assert_int_equal(lost(&o), 0);
	assert_false(freed_as_live(&o));
	assert_string_equal(o.section->headline, "no damage was found");
	assert_int_equal(field(&o, "damaged")->cell.number, 0);
	assert_true(field(&o, "blocks")->cell.number > o.book->live_count);
	assert_int_equal(field(&o, "headers")->cell.number, field(&o, "blocks")->cell.number);
	close_smashed(&o);
}

static void a_text_that_overran_is_shown_with_its_block(void **state)
{
	(void)state;
	struct opened o = open_smashed("text");
	assert_int_equal(o.heap->damages[0].addr, behind_victim(&o));
	assert_int_equal(lost(&o), 0);
	check_named(&o);
	assert_string_equal(field(&o, "culprit")->label, "written past its end");
	assert_string_equal(text_of(&o, "bytes"), "\"ger than its block\"");
	assert_true(field(&o, "bytes")->cell.secret);
	assert_int_equal(field(&o, "culprit_addr")->cell.number, o.book->victim.addr);
	assert_non_null(strstr(text_of(&o, "culprit_owner"), "keep")); /* the program's array */
	assert_int_equal(field(&o, "overran")->cell.number, 18);
	close_smashed(&o);
}

static void a_nul_too_many_is_one_byte(void **state)
{
	(void)state;
	struct opened o = open_smashed("offbyone");
	assert_int_equal(o.heap->damages[0].addr, behind_victim(&o));
	assert_in_range(lost(&o), 0, 1);
	check_named(&o);
	assert_string_equal(field(&o, "culprit")->label, "written past its end");
	assert_int_equal(field(&o, "overran")->cell.number, 1);
	close_smashed(&o);
}

/* Its first byte over the header is the size's own, but for flags. */
static void a_text_that_begins_as_the_size_does_comes_from_the_block_before(void **state)
{
	(void)state;
	struct opened o = open_smashed("alike");
	assert_int_equal(o.heap->damages[0].addr, behind_victim(&o));
	check_named(&o);
	assert_string_equal(field(&o, "culprit")->label, "written past its end");
	assert_int_equal(field(&o, "overran")->cell.number, 21);
	close_smashed(&o);
}

static void a_fill_that_overran_is_recognised(void **state)
{
	(void)state;
	struct opened o = open_smashed("fill");
	assert_int_equal(o.heap->damages[0].addr, behind_victim(&o));
	assert_int_equal(lost(&o), 0);
	check_named(&o);
	assert_string_equal(field(&o, "culprit")->label, "written past its end");
	assert_int_equal(field(&o, "overran")->cell.number, 8);
	close_smashed(&o);
}

/* 104 bytes over small blocks: blocks without headers cannot be distinguished. */
static void what_lies_under_a_long_overrun_is_lost_and_said(void **state)
{
	(void)state;
	struct opened o = open_smashed("long");
	uint64_t bytes = field(&o, "lost")->cell.number;
	assert_int_equal(o.heap->damages[0].addr, behind_victim(&o));
	check_named(&o);
	assert_int_equal(field(&o, "overran")->cell.number, 104);
	assert_in_range(lost(&o), 0, 5);
	assert_true(lost(&o) <= 1 || bytes > 0);
	assert_true(bytes < 4096);
	close_smashed(&o);
}

static void a_header_without_a_size_costs_nothing(void **state)
{
	(void)state;
	struct opened o = open_smashed("zero");
	assert_int_equal(o.heap->damages[0].addr, behind_victim(&o));
	assert_int_equal(lost(&o), 0);
	check_named(&o);
	close_smashed(&o);
}

/* The block wrote before its own beginning: the previous one is suspected, without certainty. */
static void a_negative_index_is_not_blamed_for_certain(void **state)
{
	(void)state;
	struct opened o = open_smashed("negative");
	assert_int_equal(o.heap->damages[0].addr, o.book->victim.addr - 16);
	assert_int_equal(lost(&o), 0);
	assert_string_equal(field(&o, "culprit")->label, "probably written past its end");
	close_smashed(&o);
}

static void a_size_that_looks_right_is_found_out(void **state)
{
	(void)state;
	struct opened o = open_smashed("larger");
	assert_int_equal(o.heap->damages[0].addr, behind_victim(&o));
	assert_int_equal(lost(&o), 0);
	check_named(&o);
	close_smashed(&o);
}

static void flags_alone_cost_nothing(void **state)
{
	(void)state;
	struct opened o = open_smashed("flags");
	assert_true(o.heap->damage_count > 0);
	assert_int_equal(o.heap->damages[0].addr, behind_victim(&o));
	assert_non_null(strstr(o.heap->damages[0].expected, "its size still leads"));
	assert_int_equal(lost(&o), 0);
	close_smashed(&o);
}

/* Into a tcache, and into a fastbin. */
static void a_double_free_is_told(void **state)
{
	static const char *const ways[] = {"twice", "fast"};
	(void)state;
	for (size_t i = 0; i < XC_COUNT(ways); i++) {
		struct opened o = open_smashed(ways[i]);
		assert_int_equal(o.heap->damage_count, 1);
		assert_int_equal(o.heap->damages[0].kind, XC_DAMAGE_TWICE);
		assert_int_equal(o.heap->damages[0].addr, o.book->victim.addr - 16);
		assert_non_null(strstr(o.section->headline, "freed twice"));
		close_smashed(&o);
	}
}

/* Its link in a tcache, and in a bin. */
static void a_write_after_a_free_is_told(void **state)
{
	static const char *const ways[] = {"after", "binlink"}, *const bytes[] = {"0x4141414141414141",
										  "0x4242424242424242"};
	(void)state;
	for (size_t i = 0; i < XC_COUNT(ways); i++) {
		struct opened o = open_smashed(ways[i]);
		const struct xc_damage *first = &o.heap->damages[0];
		assert_int_equal(o.heap->damage_count, 1);
		assert_int_equal(first->kind, XC_DAMAGE_LINK);
		assert_int_equal(first->addr, o.book->victim.addr - 16);
		assert_true(strstr(first->what, bytes[i]) || strstr(first->found, bytes[i]));
		assert_non_null(strstr(o.section->headline, "after it was freed"));
		close_smashed(&o);
	}
}

/* The bytes before have no text that continues, so no block is certain. */
static void a_changed_size_is_not_taken_for_a_text(void **state)
{
	(void)state;
	struct opened o = open_smashed("larger");
	assert_string_equal(field(&o, "culprit")->label, "probably written past its end");
	assert_int_equal(field(&o, "overran")->cell.number, 1);
	close_smashed(&o);
}

static void ten_random_headers_lose_at_most_twenty(void **state)
{
	(void)state;
	struct opened o = open_smashed("ten");
	size_t count = lost(&o);
	print_message("# ten random headers: %zu damages, %zu of %zu blocks lost\n", o.heap->damage_count, count,
		      o.book->live_count);
	assert_true(o.heap->damage_count >= 3);
	assert_true(count <= 20);
	close_smashed(&o);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_clean_heap_is_said_to_be_clean),
		cmocka_unit_test(a_text_that_overran_is_shown_with_its_block),
		cmocka_unit_test(a_nul_too_many_is_one_byte),
		cmocka_unit_test(a_text_that_begins_as_the_size_does_comes_from_the_block_before),
		cmocka_unit_test(a_fill_that_overran_is_recognised),
		cmocka_unit_test(what_lies_under_a_long_overrun_is_lost_and_said),
		cmocka_unit_test(a_header_without_a_size_costs_nothing),
		cmocka_unit_test(a_negative_index_is_not_blamed_for_certain),
		cmocka_unit_test(a_size_that_looks_right_is_found_out),
		cmocka_unit_test(flags_alone_cost_nothing),
		cmocka_unit_test(a_double_free_is_told),
		cmocka_unit_test(a_write_after_a_free_is_told),
		cmocka_unit_test(a_changed_size_is_not_taken_for_a_text),
		cmocka_unit_test(ten_random_headers_lose_at_most_twenty),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
