/* layer: heap tier: check
 *
 * Rows, roots and reachable blocks, against a search without any of the tables. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <elf.h>

#include "heap/blocks/scan.h"
#include "tests/support/heapmade.h"

enum { BLOCKS = 3000 };

static bool takes_part(const struct heapmade *m, uint32_t block)
{
	enum xc_block_state state = xc_block_state(&m->heap->blocks, block);
	return state == XC_BLOCK_LIVE || state == XC_BLOCK_UNKNOWN;
}

/* The block that contains a value, as an edge to it would say; by a walk through all blocks. */
static uint32_t naive(const struct heapmade *m, uint64_t value)
{
	const struct xc_blocks *blocks = &m->heap->blocks;
	for (uint32_t i = 0; i < blocks->count; i++) {
		xc_addr addr = xc_block_addr(blocks, i);
		if (value >= addr && value - addr < xc_block_size(blocks, i))
			return takes_part(m, i) ? i | (value == addr ? 0 : XC_EDGE_INTERIOR) : XC_NO_BLOCK;
	}
	return XC_NO_BLOCK;
}

/* Random pointers: to blocks, into them, into gaps, and numbers. */
static uint64_t random_word(struct heapmade *m)
{
	switch (hm_any(8)) {
	case 0:
	case 1:
		return hm_pointer(m, (uint32_t)hm_any(m->heap->blocks.count), 3);
	case 2:
		return HM_HEAP + hm_any(m->size);
	case 3:
		return hm_any(2) ? UINT64_MAX - hm_any(100) : m->heap->blocks.lo - 1 - hm_any(100);
	default:
		return hm_any(1000);
	}
}

static struct heapmade *random_graph(size_t blocks, unsigned pointers)
{
	struct heapmade *m = hm_random(blocks, 5);
	for (uint32_t i = 0; i < m->heap->blocks.count; i++)
		for (size_t w = 0; w < xc_block_size(&m->heap->blocks, i) / 8; w++)
			if (hm_any(pointers) == 0)
				*hm_word(m, i, w) = random_word(m);
	return m;
}

static struct xc_graph *graph_of(struct heapmade *m)
{
	struct xc_graph *graph = NULL;
	CHECK_OK(xc_graph_of(m->heap, &graph));
	return graph;
}

static void compare_rows(struct heapmade *m, const struct xc_graph *graph)
{
	uint32_t at = 0;
	for (uint32_t i = 0; i < m->heap->blocks.count; i++) {
		assert_int_equal(graph->start[i], at);
		for (size_t w = 0; takes_part(m, i) && w < xc_block_size(&m->heap->blocks, i) / 8; w++) {
			uint32_t edge = naive(m, *hm_word(m, i, w));
			if (edge != XC_NO_BLOCK && (edge & ~XC_EDGE_INTERIOR) != i)
				assert_int_equal(graph->to[at++], edge);
		}
	}
	assert_int_equal(graph->start[m->heap->blocks.count], at);
	assert_int_equal(graph->edge_count, at);
}

static void edges_are_those_that_a_search_finds(void **state)
{
	(void)state;
	for (unsigned i = 0; i < 3; i++) {
		struct heapmade *m = random_graph(BLOCKS, 2 + i);
		compare_rows(m, graph_of(m));
		hm_free(m);
	}
}

