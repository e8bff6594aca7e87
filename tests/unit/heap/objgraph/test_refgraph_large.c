/* layer: heap tier: check
 *
 * A plugin's graph of a million nodes: what each retains is as known from its form. */
#include <time.h>

#include "heap/objgraph/refgraph.h"
#include "tests/support/property.h"

static double now(void)
{
	struct timespec at;
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &at);
	return (double)at.tv_sec + (double)at.tv_nsec / 1e9;
}

/* `edge` returns node i's k-th target, or SIZE_MAX. */
static struct xc_refgraph *large(const char *what, size_t count, size_t (*edge)(size_t i, unsigned k, size_t count))
{
	struct xc_refgraph *g = xc_refgraph_new(0);
	uint32_t kind = xc_refgraph_name(&g->kinds, "node");
	double begin = now();
	for (size_t i = 0; i < count; i++) {
		size_t j = i * 7919 % count, to; /* the order is not that of addresses */
		xc_refgraph_reserve(g, 1, 1, 8);
		xc_refgraph_node(g, 0x10000000 + j * 48, 40, kind);
		xc_refgraph_row(g, 0x10000000 + j * 48, false);
		for (unsigned k = 0; (to = edge(j, k, count)) != SIZE_MAX; k++)
			xc_refgraph_to(g, 0x10000000 + to * 48);
	}
	xc_refgraph_root(g, 0x10000000, xc_refgraph_name(&g->root_names, "root"));
	double told = now();
	xc_refgraph_finish(g);
	double finished = now();
	xc_refgraph_find_paths(g);
	double ways = now();
	xc_refgraph_retain(g);
	print_message(
		"# %s of %zu, %zu references: CPU: told %.2f s, finished %.2f, paths %.2f, retained %.2f; %.0f MB\n",
		what, g->count, g->edge_count, told - begin, finished - told, ways - finished, now() - ways,
		(double)xc_refgraph_bytes(g) / 1e6);
	assert_int_equal(g->count, count);
	assert_int_equal(g->strays, 0);
	return g;
}

static size_t list_edge(size_t i, unsigned k, size_t count)
{
	return k == 0 && i + 1 < count ? i + 1 : k <= 1 && i > 0 ? i - 1 : SIZE_MAX;
}

static size_t tree_edge(size_t i, unsigned k, size_t count)
{
	return k < 2 && 2 * i + 1 + k < count ? 2 * i + 1 + k : SIZE_MAX;
}

static size_t random_edge(size_t i, unsigned k, size_t count)
{
	uint64_t x = (i * 2 + k + 1) * UINT64_C(0x9e3779b97f4a7c15);
	return k < 2 ? (x ^ x >> 29) % count : SIZE_MAX;
}

static size_t how_many(void)
{
	return UNDER_ASAN ? 200000 : (size_t)property_env("XC_NODES", 1000000);
}

static void each_node_of_a_long_list_retains_the_rest(void **state)
{
	(void)state;
	size_t count = how_many();
	struct xc_refgraph *g = large("list", count, list_edge);
	for (size_t i = 0; i < count; i++)
		assert_true(g->kept[i] == count - i && g->kept_bytes[i] == 40 * (count - i));
	assert_int_equal(g->reached, count);
	xc_refgraph_free(g);
}

static void each_node_of_a_tree_retains_its_subtree(void **state)
{
	(void)state;
	size_t count = how_many();
	struct xc_refgraph *g = large("tree", count, tree_edge);
	uint32_t *below = xc_alloc(count * sizeof *below);
	for (size_t i = count; i-- > 0;) {
		below[i]++;
		assert_int_equal(g->kept[i], below[i]);
		if (i)
			below[(i - 1) / 2] += below[i];
	}
	free(below);
	xc_refgraph_free(g);
}

static void a_large_random_graph_adds_up(void **state)
{
	(void)state;
	struct xc_refgraph *g = large("random graph", how_many(), random_edge);
	struct xc_refgraph_kind kind = {0};
	xc_refgraph_by_kind(g, &kind);
	assert_int_equal(g->reached, g->kept[0]);
	assert_int_equal(kind.retained, g->kept_bytes[0]);
	assert_int_equal(kind.unreached, g->count - g->reached);
	xc_refgraph_free(g);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_node_of_a_long_list_retains_the_rest),
		cmocka_unit_test(each_node_of_a_tree_retains_its_subtree),
		cmocka_unit_test(a_large_random_graph_adds_up),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
