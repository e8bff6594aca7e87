#include <stdlib.h>
#include <string.h>

#include "core/base/text.h"
#include "profile/view/profile_view_impl.h"

struct end {
	const struct xc_stacktree_node *node;
	size_t order; /* in the tree */
};

static int by_self(const void *a, const void *b)
{
	const struct end *x = a, *y = b;
	if (x->node->self != y->node->self)
		return x->node->self < y->node->self ? 1 : -1;
	return x->order < y->order ? -1 : x->order > y->order;
}

/* The nodes in which stacks end, those with most samples first. Malloc'ed. */
static struct end *hottest_stacks(const struct xc_stacktree *tree, size_t *count_out)
{
	struct end *ends = xc_alloc((tree->node_count + 1) * sizeof *ends);
	size_t depth = 0, count = 0;
	for (const struct xc_stacktree_node *node = &tree->root; node; node = xc_stacktree_next(node, &depth))
		if (node->self) {
			ends[count] = (struct end){node, count};
			count++;
		}
	qsort(ends, count, sizeof *ends, by_self);
	*count_out = count;
	return ends;
}

/* "main → run → visit (50 times) → spin", outermost first. Of a long path the outermost and innermost names. */
static char *path_text(const struct xc_stacktree_node *node)
{
	enum { INNER = 16, OUTER = 8 };
	const struct xc_stacktree_node **path = NULL;
	size_t count = 0, capacity = 0;
	struct xc_text text = {0};
	for (; node->parent; node = node->parent) {
		path = xc_grow(path, count, &capacity, sizeof *path);
		path[count++] = node;
	}
	for (size_t i = count, shown = 0, times; i > 0; i -= times, shown++) {
		for (times = 1; times < i && !strcmp(path[i - 1 - times]->name, path[i - 1]->name); times++)
			;
		if (shown == OUTER && i > INNER) {
			xc_text_printf(&text, " → … %zu more", i - INNER);
			times = i - INNER;
			continue;
		}
		xc_text_printf(&text, "%s%s", shown ? " → " : "", path[i - 1]->name);
		if (times > 1)
			xc_text_printf(&text, " (%zu times)", times);
	}
	free(path);
	return text.bytes;
}

void xc_profile_stacks(struct xc_report *report, const struct xc_stacktree *tree, size_t rows)
{
	static const struct xc_column columns[] = {
		{.key = "share", .label = "share", .kind = XC_FIELD_RATIO},
		{.key = "samples", .label = "samples", .kind = XC_FIELD_COUNT, .verbose = true},
		{.key = "stack", .label = "stack, outermost function first", .kind = XC_FIELD_TEXT},
	};
	struct xc_section *s = xc_report_section(report, "stacks", "Hottest stacks");
	struct xc_table *table = xc_section_table(s, "stacks", columns, XC_COUNT(columns));
	size_t count;
	xc_auto(xc_freep) struct end *ends = hottest_stacks(tree, &count);
	for (size_t i = 0; i < count && i < rows; i++) {
		xc_auto(xc_freep) char *path = path_text(ends[i].node);
		const struct xc_cell cells[] = {xc_cell_ratio(xc_profile_share(ends[i].node->self, tree->root.total)),
						xc_cell_count(ends[i].node->self), xc_cell_text(path)};
		xc_table_row(s, table, cells);
	}
	xc_profile_more(s, count, rows, "stack");
}
