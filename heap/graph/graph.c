/* graph: pointers between blocks, and which blocks the roots reach: the others are leaked.
 *
 * Rows are made in one pass over the live blocks, which are divided into pieces of about equal bytes; a large block
 * may be in several pieces. Each piece has its own part of one reservation for edges, large enough for all its
 * words: address space, of which only written pages cost memory. Then the parts are moved together.
 *
 * The breadth-first searches from the roots run in parallel: one over all pointers, one over pointers to beginnings
 * only, and, if some pointers may be stale, one without those. */
#include "heap/graph/graph.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "core/base/parallel.h"
#include "heap/graph/claim.h"
#include "heap/graph/graph_impl.h"
#include "heap/graph/roots.h"
#include "heap/blocks/scan.h"

_Static_assert(XC_EDGE_INTERIOR == XC_SCAN_INTERIOR, "hits are edges");

#define MOST_EDGES UINT64_C(0xfffffffe)

enum {
	PIECE = 8 << 20, /* bytes of live blocks */
	AHEAD = 16,      /* nodes of a search that are prefetched */
};

/* ---- rows ---- */

/* A run of live bytes: from a block (at some offset) on. */
struct piece {
	uint32_t first;     /* block index */
	uint64_t from;      /* byte in it; not 0: the block began in an earlier piece */
	uint64_t bytes;     /* live bytes */
	uint64_t room;      /* edges: where its part of the reservation begins */
	uint64_t count;     /* edges found */
	uint64_t missing;   /* bytes that could not be read */
	uint32_t row, last; /* the next row to begin, and the end of the last one */
};

struct builder {
	const struct xc_heap *heap;
	struct piece *pieces;
	size_t piece_count, piece_capacity;
	uint64_t words; /* of all live blocks, and room for the borders of pieces */
	uint32_t *start, *to;
};

static struct piece *new_piece(struct builder *b, uint32_t first, uint64_t from)
{
	b->pieces = xc_grow(b->pieces, b->piece_count, &b->piece_capacity, sizeof *b->pieces);
	struct piece *piece = &b->pieces[b->piece_count++];
	*piece = (struct piece){.first = first, .from = from, .row = first + (from > 0), .room = b->words};
	return piece;
}

/* The readable bytes of a range. */
static uint64_t stored_bytes(const struct xc_space *space, xc_addr lo, xc_addr hi)
{
	uint64_t stored = 0;
	for (size_t i = 0; i < xc_space_count(space); i++) {
		const struct xc_segment *s = xc_space_at(space, i);
		xc_addr from = s->lo > lo ? s->lo : lo, to = s->hi < hi ? s->hi : hi;
		if (from <= to && (s->bytes || s->backing))
			stored += to - from + 1;
	}
	return stored;
}

/* A large block that is partly missing is one piece, regardless of its claimed size, with the room that its stored
 * bytes need. */
static bool take_alone(struct builder *b, struct piece **piece, uint32_t block)
{
	const struct xc_blocks *blocks = &b->heap->blocks;
	uint64_t size = xc_block_size(blocks, block), stored;
	xc_addr addr = xc_block_addr(blocks, block);
	if (size <= PIECE || (stored = stored_bytes(b->heap->process->space, addr, addr + (size - 1))) == size)
		return false;
	*piece = new_piece(b, block, 0);
	(*piece)->bytes = size;
	b->words += stored / b->heap->process->arch->word;
	*piece = new_piece(b, block + 1, 0);
	return true;
}

static void cut_pieces(struct builder *b)
{
	const struct xc_blocks *blocks = &b->heap->blocks;
	unsigned word = b->heap->process->arch->word;
	struct piece *piece = new_piece(b, 0, 0);
	for (uint32_t i = 0; i < blocks->count; i++) {
		if (!xc_scan_has_edges(blocks->heads[i]) || take_alone(b, &piece, i))
			continue;
		uint64_t size = xc_block_size(blocks, i), from = 0;
		while (size - from > PIECE - piece->bytes) {
			uint64_t part = (PIECE - piece->bytes) / 8 * 8;
			piece->bytes += part;
			b->words += part / word;
			from += part;
			piece = new_piece(b, i, from);
		}
		piece->bytes += size - from;
		b->words += (size - from) / word;
	}
	for (size_t i = 0; i + 1 < b->piece_count; i++)
		b->pieces[i].last = b->pieces[i + 1].row;
	piece->last = (uint32_t)blocks->count;
}

