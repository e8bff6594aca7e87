/* layer: heap
 *
 * Structures of leaked blocks against their definition, and the section's text for hand-made ones. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>

#include "heap/blocks/allocator.h"
#include "heap/graph/leak_structures.h"
#include "heap/report/leaks.h"
#include "tests/support/heapmade.h"

enum { MOST = 60 };

static struct xc_graph *graph_of(struct heapmade *m)
{
	struct xc_graph *graph = NULL;
	CHECK_OK(xc_graph_of(m->heap, &graph));
	return graph;
}

/* ---- heads ---- */

/* leads[a][b]: some chain of pointers leads from leaked block a to b, without blocks in unknown state. */
static void naive_leads(const struct xc_graph *graph, size_t count, bool leads[MOST][MOST])
{
	memset(leads, 0, sizeof(bool[MOST][MOST]));
	for (uint32_t i = 0; i < count; i++) {
		leads[i][i] = true;
		for (uint32_t e = graph->start[i]; xc_graph_leaked(graph, i) && e < graph->start[i + 1]; e++)
			leads[i][graph->to[e] & ~XC_EDGE_INTERIOR] = true;
	}
	for (size_t k = 0; k < count; k++)
		for (size_t a = 0; a < count; a++)
			for (size_t b = 0; b < count; b++)
				leads[a][b] |= leads[a][k] && leads[k][b];
}

/* Blocks that lead to it are led to by it, and none of them is lower. */
static bool is_head(const struct xc_graph *graph, size_t count, bool leads[MOST][MOST], uint32_t block)
{
	for (uint32_t i = 0; i < count; i++)
		if (xc_graph_leaked(graph, i) && leads[i][block] && (!leads[block][i] || i < block))
			return false;
	return xc_graph_leaked(graph, block);
}

static void check_structures(const struct xc_leak_structures *l, size_t count, bool leads[MOST][MOST])
{
	size_t heads = 0, at = 0;
	for (uint32_t i = 0; i < count; i++) {
		uint32_t place = xc_leak_structures_place(l, i);
		assert_int_equal(place != XC_NO_BLOCK, xc_graph_leaked(l->graph, i));
		if (place == XC_NO_BLOCK)
			continue;
		assert_int_equal(l->blocks[place], i);
		assert_int_equal(l->head[place] == place, is_head(l->graph, count, leads, i));
		assert_true(leads[l->blocks[l->head[place]]][i]);
		heads += l->head[place] == place;
	}
	assert_int_equal(l->head_count, heads);
	for (uint32_t head = XC_NO_BLOCK; at < l->count; at++) {
		uint32_t place = l->order[at];
		head = l->head[place] == place ? place : head;
		assert_int_equal(l->head[place], head);
	}
}

static void heads_are_what_nothing_else_leads_to(void **state)
{
	static bool leads[MOST][MOST];
	(void)state;
	for (unsigned i = 0; i < 300; i++) {
		struct heapmade *m = hm_random(3 + hm_any(MOST - 3), 8);
		uint32_t count = (uint32_t)m->heap->blocks.count;
		for (size_t k = hm_any(2 * count); k-- > 0;) {
			uint32_t from = (uint32_t)hm_any(count);
			*hm_word(m, from, hm_any(3)) = hm_pointer(m, (uint32_t)hm_any(count), 6);
		}
		if (hm_any(2))
			m->data[3] = hm_pointer(m, (uint32_t)hm_any(count), 0);
		struct xc_leak_structures leaked;
		xc_leak_structures_find(&leaked, graph_of(m), false);
		naive_leads(m->heap->graph, count, leads);
		check_structures(&leaked, count, leads);
		xc_leak_structures_fini(&leaked);
		hm_free(m);
	}
}

