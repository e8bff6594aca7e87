/* graph_disguised: a word is tried only if it is no plain address: its upper 17 bits are neither all clear nor all set.
 * Its lower 48 bits, and its upper 48, are looked up as addresses; the three lowest bits of either may be a tag, too.
 * Only a hit on a block's first byte counts: of random words one in millions. */
#include <stdlib.h>
#include <string.h>

#include "core/base/parallel.h"
#include "heap/blocks/scan.h"
#include "heap/graph/graph_impl.h"

enum {
	PIECE = 1 << 16, /* blocks */
	CHUNK = 1 << 20, /* bytes of a scattered block or a range */
	MOST = 1 << 24,  /* of a piece */
};

/* A place is what the words that are scanned belong to. */
struct place {
	uint32_t block;                    /* or XC_NO_BLOCK: */
	const struct xc_root_range *range; /* the words are in it */
	xc_addr at;                        /* of the words */
};

struct piece {
	struct xc_graph_edge *edges;
	size_t edge_count, edge_capacity;
	struct xc_root *roots;
	size_t root_count, root_capacity;
};

struct search {
	const struct xc_graph *graph;
	struct piece *pieces; /* of blocks, and one for each range */
	size_t block_pieces, count;
};

static void add(struct piece *p, const struct place *place, size_t word, uint32_t block)
{
	if (p->edge_count + p->root_count >= MOST || place->block == block)
		return;
	if (place->block != XC_NO_BLOCK) {
		p->edges = xc_grow(p->edges, p->edge_count, &p->edge_capacity, sizeof *p->edges);
		p->edges[p->edge_count++] = (struct xc_graph_edge){place->block, block | XC_EDGE_INTERIOR};
		return;
	}
	p->roots = xc_grow(p->roots, p->root_count, &p->root_capacity, sizeof *p->roots);
	p->roots[p->root_count++] = (struct xc_root){.at = place->at + word * sizeof(uint64_t),
						     .block = block,
						     .owner = place->range->owner,
						     .kind = place->range->kind,
						     .interior = true};
}

static void take_hits(const struct search *s, struct piece *p, const struct place *place, struct xc_scan *scan)
{
	scan->resolve(scan);
	for (size_t i = 0; i < scan->count; i++)
		if (scan->hits[i] != XC_NO_BLOCK && !(scan->hits[i] & XC_SCAN_INTERIOR) &&
		    xc_graph_leaked(s->graph, scan->hits[i]))
			add(p, place, scan->tags[i], scan->hits[i]);
	scan->count = 0;
}

static void look_up(const struct search *s, struct piece *p, const struct place *place, struct xc_scan *scan,
		    uint64_t value, size_t word)
{
	if (value - scan->lo > scan->span)
		return;
	scan->values[scan->count] = value;
	scan->tags[scan->count++] = (uint32_t)word;
	if (xc_scan_is_full(scan))
		take_hits(s, p, place, scan);
}

static void scan_words(const struct search *s, struct piece *p, const struct place *place, struct xc_scan *scan,
		       const uint8_t *bytes, uint64_t len)
{
	const size_t words = (size_t)(len / sizeof(uint64_t));
	for (size_t i = 0; i < words; i++) {
		uint64_t word;
		xc_addr found[2];
		memcpy(&word, bytes + i * sizeof word, sizeof word);
		if (!xc_disguised_addresses(word, found))
			continue;
		look_up(s, p, place, scan, found[0], i);
		look_up(s, p, place, scan, found[1], i);
	}
	take_hits(s, p, place, scan);
}

/* All stored words from place.at to hi. */
static void scan_place(const struct search *s, struct piece *p, struct place place, xc_addr hi, struct xc_scan *scan,
		       struct xc_window *window)
{
	const uint8_t *bytes;
	uint64_t got;
	for (xc_addr at = place.at; xc_scan_next(window, &at, hi, CHUNK, false, &bytes, &got); at += got) {
		const uint64_t skip = -at & (sizeof(uint64_t) - 1);
		place.at = at + skip;
		if (got > skip)
			scan_words(s, p, &place, scan, bytes + skip, got - skip);
		if (hi - at < got)
			return;
	}
}