/* Edges of the batch, and the rows that begin up to its last one. */
static void take_hits(struct builder *b, struct piece *piece, struct xc_scan *scan)
{
	uint32_t *to = b->to + piece->room, row = piece->row;
	uint64_t count = piece->count;
	scan->resolve(scan);
	for (size_t i = 0; i < scan->count; i++) {
		uint32_t hit = scan->hits[i], source = scan->tags[i];
		if (hit == XC_NO_BLOCK || (hit & ~XC_SCAN_INTERIOR) == source)
			continue;
		while (row <= source)
			b->start[row++] = (uint32_t)count;
		to[count++] = hit;
	}
	scan->count = 0;
	piece->row = row;
	piece->count = count;
}

static void scan_words(struct builder *b, struct piece *piece, struct xc_scan *scan, uint32_t block,
		       const uint8_t *bytes, uint64_t len)
{
	size_t words = (size_t)(len / scan->word), done = 0;
	for (;;) {
		done += xc_scan_collect(scan, bytes + done * scan->word, words - done, block, 0);
		if (done == words)
			return;
		take_hits(b, piece, scan);
	}
}

/* A block, or a part of one, that is not in one readable piece. */
static void scan_scattered(struct builder *b, struct piece *piece, struct xc_scan *scan, struct xc_window *window,
			   uint32_t block, xc_addr at, uint64_t len)
{
	xc_addr hi = at + len - 1;
	const uint8_t *bytes;
	uint64_t got, seen = 0;
	while (xc_scan_next(window, &at, hi, len, false, &bytes, &got)) {
		uint64_t skip = (8 - at % 8) % 8;
		if (got > skip)
			scan_words(b, piece, scan, block, bytes + skip, got - skip);
		seen += got;
		if (hi - at < got)
			break;
		at += got;
	}
	piece->missing += len - seen;
}

static void scan_block(struct builder *b, struct piece *piece, struct xc_scan *scan, struct xc_window *window,
		       uint32_t block, xc_addr at, uint64_t len)
{
	const uint8_t *bytes = xc_window(window, at, len);
	if (bytes)
		scan_words(b, piece, scan, block, bytes, len);
	else
		scan_scattered(b, piece, scan, window, block, at, len);
}

static void scan_piece(void *context, size_t number, unsigned worker)
{
	struct builder *b = context;
	struct piece *piece = &b->pieces[number];
	const struct xc_blocks *blocks = &b->heap->blocks;
	struct xc_window window;
	struct xc_scan scan;
	uint64_t left = piece->bytes, from = piece->from;
	(void)worker;
	xc_window_init(&window, b->heap->process->space);
	xc_scan_init(&scan, b->heap);
	for (uint32_t i = piece->first; left && i < blocks->count; i++, from = 0) {
		if (!xc_scan_has_edges(blocks->heads[i]))
			continue;
		uint64_t size = xc_block_size(blocks, i) - from, len = size < left ? size : left;
		if (len)
			scan_block(b, piece, &scan, &window, i, xc_block_addr(blocks, i) + from, len);
		left -= len;
	}
	take_hits(b, piece, &scan);
	while (piece->row < piece->last)
		b->start[piece->row++] = (uint32_t)piece->count;
	xc_window_fini(&window);
}

/* Returns whole pages in [to, from) of the reservation, from which the edges were moved away. */
static void drop(uint32_t *edges, uint64_t from, uint64_t end)
{
	const uint64_t page = 4096 / sizeof *edges;
	from = (from + page - 1) / page * page;
	end = end / page * page;
	if (from < end)
		(void)madvise(edges + from, (end - from) * sizeof *edges, MADV_DONTNEED);
}

/* Rows began at 0 in each piece. */
static void shift_rows(void *context, size_t number, unsigned worker)
{
	struct builder *b = context;
	const struct piece *piece = &b->pieces[number];
	(void)worker;
	for (uint32_t row = piece->first + (piece->from > 0); row < piece->last; row++)
		b->start[row] += (uint32_t)piece->room;
}