static void a_long_ring_is_one_structure(void **state)
{
	(void)state;
	enum { LONG = 500000 };
	struct heapmade *m = hm_new((size_t)LONG * 32);
	struct xc_block_list list;
	xc_block_list_init(&list, LONG);
	for (uint64_t i = 0; i < LONG; i++)
		xc_block_list_add(&list, HM_HEAP + i * 32 + 16, 16, XC_BLOCK_LIVE);
	hm_blocks(m, &list);
	for (uint32_t i = 0; i < LONG; i++)
		*hm_word(m, i, 0) = hm_pointer(m, (i + 1) % LONG, 0);
	struct xc_leak_structures leaked;
	xc_leak_structures_find(&leaked, graph_of(m), false);
	assert_int_equal(leaked.count, LONG);
	assert_int_equal(leaked.head_count, 1);
	assert_int_equal(leaked.head[LONG - 1], 0);
	xc_leak_structures_fini(&leaked);
	hm_free(m);
}

/* ---- the section ---- */

/* A heap of blocks of given sizes. */
static struct heapmade *heap_of(const uint64_t *sizes, size_t count)
{
	struct heapmade *m = hm_new(1 << 16);
	struct xc_block_list list;
	xc_addr at = HM_HEAP + 16;
	xc_block_list_init(&list, count);
	for (size_t i = 0; i < count; i++) {
		assert_true(xc_block_list_add(&list, at, sizes[i], XC_BLOCK_LIVE));
		at += (sizes[i] + 8 + 15) / 16 * 16;
	}
	hm_blocks(m, &list);
	return m;
}

static void link_to(struct heapmade *m, uint32_t from, size_t word, uint32_t to)
{
	*hm_word(m, from, word) = hm_pointer(m, to, 0);
}

/* One row: bytes, blocks, heads, place of the first in the heap, what. */
struct expected {
	uint64_t bytes, blocks, heads;
	uint32_t head;
	const char *what;
};

static const struct xc_table *table_named(const struct xc_section *s, const char *name)
{
	for (const struct xc_item *item = s->items; item; item = item->next)
		if (item->kind == XC_ITEM_TABLE && strcmp(item->key, name) == 0)
			return item->table;
	return NULL;
}

static const char *text_of(const struct xc_section *s, const char *name)
{
	for (const struct xc_item *item = s->items; item; item = item->next)
		if (item->kind == XC_ITEM_FIELD && strcmp(item->field.key, name) == 0)
			return item->field.cell.text;
	return "";
}

static bool leaked; /* is there something leaked beside what is possibly leaked? */

static void expect_rows(struct heapmade *m, bool possible, const char *headline, const struct expected *rows,
			size_t count)
{
	struct xc_report *report = xc_report_new("heap");
	struct xc_section *s = xc_report_section(report, "leaks", "Leaks");
	CHECK_OK(xc_leaks(s, m->heap, &(struct xc_leaks_options){.possible = possible}));
	const struct xc_table *table = table_named(s, possible ? "possibly" : "leaks");
	assert_string_equal(possible ? text_of(s, "possible") : s->headline, headline);
	assert_true(!possible || !table_named(s, "leaks") == !leaked);
	assert_int_equal(table ? table->row_count : 0, count);
	for (size_t i = 0; i < count; i++) {
		const struct xc_cell *cells = &table->cells[i * table->column_count];
		assert_int_equal(cells[0].number, rows[i].bytes);
		assert_int_equal(cells[1].number, rows[i].blocks);
		assert_int_equal(cells[4].number, rows[i].heads);
		assert_int_equal(cells[5].number, xc_block_addr(&m->heap->blocks, rows[i].head));
		assert_int_equal(!cells[6].text, !rows[i].what);
		if (rows[i].what)
			assert_string_equal(cells[6].text, rows[i].what);
	}
	xc_report_free(report);
}

