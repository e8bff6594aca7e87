/* layer: heap
 *
 * Dominators against their definition: d dominates b if b cannot be reached without d. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "heap/graph/retention.h"
#include "heap/types/typing.h"
#include "tests/support/heapmade.h"

enum { MOST = 120 };

static struct xc_retention *retention_of(struct heapmade *m)
{
	struct xc_retention *retention = NULL;
	CHECK_OK(xc_retention_of(m->heap, &retention));
	return retention;
}

static bool is_of(const struct xc_root *root, const struct xc_holder *holder)
{
	bool thread = root->kind == XC_ROOT_TLS || root->kind == XC_ROOT_REGISTER || root->kind == XC_ROOT_STACK;
	return (thread ? XC_ROOT_STACK : root->kind) == holder->kind && root->owner == holder->owner;
}

/* The blocks reached without one block, or without one holder's roots. */
static void reach_without(const struct xc_graph *graph, uint32_t away, const struct xc_holder *holder, bool *reached)
{
	uint32_t queue[MOST], count = 0;
	memset(reached, 0, MOST);
	for (size_t i = 0; i < graph->root_count; i++) {
		uint32_t block = graph->roots[i].block;
		if (block == away || reached[block] || (holder && is_of(&graph->roots[i], holder)))
			continue;
		reached[block] = true;
		queue[count++] = block;
	}
	for (uint32_t at = 0; at < count; at++)
		for (uint32_t e = graph->start[queue[at]]; e < graph->start[queue[at] + 1]; e++) {
			uint32_t target = graph->to[e] & ~XC_EDGE_INTERIOR;
			if (target == away || reached[target])
				continue;
			reached[target] = true;
			queue[count++] = target;
		}
}

/* The blocks in all[] that are not in some[]. */
static void lost(const struct heapmade *m, const bool *all, const bool *some, uint64_t *bytes, uint64_t *count)
{
	*bytes = *count = 0;
	for (uint32_t i = 0; i < m->heap->blocks.count; i++)
		if (all[i] && !some[i]) {
			*bytes += xc_block_size(&m->heap->blocks, i);
			++*count;
		}
}

static void compare_holders(const struct heapmade *m, const struct xc_retention *r, const bool *all)
{
	uint64_t bytes, count, total = r->shared_bytes, reached = 0;
	bool some[MOST];
	for (size_t h = 0; h < r->holder_count; h++) {
		reach_without(m->heap->graph, XC_NO_BLOCK, &r->holders[h], some);
		lost(m, all, some, &bytes, &count);
		assert_int_equal(r->holders[h].bytes, bytes);
		assert_int_equal(r->holders[h].count, count);
		assert_true(h == 0 || r->holders[h - 1].bytes >= bytes);
		total += bytes;
	}
	for (uint32_t i = 0; i < m->heap->blocks.count; i++)
		reached += all[i] ? xc_block_size(&m->heap->blocks, i) : 0;
	assert_int_equal(total, reached);
}

static void compare(const struct heapmade *m, const struct xc_retention *r)
{
	bool all[MOST], some[MOST];
	uint64_t bytes, count;
	reach_without(m->heap->graph, XC_NO_BLOCK, NULL, all);
	for (uint32_t i = 0; i < m->heap->blocks.count; i++) {
		reach_without(m->heap->graph, i, NULL, some);
		lost(m, all, some, &bytes, &count);
		assert_int_equal(r->bytes[i], bytes);
		assert_int_equal(r->count[i], count);
		if (r->dominator[i] == XC_NO_BLOCK)
			continue;
		reach_without(m->heap->graph, r->dominator[i], NULL, some);
		assert_true(all[i] && !some[i]);
	}
	compare_holders(m, r, all);
}

static void put_roots(struct heapmade *m, unsigned count)
{
	for (unsigned k = 0; k < count; k++) {
		uint64_t value = hm_pointer(m, (uint32_t)hm_any(m->heap->blocks.count), 4);
		switch (hm_any(4)) {
		case 0:
			m->data[hm_any(HM_WORDS)] = value;
			break;
		case 1:
			m->other[hm_any(HM_WORDS)] = value;
			break;
		case 2:
			m->stack[HM_SP_WORD + hm_any(HM_WORDS - HM_SP_WORD)] = value;
			break;
		default:
			xc_regs_set(&m->thread.regs, HM_RBX, value);
		}
	}
}

static void retained_is_what_is_lost_when_a_block_goes(void **state)
{
	(void)state;
	for (unsigned i = 0; i < 400; i++) {
		struct heapmade *m = hm_random(5 + hm_any(MOST - 5), 0);
		uint32_t count = (uint32_t)m->heap->blocks.count;
		size_t edges = hm_any(3 * count);
		for (size_t k = 0; k < edges; k++) {
			uint32_t from = (uint32_t)hm_any(count);
			*hm_word(m, from, hm_any(xc_block_size(&m->heap->blocks, from) / 8)) =
				hm_pointer(m, (uint32_t)hm_any(count), 5);
		}
		put_roots(m, 1 + (unsigned)hm_any(6));
		compare(m, retention_of(m));
		hm_free(m);
	}
}

/* A list with links both ways from one global: each node keeps all later ones alive. It is also deep: there must be
 * no recursion. */
