/* stacktree: a trie of names. While building, one hash table over (parent, name) finds the child, so that a node with
 * a hundred thousand children costs no more than one with two; after that only the linked nodes remain.
 * Stacks of a broken process can be very deep: nothing here recurses. */
#include "core/report/stacktree.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

struct table { /* open addressing, at most half full */
	struct xc_stacktree_node **slots;
	size_t capacity, count;
};

static size_t hash_of(const struct xc_stacktree_node *parent, const char *name)
{
	uint64_t hash = (uint64_t)(uintptr_t)parent * UINT64_C(0x9e3779b97f4a7c15);
	for (const unsigned char *p = (const unsigned char *)name; *p; p++)
		hash = (hash ^ *p) * UINT64_C(0x100000001b3);
	return (size_t)(hash ^ hash >> 29);
}

/* The slot of (parent, name), or the empty slot for it. */
static struct xc_stacktree_node **find_slot(struct table *table, const struct xc_stacktree_node *parent,
					    const char *name)
{
	size_t mask = table->capacity - 1;
	for (size_t i = hash_of(parent, name) & mask;; i = (i + 1) & mask) {
		struct xc_stacktree_node *node = table->slots[i];
		if (!node || (node->parent == parent && !strcmp(node->name, name)))
			return &table->slots[i];
	}
}

static void grow(struct table *table)
{
	struct table larger = {.capacity = table->capacity * 2, .count = table->count};
	larger.slots = xc_alloc(larger.capacity * sizeof *larger.slots);
	for (size_t i = 0; i < table->capacity; i++)
		if (table->slots[i])
			*find_slot(&larger, table->slots[i]->parent, table->slots[i]->name) = table->slots[i];
	free(table->slots);
	*table = larger;
}

void xc_stacktree_init(struct xc_stacktree *tree, const char *title, const char *unit)
{
	*tree = (struct xc_stacktree){0};
	tree->title = xc_arena_strdup(&tree->arena, title);
	tree->unit = xc_arena_strdup(&tree->arena, unit);
	tree->root.name = "all";
	struct table *table = xc_alloc(sizeof *table);
	table->capacity = 256;
	table->slots = xc_alloc(table->capacity * sizeof *table->slots);
	tree->index = table;
}

static void drop_index(struct xc_stacktree *tree)
{
	struct table *table = tree->index;
	if (table)
		free(table->slots);
	free(table);
	tree->index = NULL;
}

void xc_stacktree_fini(struct xc_stacktree *tree)
{
	drop_index(tree);
	xc_arena_fini(&tree->arena);
}

static struct xc_stacktree_node *child_of(struct xc_stacktree *tree, struct xc_stacktree_node *parent, const char *name)
{
	struct table *table = tree->index;
	if (table->count >= table->capacity / 2)
		grow(table);
	struct xc_stacktree_node **slot = find_slot(table, parent, name);
	if (*slot)
		return *slot;
	struct xc_stacktree_node *node = xc_arena_alloc(&tree->arena, sizeof *node);
	node->name = xc_arena_strdup(&tree->arena, name);
	node->parent = parent;
	node->next = parent->children;
	parent->children = node;
	table->count++;
	tree->node_count++;
	return *slot = node;
}

static void add_weight(uint64_t *sum, uint64_t weight)
{
	if (__builtin_add_overflow(*sum, weight, sum))
		*sum = UINT64_MAX;
}

void xc_stacktree_add(struct xc_stacktree *tree, const char *const *names, size_t count, uint64_t weight)
{
	assert(tree->index);
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
	assert(tree->index);
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
	drop_index(tree);
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