/* Moves the pieces' edges together; afterwards `room` is where they begin. Returns their number. */
static uint64_t move_together(struct builder *b)
{
	uint64_t at = 0, dropped = 0;
	for (size_t i = 0; i < b->piece_count; i++) {
		struct piece *piece = &b->pieces[i];
		if (at != piece->room)
			memmove(b->to + at, b->to + piece->room, piece->count * sizeof *b->to);
		uint64_t end = piece->room + piece->count;
		piece->room = at;
		at += piece->count;
		drop(b->to, dropped > at ? dropped : at, end);
		dropped = end;
	}
	return at;
}

static struct xc_error *make_rows(struct xc_graph *graph)
{
	struct builder b = {.heap = graph->heap};
	uint64_t total = 0;
	cut_pieces(&b);
	graph->memory[0] = xc_reserve_new(graph->heap->blocks.count + 1, sizeof *b.start);
	graph->memory[1] = xc_reserve_new(b.words + 1, sizeof *b.to);
	b.start = graph->start = graph->memory[0].items;
	b.to = graph->to = graph->memory[1].items;
	xc_parallel(graph->heap->jobs, b.piece_count, scan_piece, &b);
	for (size_t i = 0; i < b.piece_count; i++) {
		total += b.pieces[i].count;
		graph->missing_blocks += b.pieces[i].missing;
	}
	if (total <= MOST_EDGES) {
		graph->edge_count = (size_t)move_together(&b);
		xc_parallel(graph->heap->jobs, b.piece_count, shift_rows, &b);
		graph->start[graph->heap->blocks.count] = (uint32_t)graph->edge_count;
		xc_reserve_trim(&graph->memory[1], graph->edge_count + 1, sizeof *b.to);
	}
	free(b.pieces);
	return total <= MOST_EDGES
		       ? NULL
		       : xc_error_new(XC_ERR_LIMIT, "the blocks hold %llu pointers: more than xcore can keep",
				      (unsigned long long)total);
}

/* ---- reachability ---- */

/* A search from the roots; the queue holds each block once. */
struct search {
	const struct xc_graph *graph;
	uint64_t *seen;
	uint32_t *queue;
	size_t count;
	bool sure;                /* by pointers to beginnings only */
	bool firm;                /* without pointers that may be stale */
	bool without_stacks;      /* from roots that are on no stack and in no register */
	const uint64_t *excluded; /* a bit for each root from which not to begin; NULL: none */
};

static void reach(struct search *s, uint32_t block)
{
	uint64_t *word = &s->seen[block >> 6], bit = UINT64_C(1) << (block & 63);
	if (*word & bit)
		return;
	*word |= bit;
	s->queue[s->count++] = block;
}

/* A thread's descriptor points only into the middle of its dtv and similar blocks. */
static bool is_sure(const struct xc_root *root)
{
	return !root->interior || root->is_meant || root->kind == XC_ROOT_TLS;
}

static bool begins_at(const struct search *s, size_t index)
{
	const struct xc_root *root = &s->graph->roots[index];
	return !(s->sure && !is_sure(root)) && !(s->without_stacks && xc_root_is_of_thread(root)) &&
	       !(s->excluded && xc_graph_bit(s->excluded, (uint32_t)index));
}

/* From a block some of whose pointers may be stale. */
static void go_on_firmly(struct search *s, uint32_t block)
{
	const struct xc_graph *graph = s->graph;
	for (uint32_t e = graph->start[block]; e < graph->start[block + 1]; e++)
		if (!xc_graph_is_stale_edge(graph, e))
			reach(s, graph->to[e] & ~XC_EDGE_INTERIOR);
}

static void search(struct search *s)
{
	const struct xc_graph *graph = s->graph;
	const uint32_t *start = graph->start, *to = graph->to;
	for (size_t i = 0; i < graph->root_count; i++)
		if (begins_at(s, i))
			reach(s, graph->roots[i].block);
	for (size_t at = 0; at < s->count; at++) {
		if (at + 2 * AHEAD < s->count)
			__builtin_prefetch(&start[s->queue[at + 2 * AHEAD]]);
		if (at + AHEAD < s->count)
			__builtin_prefetch(&to[start[s->queue[at + AHEAD]]]);
		if (s->firm && graph->stale && xc_graph_bit(graph->stale, s->queue[at]))
			continue;
		if (s->firm && graph->wordy && xc_graph_bit(graph->wordy, s->queue[at])) {
			go_on_firmly(s, s->queue[at]);
			continue;
		}
		for (uint32_t e = start[s->queue[at]], end = start[s->queue[at] + 1]; e < end; e++)
			if (!s->sure || !(to[e] & XC_EDGE_INTERIOR))
				reach(s, to[e] & ~XC_EDGE_INTERIOR);
	}
}