static void scan_blocks(const struct search *s, struct piece *p, size_t first, struct xc_scan *scan,
			struct xc_window *window)
{
	const struct xc_blocks *blocks = &s->graph->heap->blocks;
	const size_t end = first + PIECE < blocks->count ? first + PIECE : blocks->count;
	for (uint32_t i = (uint32_t)first; i < end; i++) {
		const uint64_t size = xc_block_size(blocks, i);
		const struct place place = {.block = i, .at = xc_block_addr(blocks, i)};
		if (!xc_scan_has_edges(blocks->heads[i]) || size < sizeof(uint64_t))
			continue;
		const uint8_t *bytes = size <= CHUNK ? xc_window(window, place.at, size) : NULL;
		if (bytes)
			scan_words(s, p, &place, scan, bytes, size);
		else
			scan_place(s, p, place, place.at + (size - 1), scan, window);
	}
}

static void scan_piece(void *context, size_t number, unsigned worker)
{
	const struct search *s = context;
	const struct xc_root_range *ranges = s->graph->ranges.items;
	struct xc_window window;
	struct xc_scan scan;
	(void)worker;
	xc_window_init(&window, s->graph->heap->process->space);
	xc_scan_init(&scan, s->graph->heap);
	if (number < s->block_pieces) {
		scan_blocks(s, &s->pieces[number], number * PIECE, &scan, &window);
	} else {
		const struct xc_root_range *range = &ranges[number - s->block_pieces];
		const struct place place = {.block = XC_NO_BLOCK, .range = range, .at = range->lo};
		scan_place(s, &s->pieces[number], place, range->hi, &scan, &window);
	}
	xc_window_fini(&window);
}

static struct xc_error *take_pieces(struct xc_graph *graph, const struct search *s, size_t *count_out)
{
	size_t edge_count = 0, root_count = 0;
	for (size_t i = 0; i < s->count; i++) {
		edge_count += s->pieces[i].edge_count;
		root_count += s->pieces[i].root_count;
	}
	*count_out = edge_count + root_count;
	xc_auto(xc_freep) struct xc_graph_edge *edges = xc_alloc((edge_count + 1) * sizeof *edges);
	graph->roots = xc_realloc(graph->roots, (graph->root_count + root_count + 1) * sizeof *graph->roots);
	edge_count = 0;
	for (size_t i = 0; i < s->count; i++) {
		const struct piece *p = &s->pieces[i];
		if (p->edge_count)
			memcpy(edges + edge_count, p->edges, p->edge_count * sizeof *edges);
		if (p->root_count)
			memcpy(graph->roots + graph->root_count, p->roots, p->root_count * sizeof *p->roots);
		edge_count += p->edge_count;
		graph->root_count += p->root_count;
	}
	if (root_count)
		xc_graph_sort_roots(graph);
	return xc_graph_merge(graph, edges, edge_count);
}

static bool seeks_any(const struct xc_graph *graph)
{
	const struct xc_arch *arch = graph->heap->process->arch;
	if (arch->word != sizeof(uint64_t) || arch->big_endian != xc_arch_host()->big_endian)
		return false;
	for (uint32_t i = 0; i < graph->heap->blocks.count; i++)
		if (xc_graph_leaked(graph, i))
			return true;
	return false;
}

struct xc_error *xc_graph_find_disguised(struct xc_graph *graph, size_t *count_out)
{
	*count_out = 0;
	if (!seeks_any(graph))
		return NULL;
	struct search s = {.graph = graph, .block_pieces = (graph->heap->blocks.count + PIECE - 1) / PIECE};
	s.count = s.block_pieces + graph->ranges.count;
	s.pieces = xc_alloc((s.count + 1) * sizeof *s.pieces);
	xc_parallel(graph->heap->jobs, s.count, scan_piece, &s);
	struct xc_error *err = take_pieces(graph, &s, count_out);
	for (size_t i = 0; i < s.count; i++) {
		free(s.pieces[i].edges);
		free(s.pieces[i].roots);
	}
	free(s.pieces);
	return err;
}
