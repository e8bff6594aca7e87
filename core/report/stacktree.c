/* stacktree: a trie of names. While building, one hash table over (parent, name) finds the child, so that a node with
 * a hundred thousand children costs no more than one with two; after that only the linked nodes remain.
 * Stacks of a broken process can be very deep: nothing here recurses. */
#include "core/report/stacktree.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

/* Of a longer name, an entry of the table costs less than a second copy. */
enum { LONG_NAME = 96 };

void xc_stacktree_init(struct xc_stacktree *tree, const char *title, const char *unit)
{
	*tree = (struct xc_stacktree){0};
	tree->title = xc_arena_strdup(&tree->arena, title);
	tree->unit = xc_arena_strdup(&tree->arena, unit);
	tree->root.name = "all";
	tree->building = true;
}

void xc_stacktree_fini(struct xc_stacktree *tree)
{
	xc_hashtable_fini(&tree->index);
	xc_intern_fini(&tree->long_names);
	xc_arena_fini(&tree->arena);
}

static const char *keep_name(struct xc_stacktree *tree, const char *name)
{
	if (strlen(name) < LONG_NAME)
		return xc_arena_strdup(&tree->arena, name);
	const uint32_t number = xc_intern(&tree->long_names, name);
	return tree->long_names.texts[number];
}

static struct xc_stacktree_node *child_of(struct xc_stacktree *tree, struct xc_stacktree_node *parent, const char *name)
{
	const uint64_t hash = xc_hash_bytes((uintptr_t)parent, name, strlen(name));
	struct xc_stacktree_node *node;
	uint64_t number = 0;
	union xc_hashtable_value *slot;
	while ((node = (slot = xc_hashtable_at(&tree->index, NULL, hash, number))->pointer)) {
		if (node->parent == parent && !strcmp(node->name, name))
			return node;
		number++;
	}
	slot->pointer = node = xc_arena_alloc(&tree->arena, sizeof *node);
	node->name = keep_name(tree, name);
	node->parent = parent;
	node->next = parent->children;
	parent->children = node;
	tree->node_count++;
	return node;
}

static void add_weight(uint64_t *sum, uint64_t weight)
{
	if (__builtin_add_overflow(*sum, weight, sum))
		*sum = UINT64_MAX;
}

void xc_stacktree_add(struct xc_stacktree *tree, const char *const *names, size_t count, uint64_t weight)
{
	assert(tree->building);
	struct xc_stacktree_node *node = &tree->root;
	uint64_t above = tree->grown ? 0 : weight; /* finish computes totals */
	for (size_t i = 0; i < count; i++) {
		add_weight(&node->total, above);
		node = child_of(tree, node, names[i] ? names[i] : "??");
	}
	add_weight(&node->total, weight);
	add_weight(&node->self, weight);
}

/* finish will compute the totals: remove those so far. */
static void begin_growing(struct xc_stacktree *tree)
{
	struct xc_stacktree_node *node = &tree->root;
	size_t depth = 0;
	if (tree->grown)
		return;
	tree->grown = true;
	for (; node; node = (struct xc_stacktree_node *)(uintptr_t)xc_stacktree_next(node, &depth))
		node->total = node->self;
}

struct xc_stacktree_node *xc_stacktree_grow(struct xc_stacktree *tree, struct xc_stacktree_node *parent,
					    const char *name, uint64_t weight)
{
	assert(tree->building);
	begin_growing(tree);
	struct xc_stacktree_node *node = name ? child_of(tree, parent, name) : parent;
	add_weight(&node->self, weight);
	add_weight(&node->total, weight);
	return node;
}

void xc_stacktree_put(struct xc_stacktree_node *node, uint64_t weight)
{
	add_weight(&node->self, weight);
	add_weight(&node->total, weight);
	add_weight(&node->items, 1);
}

void xc_stacktree_add_other(struct xc_stacktree *tree, struct xc_stacktree_node *node, uint64_t weight)
{
	assert(tree->building);
	begin_growing(tree);
	tree->compares = true;
	add_weight(&node->other, weight);
	add_weight(&node->others, weight);
}

static int by_name(const void *a, const void *b)
{
	const struct xc_stacktree_node *const *left = a, *const *right = b;
	return strcmp((*left)->name, (*right)->name);
}

static void sort_children(struct xc_stacktree_node *parent)
{
	size_t count = 0;
	for (struct xc_stacktree_node *child = parent->children; child; child = child->next)
		count++;
	if (count < 2)
		return;
	xc_auto(xc_freep) struct xc_stacktree_node **sorted = xc_alloc(count * sizeof *sorted);
	size_t n = 0;
	for (struct xc_stacktree_node *child = parent->children; child; child = child->next)
		sorted[n++] = child;
	qsort(sorted, count, sizeof *sorted, by_name);
	for (size_t i = 0; i < count; i++)
		sorted[i]->next = i + 1 < count ? sorted[i + 1] : NULL;
	parent->children = sorted[0];
}

static void add_to_parent(const struct xc_stacktree_node *node)
{
	add_weight(&node->parent->total, node->total);
	add_weight(&node->parent->items, node->items);
	add_weight(&node->parent->others, node->others);
}

/* Add each node's totals to its parent's, after those of its children. */
static void sum_up(struct xc_stacktree *tree)
{
	struct xc_stacktree_node *node = &tree->root;
	for (;;) {
		while (node->children)
			node = node->children;
		while (!node->next && node->parent) {
			add_to_parent(node);
			node = node->parent;
		}
		if (!node->parent)
			return;
		add_to_parent(node);
		node = node->next;
	}
}

void xc_stacktree_finish(struct xc_stacktree *tree)
{
	xc_hashtable_fini(&tree->index);
	tree->building = false;
	if (tree->grown)
		sum_up(tree);
	/* A node is sorted before the walk goes into it, so the walk sees each child list in its final order. */
	size_t depth = 0;
	sort_children(&tree->root);
	const struct xc_stacktree_node *node = &tree->root;
	while ((node = xc_stacktree_next(node, &depth)))
		sort_children((struct xc_stacktree_node *)(uintptr_t)node);
}

const struct xc_stacktree_node *xc_stacktree_next(const struct xc_stacktree_node *node, size_t *depth)
{
	if (node->children) {
		++*depth;
		return node->children;
	}
	/* The root has neither parent nor sibling, so the ascent ends there. */
	while (node && !node->next) {
		node = node->parent;
		if (*depth)
			--*depth;
	}
	return node ? node->next : NULL;
}