static void search_one(void *context, size_t number, unsigned worker)
{
	struct search *s = (struct search *)context + number;
	struct xc_reserve queue = xc_reserve_new(s->graph->heap->blocks.count, sizeof *s->queue);
	(void)worker;
	s->queue = queue.items;
	search(s);
	xc_reserve_free(&queue);
}

/* Go on from the stacks and registers: only words that lead to what is reached in no other way are examined. */
static void finish_firmly(struct xc_graph *graph, uint64_t **excluded)
{
	xc_graph_find_slots(graph, graph->firmly, excluded);
	struct search from_stacks = {.graph = graph, .seen = graph->firmly, .firm = true, .excluded = *excluded};
	if (graph->stale || graph->word_count || graph->slot_count) {
		search_one(&from_stacks, 0, 0);
	} else {
		free(graph->firmly);
		graph->firmly = NULL;
	}
}

static void find_reached(struct xc_graph *graph)
{
	size_t blocks = graph->heap->blocks.count;
	graph->reached = xc_graph_bits(blocks);
	graph->surely = xc_graph_bits(blocks);
	graph->stale = xc_graph_find_stale(graph);
	graph->firmly = xc_graph_bits(blocks);
	uint64_t *excluded = xc_graph_find_stale_words(graph);
	struct search all[] = {
		{.graph = graph, .seen = graph->reached},
		{.graph = graph, .seen = graph->surely, .sure = true},
		{.graph = graph, .seen = graph->firmly, .firm = true, .without_stacks = true, .excluded = excluded},
	};
	if (graph->heap->blocks.count)
		xc_parallel(graph->heap->jobs, XC_COUNT(all), search_one, all);
	finish_firmly(graph, &excluded);
	free(excluded);
	xc_graph_sort_stale_words(graph);
}

/* ---- the graph ---- */

static void find_roots(struct xc_graph *graph)
{
	xc_root_ranges_find(&graph->ranges, graph->heap);
	graph->roots = xc_roots_find(graph->heap, &graph->ranges, &graph->root_count);
	graph->missing_roots = graph->ranges.missing;
	graph->threads_without_regs = graph->ranges.threads_without_regs;
}

struct xc_error *xc_graph_of(struct xc_heap *heap, struct xc_graph **graph_out)
{
	if (!heap->graph) {
		struct xc_graph *graph = xc_alloc(sizeof *graph);
		graph->heap = heap;
		xc_claims_apply(heap);
		struct xc_error *err = make_rows(graph);
		if (err || (err = xc_graph_claim_edges(graph))) {
			xc_graph_free(graph);
			return err;
		}
		find_roots(graph);
		xc_graph_claim_roots(graph);
		if ((err = xc_graph_take_misaligned(graph))) {
			xc_graph_free(graph);
			return err;
		}
		xc_graph_take_inner(graph);
		find_reached(graph);
		if ((err = xc_graph_find_disguised(graph, &graph->disguised_count))) {
			xc_graph_free(graph);
			return err;
		}
		if (graph->disguised_count)
			xc_graph_search_again(graph);
		heap->graph = graph;
	}
	*graph_out = heap->graph;
	return NULL;
}

static void forget_reached(struct xc_graph *graph)
{
	free(graph->reached);
	free(graph->surely);
	free(graph->stale);
	free(graph->slots);
	free(graph->words);
	free(graph->wordy);
	free(graph->firmly);
	graph->slots = NULL;
	graph->slot_count = 0;
	graph->words = NULL;
	graph->wordy = NULL;
	graph->word_count = graph->edge_word_count = 0;
}

void xc_graph_search_again(struct xc_graph *graph)
{
	forget_reached(graph);
	for (size_t i = 2; i < XC_COUNT(graph->memory); i++)
		xc_reserve_free(&graph->memory[i]);
	graph->back_start = graph->back = graph->first_root = NULL;
	find_reached(graph);
}

void xc_graph_free(struct xc_graph *graph)
{
	if (!graph)
		return;
	for (size_t i = 0; i < XC_COUNT(graph->memory); i++)
		xc_reserve_free(&graph->memory[i]);
	free(graph->roots);
	xc_root_ranges_fini(&graph->ranges);
	forget_reached(graph);
	free(graph);
}
