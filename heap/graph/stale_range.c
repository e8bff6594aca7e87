/* Edges have no addresses, so the blocks with ranges are read again up to their last one: the hits are counted as they
 * were when the rows were made. */
#include "heap/graph/stale_range.h"

#include <inttypes.h>
#include <stdlib.h>

#include "heap/blocks/scan.h"
#include "heap/graph/graph_impl.h"

enum { MOST_WORDS = 1 << 24, CHUNK = 1 << 16 };

/* ---- the heap's ranges ---- */

static int range_order(const void *a, const void *b)
{
	const struct xc_stale_range *x = a, *y = b;
	if (x->lo != y->lo)
		return x->lo < y->lo ? -1 : 1;
	return x->hi < y->hi ? -1 : x->hi > y->hi;
}

/* Several vectors may claim the room of one block, old copies among them: the one with most elements counts. */
static size_t drop_shorter(struct xc_stale_range *ranges, size_t count)
{
	size_t kept = 0;
	for (size_t i = 0; i < count; i++) {
		while (kept && ranges[kept - 1].hi == ranges[i].hi && ranges[kept - 1].kind == XC_STALE_ROOM &&
		       ranges[i].kind == XC_STALE_ROOM)
			kept--;
		ranges[kept++] = ranges[i];
	}
	return kept;
}

void xc_stale_ranges_set(struct xc_heap *heap, struct xc_stale_range *ranges, size_t count)
{
	if (count)
		qsort(ranges, count, sizeof *ranges, range_order);
	heap->stale_ranges = xc_alloc(sizeof *heap->stale_ranges);
	*heap->stale_ranges = (struct xc_stale_ranges){.items = ranges, .count = drop_shorter(ranges, count)};
	if (heap->graph)
		xc_graph_search_again(heap->graph);
}

void xc_stale_ranges_free(struct xc_stale_ranges *ranges)
{
	if (ranges)
		free(ranges->items);
	free(ranges);
}

/* ---- words ---- */

struct finder {
	struct xc_graph *graph;
	size_t capacity;
	struct xc_window window;
	struct xc_scan scan;
};

/* Adds a word, and the bit of its block or root; *bits are made if it is the first of `count`. */
static void add_word(struct finder *f, const struct xc_stale_word *word, uint64_t **bits, size_t count, uint32_t bit)
{
	struct xc_graph *graph = f->graph;
	if (graph->word_count >= MOST_WORDS)
		return;
	if (!*bits)
		*bits = xc_graph_bits(count);
	xc_graph_set_bit(*bits, bit);
	graph->words = xc_grow(graph->words, graph->word_count, &f->capacity, sizeof *graph->words);
	graph->words[graph->word_count++] = *word;
}

/* The first range that does not end before an address. */
static size_t range_from(const struct xc_stale_ranges *ranges, xc_addr at)
{
	return XC_LOWER_BOUND(ranges->count, i, ranges->items[i].hi < at);
}

static bool is_within(const struct xc_stale_ranges *ranges, size_t number, xc_addr at)
{
	return number < ranges->count && ranges->items[number].lo <= at && at <= ranges->items[number].hi;
}

bool xc_stale_ranges_have(const struct xc_heap *heap, xc_addr at)
{
	return heap->stale_ranges && is_within(heap->stale_ranges, range_from(heap->stale_ranges, at), at);
}

/* Ranges of a block, from the first one on. */
struct run {
	uint32_t block, edge; /* the next edge of its row */
	size_t first, end;
};

static void take_hits(struct finder *f, struct run *run, xc_addr base)
{
	const struct xc_stale_ranges *ranges = f->graph->heap->stale_ranges;
	struct xc_scan *scan = &f->scan;
	scan->resolve(scan);
	for (size_t i = 0; i < scan->count; i++) {
		uint32_t hit = scan->hits[i];
		xc_addr at = base + (uint64_t)scan->tags[i] * scan->word;
		if (hit == XC_NO_BLOCK || (hit & ~XC_SCAN_INTERIOR) == run->block)
			continue;
		while (run->first < run->end && ranges->items[run->first].hi < at)
			run->first++;
		if (run->first < run->end && is_within(ranges, run->first, at))
			add_word(f,
				 &(struct xc_stale_word){.at = at,
							 .block = hit & ~XC_SCAN_INTERIOR,
							 .edge = run->edge,
							 .range = (uint32_t)run->first},
				 &f->graph->wordy, f->graph->heap->blocks.count, run->block);
		run->edge++;
	}
	scan->count = 0;
}

