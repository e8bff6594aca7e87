/* layer: heap
 *
 * Claims on the heap of a program that keeps objects in a pool and hides pointers: the results must match the program's
 * own report. */
#include "tests/support/opened.h"

#include "dwarf/lookup/lookup.h"
#include "dwarf/elf/symbol.h"
#include "heap/graph/claim.h"
#include "heap/graph/graph.h"
#include "heap/graph/retention.h"
#include "heap/types/typing.h"
#include "heap/query/whatis.h"
#include "heap/session/session.h"

/* hidden: addresses that no scan finds. Only the pool's second object points to `behind`; nothing points to
 * `packed` and `outside`. */
static const char source[] =
	"#include <stdlib.h>\n"
	"struct node { struct node *next; long id; };\n"
	"struct thing { long a, b, c; };\n"
	"char *pool; unsigned long hidden[7]; struct node example; struct thing other;\n"
	"#define HIDE(i, p) (hidden[i] = ~(unsigned long)(p))\n"
	"__attribute__((noinline)) static void fill(void) {\n"
	"  pool = calloc(1, 4096);\n"
	"  struct node *first = (struct node *)(pool + 64), *second = (struct node *)(pool + 128);\n"
	"  struct node *behind = calloc(1, sizeof *behind);\n"
	"  HIDE(0, first); HIDE(1, second); HIDE(2, behind);\n"
	"  first->next = second; second->next = behind; first->id = 1; second->id = 2; behind->id = 3;\n"
	"  HIDE(3, calloc(1, sizeof(struct thing))); HIDE(4, calloc(1, sizeof(struct thing))); HIDE(5, pool);\n"
	"  HIDE(6, calloc(1, 1 << 20)); }\n"
	"__attribute__((noinline)) static long scrub(long n) { volatile char c[4096]; for (int i = 0; i < 4096; i++) "
	"c[i] = 0;\n"
	"  return n ? scrub(n - 1) + c[n] : 0; }\n"
	"int main(void) { fill(); scrub(8); __asm__ volatile(\"xor %%eax,%%eax; xor %%ebx,%%ebx; xor %%ecx,%%ecx;\"\n"
	"  \"xor %%edx,%%edx; xor %%esi,%%esi; xor %%edi,%%edi; xor %%r8d,%%r8d; xor %%r9d,%%r9d; xor %%r12d,%%r12d; "
	"ud2\" :::\n"
	"  \"rax\", \"rbx\", \"rcx\", \"rdx\", \"rsi\", \"rdi\", \"r8\", \"r9\", \"r12\"); return (int)example.id + "
	"(int)other.a; }\n";

enum { FIRST, SECOND, BEHIND, PACKED, OUTSIDE, POOL, LARGE, ADDRESSES };

static struct xc_process *process;
static xc_addr at[ADDRESSES];

static int make_process(void **state)
{
	(void)state;
	xc_addr hidden;
	process = died("gcc -g -O1 -x c", source);
	assert_non_null(xc_symbol_find(process, "hidden", NULL, &hidden));
	for (size_t i = 0; i < XC_COUNT(at); i++) {
		assert_true(xc_space_peek_uint(process->space, hidden + 8 * i, 8, &at[i]));
		at[i] = ~at[i];
	}
	return 0;
}

static int close_all(void **state)
{
	(void)state;
	close_process(process);
	return 0;
}

static const struct xc_type *type_named(const char *name)
{
	struct xc_definition found;
	const struct xc_query query = {.name = name, .kinds = XC_NAME_TYPE};
	assert_true(xc_lookup_one(process, &query, &found));
	return xc_type_get(xc_types_of(process), &found.die);
}

static void claim(struct xc_heap *heap, xc_addr addr, uint64_t size, const char *type)
{
	const struct xc_heap_claim made = {
		.addr = addr, .size = size, .type = type ? type_named(type) : NULL, .what = "test"};
	CHECK_OK(xc_claim_add(heap, &made));
}

static uint32_t block_at(const struct xc_heap *heap, xc_addr addr)
{
	uint32_t block = xc_blocks_find(&heap->blocks, addr);
	assert_int_not_equal(block, XC_NO_BLOCK);
	return block;
}