static void lists_and_what_they_hold_are_two_rows(void **state)
{
	(void)state;
	uint64_t sizes[16];
	for (size_t i = 0; i < XC_COUNT(sizes); i++)
		sizes[i] = i % 2 ? 24 : 40;
	struct heapmade *m =
		heap_of(sizes, XC_COUNT(sizes)); /* nodes 0 2 4, 6 8 10; strings follow; 12 … 15 are reached */
	for (uint32_t node = 0; node < 12; node += 2) {
		if (node % 6 != 4)
			link_to(m, node, 1, node + 2);
		link_to(m, node, 3, node + 1);
	}
	for (size_t i = 12; i < 16; i++)
		m->data[i] = hm_pointer(m, (uint32_t)i, 0);
	const struct expected rows[] = {
		{240, 6, 2, 0, "list by +0x8, 3 long, 2 of these"},
		{144, 6, 6, 1, "held by blocks of 40 bytes at +0x18"},
	};
	expect_rows(m, false, "12 blocks, 384 B, in 2 structures that no root reaches", rows, XC_COUNT(rows));
	hm_free(m);
}

static void shapes_are_told(void **state)
{
	(void)state;
	const uint64_t sizes[] = {24, 40, 40, 40, 56, 56, 56, 56, 72, 72, 72, 88, 88, 88, 104};
	struct heapmade *m = heap_of(sizes, XC_COUNT(sizes));
	link_to(m, 0, 2, 0);                                           /* itself */
	link_to(m, 1, 0, 2), link_to(m, 2, 0, 3), link_to(m, 3, 0, 1); /* a ring */
	link_to(m, 4, 0, 5), link_to(m, 5, 0, 6), link_to(m, 5, 1, 7); /* a tree */
	link_to(m, 8, 0, 9), link_to(m, 9, 0, 10);                     /* a list … */
	link_to(m, 9, 1, 8), link_to(m, 10, 1, 9);                     /* … linked both ways */
	link_to(m, 12, 0, 13), link_to(m, 13, 0, 11);                  /* a list against the order */
	const struct expected rows[] = {
		{264, 3, 1, 12, "list by +0x0, 3 long"},
		{224, 4, 1, 4, "linked by +0x0, +0x8, 4 blocks"},
		{216, 3, 1, 8, "list by +0x0, 3 long"},
		{120, 3, 1, 1, "ring by +0x0, 3 long"},
		{104, 1, 1, 14, NULL},
		{24, 1, 1, 0, "points to itself"},
	};
	expect_rows(m, false, "15 blocks, 952 B, in 6 structures that no root reaches", rows, XC_COUNT(rows));
	hm_free(m);
}

static void interior_pointers_make_possible_leaks(void **state)
{
	(void)state;
	const uint64_t sizes[] = {24, 40, 56};
	struct heapmade *m = heap_of(sizes, XC_COUNT(sizes));
	m->data[0] = hm_pointer(m, 0, 0) + 8;
	link_to(m, 0, 0, 1);
	m->data[1] = hm_pointer(m, 2, 0);
	const struct expected rows[] = {{40, 1, 1, 1, "held by blocks of 24 bytes at +0x0"}, {24, 1, 1, 0, NULL}};
	expect_rows(m, false, "no leak: a root reaches every live block", NULL, 0);
	expect_rows(m, true, "2 blocks, 64 B, in 1 structure that only pointers into the middle of blocks lead to",
		    rows, 2);
	hm_free(m);
}

/* A boxed one, one above a counter, in its block one with tags above and below; an inverted one is not recognised. */
static void pointers_with_other_bits_make_possible_leaks(void **state)
{
	(void)state;
	const uint64_t sizes[] = {24, 40, 56, 72, 88};
	struct heapmade *m = heap_of(sizes, XC_COUNT(sizes));
	m->data[0] = hm_pointer(m, 0, 0) | UINT64_C(0xfff8) << 48;
	m->data[1] = hm_pointer(m, 1, 0) << 16 | 42;
	*hm_word(m, 1, 2) = hm_pointer(m, 2, 0) | UINT64_C(7) << 56 | 1;
	m->data[2] = ~hm_pointer(m, 3, 0);
	m->data[3] = (hm_pointer(m, 3, 0) + 8) | UINT64_C(0xfff8) << 48; /* not to the beginning */
	const struct expected lost[] = {{88, 1, 1, 4, NULL}, {72, 1, 1, 3, NULL}};
	const struct expected rows[] = {
		{56, 1, 1, 2, "held by blocks of 40 bytes"}, {40, 1, 1, 1, NULL}, {24, 1, 1, 0, NULL}};
	expect_rows(m, false, "2 blocks, 160 B, in 2 structures that no root reaches", lost, XC_COUNT(lost));
	leaked = true;
	expect_rows(m, true,
		    "3 blocks, 120 B, in 2 structures that only pointers into the middle of blocks, or with other bits "
		    "around them, lead to",
		    rows, XC_COUNT(rows));
	leaked = false;
	hm_free(m);
}