/* A block that cannot be read as a whole keeps all of its pointers. */
static void look_at_block(struct finder *f, struct run *run)
{
	const struct xc_heap *heap = f->graph->heap;
	xc_addr lo = xc_block_addr(&heap->blocks, run->block), hi = lo;
	unsigned word = heap->process->arch->word;
	for (size_t i = run->first; i < run->end; i++)
		hi = heap->stale_ranges->items[i].hi > hi ? heap->stale_ranges->items[i].hi : hi;
	uint64_t size = xc_block_size(&heap->blocks, run->block), len = hi - lo < size ? hi - lo + 1 : size;
	run->edge = f->graph->start[run->block];
	for (uint64_t at = 0; at + word <= len; at += CHUNK) {
		uint64_t part = len - at < CHUNK ? len - at : CHUNK;
		const uint8_t *bytes = xc_window(&f->window, lo + at, part);
		size_t words = (size_t)(part / word), done = 0;
		if (!bytes)
			return;
		while (done < words) {
			done += xc_scan_collect(&f->scan, bytes + done * word, words - done, (uint32_t)done, 1);
			take_hits(f, run, lo + at);
		}
	}
}

static void look_at_blocks(struct finder *f)
{
	const struct xc_heap *heap = f->graph->heap;
	const struct xc_stale_ranges *ranges = heap->stale_ranges;
	for (size_t i = 0, end; i < ranges->count; i = end) {
		struct run run = {.block = xc_blocks_find(&heap->blocks, ranges->items[i].lo), .first = i};
		for (end = i + 1; end < ranges->count && run.block != XC_NO_BLOCK &&
				  xc_blocks_find(&heap->blocks, ranges->items[end].lo) == run.block;
		     end++)
			;
		run.end = end;
		if (run.block != XC_NO_BLOCK && xc_scan_has_edges(heap->blocks.heads[run.block]))
			look_at_block(f, &run);
	}
}

static void look_at_roots(struct finder *f, uint64_t **roots)
{
	const struct xc_stale_ranges *ranges = f->graph->heap->stale_ranges;
	for (size_t i = 0; i < f->graph->root_count && i < UINT32_MAX; i++) {
		const struct xc_root *root = &f->graph->roots[i];
		size_t number = root->kind == XC_ROOT_REGISTER ? ranges->count : range_from(ranges, root->at);
		if (is_within(ranges, number, root->at))
			add_word(f,
				 &(struct xc_stale_word){.at = root->at,
							 .block = root->block,
							 .edge = UINT32_MAX,
							 .range = (uint32_t)number},
				 roots, f->graph->root_count, (uint32_t)i);
	}
}

uint64_t *xc_graph_find_stale_words(struct xc_graph *graph)
{
	struct finder f = {.graph = graph};
	uint64_t *roots = NULL;
	if (!graph->heap->stale_ranges)
		return NULL;
	xc_window_init(&f.window, graph->heap->process->space);
	xc_scan_init(&f.scan, graph->heap);
	look_at_blocks(&f);
	graph->edge_word_count = graph->word_count;
	look_at_roots(&f, &roots);
	xc_window_fini(&f.window);
	return roots;
}

bool xc_graph_is_stale_edge(const struct xc_graph *graph, uint32_t edge)
{
	size_t lo = XC_LOWER_BOUND(graph->edge_word_count, i, graph->words[i].edge < edge);
	return lo < graph->edge_word_count && graph->words[lo].edge == edge;
}

static int word_order(const void *a, const void *b)
{
	const struct xc_stale_word *x = a, *y = b;
	if (x->block != y->block)
		return x->block < y->block ? -1 : 1;
	return x->at < y->at ? -1 : x->at > y->at;
}

void xc_graph_sort_stale_words(struct xc_graph *graph)
{
	if (graph->word_count)
		qsort(graph->words, graph->word_count, sizeof *graph->words, word_order);
}

bool xc_graph_stale_word_text(const struct xc_graph *graph, uint32_t block, struct xc_text *text)
{
	size_t lo = XC_LOWER_BOUND(graph->word_count, i, graph->words[i].block < block);
	if (lo >= graph->word_count || graph->words[lo].block != block)
		return false;
	const struct xc_stale_range *range = &graph->heap->stale_ranges->items[graph->words[lo].range];
	static const char *const where[] = {[XC_STALE_ROOM] = "outside of the elements of",
					    [XC_STALE_BUCKET] = "an empty bucket of",
					    [XC_STALE_END] = "the end of what comes before it, of"};
	xc_text_printf(text, "only 0x%" PRIx64 " leads to it, %s ", graph->words[lo].at, where[range->kind]);
	if (range->in_block)
		xc_text_add(text, range->kind == XC_STALE_BUCKET ? "a table in " : "a container in ");
	xc_text_add(text, range->name ? "`" : "a block");
	xc_text_name(text, range->name ? range->name : "");
	xc_text_add(text, range->name ? "`" : "");
	return true;
}