static void without_claims_hidden_blocks_are_leaked_and_the_pool_is_one(void **state)
{
	(void)state;
	struct xc_heap *heap = xc_heap_open(process, NULL);
	struct xc_graph *graph;
	CHECK_OK(xc_graph_of(heap, &graph));
	assert_int_equal(block_at(heap, at[FIRST]), block_at(heap, at[POOL]));
	assert_true(xc_graph_leaked(graph, block_at(heap, at[PACKED])));
	assert_true(xc_graph_leaked(graph, block_at(heap, at[OUTSIDE])));
	assert_false(xc_graph_leaked(graph, block_at(heap, at[BEHIND])));
	xc_heap_close(heap);
}

static void a_claim_is_a_block_of_its_type_and_types_flow_on(void **state)
{
	(void)state;
	struct xc_heap *heap = xc_heap_open(process, NULL);
	struct xc_typing *typing;
	size_t before = heap->blocks.count;
	claim(heap, at[SECOND], 16, "node");
	claim(heap, at[FIRST], 16, NULL);
	CHECK_OK(xc_typing_of(heap, &typing));
	uint32_t pool = block_at(heap, at[POOL]), first = block_at(heap, at[FIRST]),
		 second = block_at(heap, at[SECOND]);
	assert_int_equal(heap->blocks.count, before + 4); /* head, first, gap, second, rest */
	assert_int_equal(xc_block_addr(&heap->blocks, first), at[FIRST]);
	assert_int_equal(xc_block_size(&heap->blocks, first), 16);
	assert_int_equal(xc_block_size(&heap->blocks, pool), 64);
	assert_string_equal(xc_typing_name(typing, second), "struct node");
	assert_int_equal(xc_typing_get(typing, second)->confidence, XC_TYPE_EXACT);
	assert_string_equal(xc_typing_get(typing, second)->via, "test");
	assert_string_equal(xc_typing_name(typing, block_at(heap, at[BEHIND])), "struct node");
	assert_true(xc_claim_is_piece(heap, second) && xc_claim_of(heap, second));
	assert_false(xc_claim_is_piece(heap, pool));
	xc_heap_close(heap);
}

static void pieces_live_and_retain_as_the_block_does(void **state)
{
	(void)state;
	struct xc_heap *heap = xc_heap_open(process, NULL);
	struct xc_retention *retention;
	claim(heap, at[FIRST], 16, "node");
	claim(heap, at[SECOND], 16, "node");
	CHECK_OK(xc_retention_of(heap, &retention));
	uint32_t pool = block_at(heap, at[POOL]);
	for (xc_addr addr = at[POOL]; addr < at[POOL] + 4096; addr += 8)
		assert_false(xc_graph_leaked(heap->graph, block_at(heap, addr)));
	assert_int_equal(retention->bytes[pool], 4096 + 8 + xc_block_size(&heap->blocks, block_at(heap, at[BEHIND])));
	xc_heap_close(heap);
}

static struct xc_graph *graph_with(struct xc_heap *heap, const struct xc_heap_claim *claims, size_t count)
{
	struct xc_graph *graph;
	for (size_t i = 0; i < count; i++)
		CHECK_OK(xc_claim_add(heap, &claims[i]));
	CHECK_OK(xc_graph_of(heap, &graph));
	return graph;
}

static bool leaks(const struct xc_graph *graph, xc_addr addr)
{
	return xc_graph_leaked(graph, block_at(graph->heap, addr));
}

/* The pool has a pointer; `first`, which leads to `second` and `behind`, has none. */
static void objects_that_stand_alone_leak(void **state)
{
	(void)state;
	struct xc_heap *heap = xc_heap_open(process, NULL);
	const struct xc_heap_claim claims[] = {{.addr = at[FIRST], .size = 16, .is_alone = true, .what = "slab"},
					       {.addr = at[SECOND], .size = 16, .is_alone = true, .what = "slab"}};
	struct xc_graph *graph = graph_with(heap, claims, 2);
	assert_true(leaks(graph, at[FIRST]) && leaks(graph, at[SECOND]) && leaks(graph, at[BEHIND]));
	assert_false(leaks(graph, at[POOL]) || leaks(graph, at[POOL] + 2048) || leaks(graph, at[FIRST] + 16));
	xc_heap_close(heap);
}