static void a_long_list_is_retained_from_each_node_on(void **state)
{
	(void)state;
	enum { LONG = 1000000 };
	struct heapmade *m = hm_new((size_t)LONG * 32);
	struct xc_block_list list;
	xc_block_list_init(&list, LONG);
	for (uint64_t i = 0; i < LONG; i++)
		xc_block_list_add(&list, HM_HEAP + i * 32 + 16, 16, XC_BLOCK_LIVE);
	hm_blocks(m, &list);
	for (uint32_t i = 0; i < LONG; i++) {
		if (i + 1 < LONG)
			*hm_word(m, i, 0) = hm_pointer(m, i + 1, 0);
		if (i)
			*hm_word(m, i, 1) = hm_pointer(m, i - 1, 0);
	}
	m->data[0] = hm_pointer(m, 0, 0);
	const struct xc_retention *r = retention_of(m);
	for (uint32_t i = 0; i < LONG; i++) {
		assert_int_equal(r->dominator[i], i ? i - 1 : XC_NO_BLOCK);
		assert_int_equal(r->count[i], LONG - i);
		assert_int_equal(r->bytes[i], (LONG - i) * 16);
	}
	assert_int_equal(r->holder_count, 1);
	assert_int_equal(r->holders[0].count, LONG);
	hm_free(m);
}

/* ---- in tables ---- */

enum { TYPES = 4 };

/* Random types, set by hand. */
static struct xc_typing *typed_by_hand(struct heapmade *m, struct xc_type *types)
{
	static const char *const names[TYPES] = {"a", "b", "c", "b"}; /* two of one name are one */
	struct xc_typing *typing = xc_alloc(sizeof *typing);
	typing->heap = m->heap;
	typing->items = xc_alloc((TYPES + 1) * sizeof *typing->items);
	typing->item_count = TYPES + 1;
	for (size_t i = 0; i < TYPES; i++) {
		types[i] = (struct xc_type){.kind = XC_TYPE_INT, .name = names[i], .size_known = true, .size = 1};
		typing->items[i + 1].type = &types[i];
	}
	typing->memory = xc_reserve_new(m->heap->blocks.count, sizeof *typing->by_block);
	typing->by_block = typing->memory.items;
	for (uint32_t i = 0; i < m->heap->blocks.count; i++)
		typing->by_block[i] = (uint32_t)hm_any(TYPES + 1);
	return typing;
}

static const char *name_of(const struct xc_typing *typing, uint32_t block)
{
	const struct xc_typed *typed = xc_typing_get(typing, block);
	return typed ? typed->type->name : NULL;
}

static bool is_same(const char *a, const char *b)
{
	return a && b ? strcmp(a, b) == 0 : a == b;
}

/* Retained by the blocks of a type that have none of it above them. */
static uint64_t naive_by_type(const struct heapmade *m, const struct xc_retention *r, const char *name)
{
	uint64_t bytes = 0;
	for (uint32_t i = 0; i < m->heap->blocks.count; i++) {
		bool first = is_same(name_of(m->heap->typing, i), name);
		for (uint32_t up = r->dominator[i]; up != XC_NO_BLOCK; up = r->dominator[up])
			first = first && !is_same(name_of(m->heap->typing, up), name);
		bytes += first ? r->bytes[i] : 0;
	}
	return bytes;
}

static void what_a_type_retains_is_counted_once(void **state)
{
	(void)state;
	for (unsigned i = 0; i < 50; i++) {
		struct heapmade *m = hm_random(MOST, 0);
		struct xc_type types[TYPES];
		for (size_t k = hm_any(3 * MOST); k-- > 0;)
			*hm_word(m, (uint32_t)hm_any(MOST), hm_any(3)) = hm_pointer(m, (uint32_t)hm_any(MOST), 5);
		put_roots(m, 1 + (unsigned)hm_any(6));
		const struct xc_retention *r = retention_of(m);
		struct xc_typing *typing = m->heap->typing = typed_by_hand(m, types);
		struct xc_report *report = xc_report_new("heap");
		struct xc_section *s = xc_report_section(report, "top", "Top");
		xc_retention_by_type(s, r, 0);
		xc_retention_by_holder(s, r, 0);
		const struct xc_table *table = s->items->table;
		for (size_t k = 0; k < table->row_count; k++) {
			const struct xc_cell *row = &table->cells[k * table->column_count];
			const char *name = row[4].kind == XC_FIELD_NULL ? NULL : row[4].text;
			assert_int_equal(row[0].number, naive_by_type(m, r, name));
		}
		assert_int_equal(s->items->next->table->row_count, r->holder_count + (r->shared_count > 0));
		xc_report_free(report);
		m->heap->typing = NULL;
		free(typing->items);
		xc_reserve_free(&typing->memory);
		free(typing);
		hm_free(m);
	}
}

static void nothing_is_retained_in_an_empty_heap(void **state)
{
	(void)state;
	struct heapmade *m = hm_new(4096);
	m->heap->blocks.lo = 1;
	assert_int_equal(retention_of(m)->holder_count, 0);
	hm_free(m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(retained_is_what_is_lost_when_a_block_goes),
		cmocka_unit_test(a_long_list_is_retained_from_each_node_on),
		cmocka_unit_test(what_a_type_retains_is_counted_once),
		cmocka_unit_test(nothing_is_retained_in_an_empty_heap),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