/* One is leaked, another one possibly: each has its table. */
static void possible_leaks_are_listed_beside_leaks(void **state)
{
	(void)state;
	const uint64_t sizes[] = {24, 40};
	struct heapmade *m = heap_of(sizes, XC_COUNT(sizes));
	m->data[0] = hm_pointer(m, 0, 0) + 8;
	const struct expected row = {40, 1, 1, 1, NULL}, other = {24, 1, 1, 0, NULL};
	expect_rows(m, false, "1 block, 40 B, in 1 structure that no root reaches", &row, 1);
	leaked = true;
	expect_rows(m, true, "1 block, 24 B, in 1 structure that only pointers into the middle of blocks lead to",
		    &other, 1);
	leaked = false;
	hm_free(m);
}

/* Adjacent blocks of 32 bytes. */
static struct heapmade *blocks_of_new_memory(unsigned count)
{
	struct xc_block_list list;
	struct heapmade *m = hm_new(4096);
	xc_block_list_init(&list, count);
	for (unsigned i = 0; i < count; i++)
		assert_true(xc_block_list_add(&list, HM_HEAP + i * 32, 32, XC_BLOCK_LIVE));
	hm_blocks(m, &list);
	return m;
}

/* Block 0 has nothing but a link to block 1. Block 2 has one to block 3, and something else. */
static void links_of_new_memory_make_possible_leaks(void **state)
{
	static const struct xc_allocator plain = {.name = "plain", .leaves_links = true}, other = {.name = "other"};
	const struct expected row = {
		32, 1, 1, 1, "only 0x555500000000 leads to it, as a free list's link: its block has no other contents"};
	(void)state;
	for (unsigned i = 0; i < 2; i++) {
		struct heapmade *m = blocks_of_new_memory(4);
		struct xc_heap_part part = {.allocator = i ? &plain : &other};
		m->heap->parts = &part;
		m->heap->part_count = 1;
		m->data[0] = hm_pointer(m, 0, 0);
		m->data[1] = hm_pointer(m, 2, 0);
		link_to(m, 0, 0, 1);
		*hm_word(m, 1, 0) = 0x1122;
		link_to(m, 2, 0, 3);
		*hm_word(m, 2, 1) = 1;
		expect_rows(m, false, "no leak: a root reaches every live block", NULL, 0);
		expect_rows(m, true,
			    i ? "1 block, 32 B, in 1 structure that only pointers into the middle of blocks, or stale "
				"ones, "
				"lead to"
			      : "no block: none is reached by such pointers only",
			    &row, i);
		m->heap->parts = NULL;
		m->heap->part_count = 0;
		hm_free(m);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(heads_are_what_nothing_else_leads_to),
		cmocka_unit_test(a_long_ring_is_one_structure),
		cmocka_unit_test(lists_and_what_they_hold_are_two_rows),
		cmocka_unit_test(shapes_are_told),
		cmocka_unit_test(interior_pointers_make_possible_leaks),
		cmocka_unit_test(pointers_with_other_bits_make_possible_leaks),
		cmocka_unit_test(possible_leaks_are_listed_beside_leaks),
		cmocka_unit_test(links_of_new_memory_make_possible_leaks),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