/* What points to one keeps its block, too. */
static void an_object_that_stands_alone_keeps_its_slab(void **state)
{
	(void)state;
	struct xc_heap *heap = xc_heap_open(process, NULL);
	const struct xc_heap_claim claims[] = {{.addr = at[FIRST], .size = 16, .is_alone = true, .what = "slab"},
					       {.addr = at[SECOND], .size = 16, .is_alone = true, .what = "slab"},
					       {.addr = at[LARGE], .size = 64, .is_alone = true, .what = "slab"},
					       {.addr = at[LARGE] + 64, .size = 64, .is_alone = true, .what = "slab"}};
	CHECK_OK(xc_claim_add_root(heap, at[SECOND]));
	CHECK_OK(xc_claim_add_root(heap, at[LARGE] + 64));
	struct xc_graph *graph = graph_with(heap, claims, 4);
	assert_true(leaks(graph, at[FIRST]) && leaks(graph, at[LARGE]));
	assert_false(leaks(graph, at[SECOND]) || leaks(graph, at[BEHIND]));
	assert_false(leaks(graph, at[LARGE] + 64) || leaks(graph, at[LARGE] + 128));
	xc_heap_close(heap);
}

/* Nothing but objects: there is no rest that could hold any. */
static void in_a_slab_of_objects_each_is_for_itself(void **state)
{
	(void)state;
	struct xc_heap *heap = xc_heap_open(process, NULL);
	const struct xc_heap_claim claims[] = {{.addr = at[POOL], .size = 64, .is_alone = true, .what = "slab"},
					       {.addr = at[POOL] + 64, .size = 64, .is_alone = true, .what = "slab"},
					       {.addr = at[POOL] + 128, .is_alone = true, .what = "slab"}};
	struct xc_graph *graph = graph_with(heap, claims, 3);
	assert_false(leaks(graph, at[POOL]));
	assert_true(leaks(graph, at[FIRST]) && leaks(graph, at[SECOND]));
	xc_heap_close(heap);
}

static void a_free_object_is_free_and_holds_nothing(void **state)
{
	(void)state;
	struct xc_heap *heap = xc_heap_open(process, NULL);
	const struct xc_heap_claim claims[] = {{.addr = at[FIRST], .size = 16, .is_free = true, .what = "slab"},
					       {.addr = at[SECOND], .size = 16, .is_alone = true, .what = "slab"}};
	CHECK_OK(xc_claim_add_root(heap, at[FIRST]));
	struct xc_graph *graph = graph_with(heap, claims, 2);
	assert_true(xc_block_is_free(xc_block_state(&heap->blocks, block_at(heap, at[FIRST]))));
	assert_true(leaks(graph, at[SECOND]));
	assert_false(leaks(graph, at[FIRST]) || leaks(graph, at[POOL]));
	xc_heap_close(heap);
}

static void edges_and_roots_keep_alive(void **state)
{
	(void)state;
	struct xc_heap *heap = xc_heap_open(process, NULL);
	struct xc_graph *graph;
	uint32_t *path;
	const struct xc_root *root;
	CHECK_OK(xc_claim_add_edge(heap, at[BEHIND] + 8, at[PACKED]));
	CHECK_OK(xc_claim_add_root(heap, at[OUTSIDE] + 4));
	CHECK_OK(xc_graph_of(heap, &graph));
	assert_false(xc_graph_leaked(graph, block_at(heap, at[PACKED])));
	assert_false(xc_graph_leaked(graph, block_at(heap, at[OUTSIDE])));
	assert_int_equal(xc_graph_path(graph, block_at(heap, at[PACKED]), &path, &root), 3);
	assert_int_equal(path[1], block_at(heap, at[BEHIND]));
	free(path);
	assert_int_equal(xc_graph_path(graph, block_at(heap, at[OUTSIDE]), &path, &root), 1);
	assert_int_equal(root->kind, XC_ROOT_PLUGIN);
	free(path);
	xc_heap_close(heap);
}

static void bad_claims_are_refused_and_counted(void **state)
{
	(void)state;
	struct xc_heap *heap = xc_heap_open(process, NULL);
	struct xc_graph *graph;
	struct xc_error *err = xc_claim_add(heap, &(struct xc_heap_claim){.addr = at[FIRST] + 4, .what = "test"});
	assert_int_equal(err->code, XC_ERR_USAGE);
	xc_error_free(err);
	claim(heap, at[FIRST], 64, NULL);
	claim(heap, at[FIRST] + 32, 64, NULL);    /* overlaps */
	claim(heap, at[POOL] + 4000, 1000, NULL); /* too long */
	claim(heap, 16, 16, NULL);                /* at no possible address */
	claim(heap, UINT64_MAX - 7, 8, NULL);
	claim(heap, at[POOL] + 3968, UINT64_MAX, NULL);
	CHECK_OK(xc_graph_of(heap, &graph));
	assert_int_equal(heap->claims->refused, 5);
	assert_int_equal(heap->claims->count, 1);
	err = xc_claim_add_root(heap, at[POOL]);
	assert_int_equal(err->code, XC_ERR_USAGE);
	xc_error_free(err);
	xc_heap_close(heap);
}

