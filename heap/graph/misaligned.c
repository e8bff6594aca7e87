/* A root is named by the range that contains it; what lies in no range, as the dead part of a stack, holds nothing. */
#include "heap/graph/misaligned.h"

#include <stdlib.h>

#include "heap/graph/graph_impl.h"
#include "heap/graph/retention.h"

static int word_order(const void *a, const void *b)
{
	const struct xc_misaligned_word *x = a, *y = b;
	if (x->block != y->block)
		return x->block < y->block ? -1 : 1;
	return x->at < y->at ? -1 : x->at > y->at;
}

/* An object may be known by several names. */
static size_t drop_repeated(struct xc_misaligned_word *words, size_t count)
{
	size_t kept = 0;
	for (size_t i = 0; i < count; i++)
		if (kept == 0 || word_order(&words[kept - 1], &words[i]) != 0)
			words[kept++] = words[i];
	return kept;
}

/* ---- roots and edges ---- */

/* Words that follow each other are mostly in the same range. */
static const struct xc_root_range *range_of(const struct xc_graph *graph, xc_addr at, size_t *last)
{
	const struct xc_root_ranges *ranges = &graph->ranges;
	for (size_t i = 0; i <= ranges->count; i++) {
		size_t number = i == 0 ? *last : i - 1;
		if (number < ranges->count && ranges->items[number].lo <= at && at <= ranges->items[number].hi) {
			*last = number;
			return &ranges->items[number];
		}
	}
	return NULL;
}

static void add_roots(struct xc_graph *graph, const struct xc_misaligned *words)
{
	size_t last = 0;
	graph->roots = xc_realloc(graph->roots, (graph->root_count + words->count) * sizeof *graph->roots);
	for (size_t i = 0; i < words->count; i++) {
		const struct xc_misaligned_word *word = &words->items[i];
		const struct xc_root_range *range = word->from == XC_NO_BLOCK ? range_of(graph, word->at, &last) : NULL;
		if (range)
			graph->roots[graph->root_count++] = (struct xc_root){.at = word->at,
									     .block = word->block,
									     .owner = range->owner,
									     .kind = range->kind,
									     .interior = word->interior};
	}
	xc_graph_sort_roots(graph);
}

struct xc_error *xc_graph_take_misaligned(struct xc_graph *graph)
{
	const struct xc_misaligned *words = graph->heap->misaligned;
	size_t count = 0;
	if (!words)
		return NULL;
	struct xc_graph_edge *edges = xc_alloc((words->count + 1) * sizeof *edges);
	for (size_t i = 0; i < words->count; i++) {
		const struct xc_misaligned_word *word = &words->items[i];
		if (word->from != XC_NO_BLOCK && word->from != word->block)
			edges[count++] = (struct xc_graph_edge){word->from,
								word->block | (word->interior ? XC_EDGE_INTERIOR : 0)};
	}
	struct xc_error *err = xc_graph_merge(graph, edges, count);
	free(edges);
	if (!err)
		add_roots(graph, words);
	return err;
}

/* ---- the heap's words ---- */

struct xc_error *xc_misaligned_set(struct xc_heap *heap, struct xc_misaligned_word *words, size_t count)
{
	if (count)
		qsort(words, count, sizeof *words, word_order);
	heap->misaligned = xc_alloc(sizeof *heap->misaligned);
	*heap->misaligned = (struct xc_misaligned){.items = words, .count = drop_repeated(words, count)};
	if (!heap->graph)
		return NULL;
	struct xc_error *err = xc_graph_take_misaligned(heap->graph);
	if (err)
		return err;
	xc_graph_search_again(heap->graph);
	xc_retention_free(heap->retention);
	heap->retention = NULL;
	return NULL;
}

void xc_misaligned_free(struct xc_misaligned *misaligned)
{
	if (misaligned)
		free(misaligned->items);
	free(misaligned);
}

const struct xc_misaligned_word *xc_misaligned_to(const struct xc_heap *heap, uint32_t block, size_t *count_out)
{
	const struct xc_misaligned *words = heap->misaligned;
	*count_out = 0;
	size_t lo = XC_LOWER_BOUND(words ? words->count : 0, i, words->items[i].block < block);
	while (words && lo + *count_out < words->count && words->items[lo + *count_out].block == block)
		++*count_out;
	return *count_out ? &words->items[lo] : NULL;
}