/* Blocks that are divided into pieces, and rows over several of them. */
static void large_blocks_are_looked_through(void **state)
{
	(void)state;
	enum { LARGE = 20 << 20 };
	struct heapmade *m = hm_new(3 * LARGE);
	struct xc_block_list list;
	xc_block_list_init(&list, 8);
	xc_block_list_add(&list, HM_HEAP + 16, 24, XC_BLOCK_LIVE);
	xc_block_list_add(&list, HM_HEAP + 64, LARGE, XC_BLOCK_LIVE);
	xc_block_list_add(&list, HM_HEAP + 128 + LARGE, 40, XC_BLOCK_LIVE);
	xc_block_list_add(&list, HM_HEAP + 256 + LARGE, LARGE - 4, XC_BLOCK_LIVE);
	hm_blocks(m, &list);
	for (size_t w = 0; w < LARGE / 8; w += 1 + hm_any(300))
		*hm_word(m, 1, w) = hm_pointer(m, (uint32_t)hm_any(4), 2);
	for (size_t w = 0; w < LARGE / 8 - 1; w += 1 + hm_any(30))
		*hm_word(m, 3, w) = hm_pointer(m, (uint32_t)hm_any(4), 2);
	*hm_word(m, 1, LARGE / 8 - 1) = hm_pointer(m, 0, 0);
	*hm_word(m, 2, 4) = hm_pointer(m, 3, 0);
	compare_rows(m, graph_of(m));
	hm_free(m);
}

static void both_ways_of_counting_bits_agree(void **state)
{
	(void)state;
	struct heapmade *m = random_graph(BLOCKS, 1);
	static struct xc_scan fast, plain;
	xc_scan_init(&fast, m->heap);
	xc_scan_init_plain(&plain, m->heap);
	size_t words = m->size / 8, done = 0;
	while (done < words) {
		const uint8_t *bytes = (const uint8_t *)(m->memory + done);
		size_t some = xc_scan_collect(&fast, bytes, words - done, (uint32_t)done, 1);
		assert_int_equal(xc_scan_collect(&plain, bytes, words - done, (uint32_t)done, 1), some);
		fast.resolve(&fast);
		plain.resolve(&plain);
		assert_int_equal(fast.count, plain.count);
		for (size_t i = 0; i < fast.count; i++) {
			assert_int_equal(fast.hits[i], plain.hits[i]);
			assert_int_equal(fast.hits[i], naive(m, m->memory[fast.tags[i]]));
		}
		fast.count = plain.count = 0;
		done += some;
	}
	hm_free(m);
}

/* Targets with other words than the host's: each word in turn is looked up as in the target. */
static void words_of_other_machines_are_understood(void **state)
{
	(void)state;
	static struct xc_scan scan;
	const struct xc_arch *const arches[] = {xc_arch_find(EM_386, ELFCLASS32, false),
						xc_arch_find(EM_PPC, ELFCLASS32, true),
						xc_arch_find(EM_S390, ELFCLASS64, true)};
	struct heapmade *m = hm_new(4096);
	struct xc_block_list list;
	xc_block_list_init(&list, 8);
	for (uint64_t i = 0; i < 8; i++)
		xc_block_list_add(&list, 0x12345600 + i * 64, 56, XC_BLOCK_LIVE);
	hm_blocks(m, &list);
	for (size_t a = 0; a < XC_COUNT(arches); a++) {
		uint8_t bytes[8 * 16] = {0};
		m->process->arch = arches[a];
		xc_scan_init(&scan, m->heap);
		for (uint64_t i = 0; i < 16; i++) {
			uint64_t value = 0x12345600 + (i % 8) * 64 + (i >= 8 ? 4 : 0);
			for (unsigned k = 0; k < arches[a]->word; k++)
				bytes[i * arches[a]->word + k] =
					(uint8_t)(value >> 8 * (arches[a]->big_endian ? arches[a]->word - 1U - k : k));
		}
		assert_int_equal(xc_scan_collect(&scan, bytes, 16, 0, 1), 16);
		scan.resolve(&scan);
		assert_int_equal(scan.count, 16);
		for (uint32_t i = 0; i < 16; i++)
			assert_int_equal(scan.hits[i], i % 8 | (i >= 8 ? XC_SCAN_INTERIOR : 0));
	}
	hm_free(m);
}

/* ---- roots ---- */

static bool has_root(const struct xc_graph *graph, enum xc_root_kind kind, xc_addr at, uint32_t block)
{
	for (size_t i = 0; i < graph->root_count; i++) {
		const struct xc_root *root = &graph->roots[i];
		if (root->kind == kind && root->at == at && root->block == block)
			return true;
	}
	return false;
}