/* Block numbers change when claims are applied: facts known by number must still refer to the same block. */
static void damages_name_the_same_block_when_others_fall_apart(void **state)
{
	(void)state;
	struct xc_heap *heap = xc_heap_open(process, NULL);
	const struct xc_damage damages[] = {
		{.kind = XC_DAMAGE_HEADER, .what = "x", .lost_lo = 1, .before = block_at(heap, at[POOL])},
		{.kind = XC_DAMAGE_HEADER, .what = "x", .lost_lo = 1, .before = block_at(heap, at[OUTSIDE])},
		{.kind = XC_DAMAGE_HEADER, .what = "x", .lost_lo = 1, .before = XC_NO_BLOCK},
	};
	for (size_t i = 0; i < XC_COUNT(damages); i++)
		xc_heap_add_damage(heap, &damages[i]);
	heap->blocks.left_out = 7;
	claim(heap, at[FIRST], 16, "node");
	claim(heap, at[POOL] + 4000, 16, NULL);
	xc_claims_apply(heap);
	assert_int_equal(heap->damages[0].before, block_at(heap, at[POOL] + 4096));
	assert_int_equal(heap->damages[1].before, block_at(heap, at[OUTSIDE]));
	assert_int_equal(heap->damages[2].before, XC_NO_BLOCK);
	assert_int_equal(heap->blocks.left_out, 7);
	xc_heap_close(heap);
}

static void whatis_is_about_the_blocks_that_claims_make(void **state)
{
	(void)state;
	struct xc_heap *heap = xc_heap_open(process, NULL);
	struct xc_report *report = xc_report_new("heap");
	struct xc_section *section = xc_report_section(report, "whatis", "Address");
	bool found = false;
	claim(heap, at[FIRST], 16, "node");
	xc_whatis(section, heap, at[OUTSIDE]);
	for (const struct xc_item *item = section->items; item; item = item->next)
		if (item->kind == XC_ITEM_FIELD && strcmp(item->field.key, "block") == 0) {
			assert_int_equal(item->field.cell.number, at[OUTSIDE]);
			found = true;
		}
	assert_true(found);
	xc_report_free(report);
	xc_heap_close(heap);
}

/* Quadratic time in their number would keep the test from ending. */
static void many_claims_in_one_block_hold_together(void **state)
{
	(void)state;
	enum { COUNT = (1 << 20) / 8 };
	struct xc_heap *heap = xc_heap_open(process, NULL);
	struct xc_graph *graph;
	for (uint64_t i = 0; i < COUNT; i++)
		claim(heap, at[LARGE] + 8 * i, 8, NULL);
	CHECK_OK(xc_claim_add_root(heap, at[LARGE]));
	CHECK_OK(xc_graph_of(heap, &graph));
	uint32_t first = block_at(heap, at[LARGE]);
	assert_int_equal(heap->claims->count, COUNT);
	for (uint32_t i = 0; i < COUNT; i++)
		assert_false(xc_graph_leaked(graph, first + i));
	xc_heap_close(heap);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(without_claims_hidden_blocks_are_leaked_and_the_pool_is_one),
		cmocka_unit_test(a_claim_is_a_block_of_its_type_and_types_flow_on),
		cmocka_unit_test(pieces_live_and_retain_as_the_block_does),
		cmocka_unit_test(objects_that_stand_alone_leak),
		cmocka_unit_test(an_object_that_stands_alone_keeps_its_slab),
		cmocka_unit_test(in_a_slab_of_objects_each_is_for_itself),
		cmocka_unit_test(a_free_object_is_free_and_holds_nothing),
		cmocka_unit_test(edges_and_roots_keep_alive),
		cmocka_unit_test(bad_claims_are_refused_and_counted),
		cmocka_unit_test(damages_name_the_same_block_when_others_fall_apart),
		cmocka_unit_test(whatis_is_about_the_blocks_that_claims_make),
		cmocka_unit_test(many_claims_in_one_block_hold_together),
	};
	return cmocka_run_group_tests(tests, make_process, close_all);
}
