/* layer: core */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "core/report/stacktree.h"

static void paths_are_merged_by_prefix(void **state)
{
	(void)state;
	const char *const abc[] = {"a", "b", "c"}, *const abd[] = {"a", "b", "d"}, *const b[] = {"b"};
	struct xc_stacktree tree;
	xc_stacktree_init(&tree, "t", "threads");
	xc_stacktree_add(&tree, abd, 3, 2);
	xc_stacktree_add(&tree, abc, 3, 5);
	xc_stacktree_add(&tree, abc, 3, 1);
	xc_stacktree_add(&tree, b, 1, 4);
	xc_stacktree_add(&tree, abc, 2, 10);
	xc_stacktree_finish(&tree);
	assert_int_equal(tree.root.total, 22);
	assert_int_equal(tree.root.self, 0);
	const struct xc_stacktree_node *a = tree.root.children;
	assert_string_equal(a->name, "a");
	assert_int_equal(a->total, 18);
	assert_string_equal(a->next->name, "b");
	assert_int_equal(a->next->self, 4);
	assert_null(a->next->next);
	const struct xc_stacktree_node *ab = a->children;
	assert_int_equal(ab->self, 10);
	assert_string_equal(ab->children->name, "c");
	assert_int_equal(ab->children->total, 6);
	assert_string_equal(ab->children->next->name, "d");
	assert_int_equal(tree.node_count, 5);
	xc_stacktree_fini(&tree);
}

static void next_walks_depth_first_and_counts_depth(void **state)
{
	(void)state;
	const char *const ab[] = {"a", "b"}, *const c[] = {"c"}, *const ad[] = {"a", "d"};
	struct xc_stacktree tree;
	xc_stacktree_init(&tree, "t", "threads");
	xc_stacktree_add(&tree, c, 1, 1);
	xc_stacktree_add(&tree, ad, 2, 1);
	xc_stacktree_add(&tree, ab, 2, 1);
	xc_stacktree_finish(&tree);
	char seen[64] = "";
	size_t depth = 0;
	for (const struct xc_stacktree_node *node = &tree.root; (node = xc_stacktree_next(node, &depth));)
		snprintf(seen + strlen(seen), sizeof seen - strlen(seen), "%s%zu ", node->name, depth);
	assert_string_equal(seen, "a1 b2 d2 c1 ");
	xc_stacktree_fini(&tree);
}

static void an_empty_tree_has_no_nodes(void **state)
{
	(void)state;
	struct xc_stacktree tree;
	size_t depth = 0;
	xc_stacktree_init(&tree, "t", "threads");
	xc_stacktree_finish(&tree);
	assert_null(xc_stacktree_next(&tree.root, &depth));
	xc_stacktree_fini(&tree);
}

static void a_path_of_200000_names_needs_no_recursion(void **state)
{
	(void)state;
	enum { DEEP = 200000 };
	const char **names = calloc(DEEP, sizeof *names);
	for (size_t i = 0; i < DEEP; i++)
		names[i] = i % 2 ? "odd" : "even";
	struct xc_stacktree tree;
	xc_stacktree_init(&tree, "t", "threads");
	xc_stacktree_add(&tree, names, DEEP, 1);
	xc_stacktree_finish(&tree);
	size_t depth = 0, deepest = 0;
	for (const struct xc_stacktree_node *node = &tree.root; (node = xc_stacktree_next(node, &depth));)
		deepest = depth > deepest ? depth : deepest;
	assert_int_equal(deepest, DEEP);
	xc_stacktree_fini(&tree);
	free(names);
}

static void many_children_are_found_and_sorted(void **state)
{
	(void)state;
	struct xc_stacktree tree;
	xc_stacktree_init(&tree, "t", "threads");
	for (unsigned round = 0; round < 2; round++) {
		for (unsigned i = 0; i < 20000; i++) {
			char name[16];
			snprintf(name, sizeof name, "f%05u", (i * 7919) % 20000);
			const char *const path[] = {name};
			xc_stacktree_add(&tree, path, 1, 1);
		}
	}
	xc_stacktree_finish(&tree);
	assert_int_equal(tree.node_count, 20000);
	for (const struct xc_stacktree_node *node = tree.root.children; node->next; node = node->next) {
		assert_true(strcmp(node->name, node->next->name) < 0);
		assert_int_equal(node->total, 2);
	}
	xc_stacktree_fini(&tree);
}

static void sums_stop_at_the_largest_number(void **state)
{
	(void)state;
	const char *const a[] = {"a"}, *const unknown[] = {NULL};
	struct xc_stacktree tree;
	xc_stacktree_init(&tree, "t", "bytes");
	xc_stacktree_add(&tree, a, 1, UINT64_MAX - 1);
	xc_stacktree_add(&tree, a, 1, 5);
	xc_stacktree_add(&tree, unknown, 1, 1);
	xc_stacktree_finish(&tree);
	assert_true(tree.root.total == UINT64_MAX);
	assert_string_equal(tree.root.children->name, "??");
	assert_true(tree.root.children->next->self == UINT64_MAX);
	xc_stacktree_fini(&tree);
}

static void paths_and_nodes_may_be_added_to_one_tree(void **state)
{
	(void)state;
	const char *const path[] = {"a", "b"}, *const other[] = {"a", "c"};
	struct xc_stacktree tree;
	xc_stacktree_init(&tree, "t", "bytes");
	xc_stacktree_add(&tree, path, 2, 3);
	struct xc_stacktree_node *a = xc_stacktree_grow(&tree, &tree.root, "a", 10);
	xc_stacktree_put(xc_stacktree_grow(&tree, a, "b", 0), 100);
	xc_stacktree_add(&tree, other, 2, 1000);
	xc_stacktree_finish(&tree);
	assert_int_equal(tree.root.total, 1113);
	assert_int_equal(a->total, 1113);
	assert_int_equal(a->self, 10);
	assert_int_equal(a->children->total, 103);
	assert_int_equal(a->children->next->total, 1000);
	xc_stacktree_fini(&tree);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(paths_are_merged_by_prefix),
		cmocka_unit_test(next_walks_depth_first_and_counts_depth),
		cmocka_unit_test(an_empty_tree_has_no_nodes),
		cmocka_unit_test(a_path_of_200000_names_needs_no_recursion),
		cmocka_unit_test(many_children_are_found_and_sorted),
		cmocka_unit_test(paths_and_nodes_may_be_added_to_one_tree),
		cmocka_unit_test(sums_stop_at_the_largest_number),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