static void roots_are_data_stack_registers_and_other_memory(void **state)
{
	(void)state;
	struct heapmade *m = hm_random(100, 0);
	m->data[5] = hm_pointer(m, 1, 0);
	m->other[HM_WORDS - 1] = hm_pointer(m, 2, 0) + 8;
	m->stack[HM_SP_WORD] = hm_pointer(m, 3, 0);
	m->stack[HM_SP_WORD - 16] = hm_pointer(m, 4, 0); /* the last word of the red zone */
	m->stack[HM_SP_WORD - 17] = hm_pointer(m, 5, 0); /* dead */
	m->memory[0] = hm_pointer(m, 6, 0);              /* the allocator's own */
	xc_regs_set(&m->thread.regs, HM_RBX, hm_pointer(m, 7, 0));
	const struct xc_graph *graph = graph_of(m);
	assert_int_equal(graph->root_count, 5);
	assert_true(has_root(graph, XC_ROOT_GLOBAL, HM_DATA + 40, 1));
	assert_true(has_root(graph, XC_ROOT_MAPPING, HM_OTHER + (HM_WORDS - 1) * 8, 2));
	assert_true(has_root(graph, XC_ROOT_STACK, HM_STACK + HM_SP_WORD * 8, 3));
	assert_true(has_root(graph, XC_ROOT_STACK, HM_STACK + HM_SP_WORD * 8 - 128, 4));
	assert_true(has_root(graph, XC_ROOT_REGISTER, HM_RBX, 7));
	for (uint32_t i = 0; i < 100; i++)
		assert_int_equal(xc_graph_leaked(graph, i), !(i == 1 || i == 2 || i == 3 || i == 4 || i == 7));
	for (uint32_t i = 0; i < 100; i++)
		assert_int_equal(xc_graph_possibly_leaked(graph, i), i == 2);
	for (size_t i = 1; i < graph->root_count; i++)
		assert_true(graph->roots[i - 1].kind <= graph->roots[i].kind);
	hm_free(m);
}

static void what_an_arena_still_points_to_is_leaked_all_the_same(void **state)
{
	(void)state;
	struct heapmade *m = hm_random(100, 0);
	xc_heap_add_arena(m->heap, &(struct xc_heap_arena){.name = "main arena", .addr = HM_DATA + 64, .size = 128});
	m->data[8] = m->data[23] = hm_pointer(m, 6, 0);
	m->data[7] = hm_pointer(m, 5, 0);
	m->data[24] = hm_pointer(m, 7, 0);
	const struct xc_graph *graph = graph_of(m);
	assert_true(xc_graph_leaked(graph, 6));
	assert_false(xc_graph_leaked(graph, 5) || xc_graph_leaked(graph, 7));
	hm_free(m);
}

/* A stack pointer need not be aligned, and a thread pointer may be anything. */
static void borders_of_ranges_divide_no_word(void **state)
{
	(void)state;
	for (uint64_t i = 0; i < 8; i++) {
		struct heapmade *m = hm_random(100, 0);
		xc_regs_set(&m->thread.regs, HM_RSP, HM_STACK + HM_SP_WORD * 8 + i);
		xc_regs_set(&m->thread.regs, m->process->arch->tls.tp, HM_OTHER + 800 + i);
		m->stack[HM_SP_WORD - 16] = hm_pointer(m, 1, 0);
		for (uint32_t w = 0; w < HM_WORDS && w < 90; w++)
			m->other[w + 60] = hm_pointer(m, 2 + w, 0);
		const struct xc_graph *graph = graph_of(m);
		for (uint32_t b = 1; b < 92; b++)
			assert_false(xc_graph_leaked(graph, b));
		hm_free(m);
	}
}

static void what_a_damaged_part_of_the_heap_points_to_is_not_leaked(void **state)
{
	(void)state;
	struct heapmade *m = hm_random(100, 0);
	struct xc_damage damage = {.addr = HM_HEAP, .what = "test", .lost_lo = HM_HEAP, .lost_hi = HM_HEAP + 15};
	xc_heap_add_damage(m->heap, &damage);
	m->memory[1] = hm_pointer(m, 6, 0);
	const struct xc_graph *graph = graph_of(m);
	assert_true(has_root(graph, XC_ROOT_DAMAGED, HM_HEAP + 8, 6));
	assert_false(xc_graph_leaked(graph, 6));
	hm_free(m);
}

static void what_lies_where_the_core_has_no_bytes_is_counted(void **state)
{
	(void)state;
	struct heapmade *m = hm_random(100, 0);
	struct xc_segment lost = {.lo = HM_OTHER + 512, .hi = HM_OTHER + 1023, .provenance = XC_CUT_SHORT};
	struct xc_segment hole = {.lo = xc_block_addr(&m->heap->blocks, 50), .provenance = XC_NOT_DUMPED};
	hole.hi = hole.lo + 7;
	xc_space_add(m->process->space, &lost);
	xc_space_add(m->process->space, &hole);
	xc_space_seal(m->process->space);
	*hm_word(m, 50, 0) = hm_pointer(m, 1, 0);
	*hm_word(m, 50, 1) = hm_pointer(m, 2, 0);
	const struct xc_graph *graph = graph_of(m);
	assert_int_equal(graph->missing_roots, 512);
	assert_int_equal(graph->missing_blocks, 8);
	assert_int_equal(graph->start[51] - graph->start[50], 1);
	assert_int_equal(graph->to[graph->start[50]], 2);
	hm_free(m);
}

/* ---- reachability ---- */

/* Follows pointers until nothing new is found. */
static void naive_reach(struct heapmade *m, const struct xc_graph *graph, bool sure, bool *reached)
{
	bool more = true;
	for (size_t i = 0; i < graph->root_count; i++)
		if (!sure || !graph->roots[i].interior)
			reached[graph->roots[i].block] = true;
	while (more) {
		more = false;
		for (uint32_t i = 0; i < m->heap->blocks.count; i++)
			for (uint32_t e = graph->start[i]; reached[i] && e < graph->start[i + 1]; e++) {
				uint32_t target = graph->to[e] & ~XC_EDGE_INTERIOR;
				if ((sure && graph->to[e] & XC_EDGE_INTERIOR) || reached[target])
					continue;
				reached[target] = more = true;
			}
	}
}

static void what_is_reached_is_what_following_all_pointers_reaches(void **state)
{
	(void)state;
	for (unsigned i = 0; i < 20; i++) {
		struct heapmade *m = random_graph(500, 12 + 3 * i);
		bool reached[500] = {0}, surely[500] = {0};
		for (int k = 0; k < 6; k++)
			m->data[hm_any(HM_WORDS)] = random_word(m);
		const struct xc_graph *graph = graph_of(m);
		naive_reach(m, graph, false, reached);
		naive_reach(m, graph, true, surely);
		for (uint32_t b = 0; b < m->heap->blocks.count; b++) {
			assert_int_equal(xc_graph_bit(graph->reached, b), reached[b]);
			assert_int_equal(xc_graph_bit(graph->surely, b), surely[b]);
		}
		hm_free(m);
	}
}

/* ---- the reverse direction ---- */

static void the_way_back_has_the_same_edges(void **state)
{
	(void)state;
	for (unsigned jobs = 1; jobs <= 3; jobs++) {
		struct heapmade *m = random_graph(BLOCKS, 4);
		m->heap->jobs = jobs;
		struct xc_graph *graph = graph_of(m);
		uint32_t *seen = xc_alloc(BLOCKS * sizeof *seen); /* of each block's reverse row */
		xc_graph_back(graph);
		for (uint32_t i = 0; i < BLOCKS; i++)
			for (uint32_t e = graph->start[i]; e < graph->start[i + 1]; e++) {
				uint32_t target = graph->to[e] & ~XC_EDGE_INTERIOR;
				assert_true(graph->back_start[target] + seen[target] < graph->back_start[target + 1]);
				assert_int_equal(graph->back[graph->back_start[target] + seen[target]++], i);
			}
		for (uint32_t i = 0; i < BLOCKS; i++)
			assert_int_equal(graph->back_start[i] + seen[i], graph->back_start[i + 1]);
		free(seen);
		hm_free(m);
	}
}

/* Steps from the roots to every block, by relaxing all edges until nothing changes; 0: not reached. */
static void naive_distances(struct heapmade *m, const struct xc_graph *graph, unsigned *distance)
{
	bool more = true;
	for (size_t i = 0; i < graph->root_count; i++)
		distance[graph->roots[i].block] = 1;
	while (more) {
		more = false;
		for (uint32_t i = 0; i < m->heap->blocks.count; i++)
			for (uint32_t e = graph->start[i]; distance[i] && e < graph->start[i + 1]; e++) {
				unsigned *target = &distance[graph->to[e] & ~XC_EDGE_INTERIOR];
				if (*target && *target <= distance[i] + 1)
					continue;
				*target = distance[i] + 1;
				more = true;
			}
	}
}

static void check_path(const struct xc_graph *graph, const uint32_t *path, size_t length, const struct xc_root *root)
{
	assert_int_equal(root->block, path[0]);
	for (size_t i = 0; i + 1 < length; i++) {
		bool linked = false;
		for (uint32_t e = graph->start[path[i]]; e < graph->start[path[i] + 1]; e++)
			linked |= (graph->to[e] & ~XC_EDGE_INTERIOR) == path[i + 1];
		assert_true(linked);
	}
}

static void paths_are_the_shortest(void **state)
{
	(void)state;
	for (unsigned i = 0; i < 10; i++) {
		struct heapmade *m = random_graph(400, 15 + 4 * i);
		unsigned distance[400] = {0};
		for (int k = 0; k < 6; k++)
			(k % 2 ? m->data : m->other)[hm_any(HM_WORDS)] = random_word(m);
		struct xc_graph *graph = graph_of(m);
		naive_distances(m, graph, distance);
		for (uint32_t b = 0; b < m->heap->blocks.count; b++) {
			uint32_t *path = NULL;
			const struct xc_root *root = NULL;
			size_t length = xc_graph_path(graph, b, &path, &root);
			assert_int_equal(length, distance[b]);
			if (length) {
				assert_int_equal(path[length - 1], b);
				check_path(graph, path, length, root);
			}
			free(path);
		}
		hm_free(m);
	}
}

static void an_empty_heap_has_an_empty_graph(void **state)
{
	(void)state;
	struct heapmade *m = hm_new(4096);
	m->heap->blocks.lo = 1;
	struct xc_graph *graph = graph_of(m);
	xc_graph_back(graph);
	assert_int_equal(graph->edge_count, 0);
	assert_int_equal(graph->root_count, 0);
	hm_free(m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(edges_are_those_that_a_search_finds),
		cmocka_unit_test(large_blocks_are_looked_through),
		cmocka_unit_test(both_ways_of_counting_bits_agree),
		cmocka_unit_test(words_of_other_machines_are_understood),
		cmocka_unit_test(roots_are_data_stack_registers_and_other_memory),
		cmocka_unit_test(what_an_arena_still_points_to_is_leaked_all_the_same),
		cmocka_unit_test(borders_of_ranges_divide_no_word),
		cmocka_unit_test(what_a_damaged_part_of_the_heap_points_to_is_not_leaked),
		cmocka_unit_test(what_lies_where_the_core_has_no_bytes_is_counted),
		cmocka_unit_test(what_is_reached_is_what_following_all_pointers_reaches),
		cmocka_unit_test(the_way_back_has_the_same_edges),
		cmocka_unit_test(paths_are_the_shortest),
		cmocka_unit_test(an_empty_heap_has_an_empty_graph),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
