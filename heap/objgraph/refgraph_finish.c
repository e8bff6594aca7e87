/* Nodes are sorted by radix, on the bits that differ. An address finds its node in a hash table of ranges of 256
 * bytes: the table has the first node that begins in each range; the other nodes of the range follow it. Each
 * lookup is two uncached memory reads, so many are in progress at once. If a range has no beginning (inside large
 * nodes), a search is made. */
#include <stdlib.h>
#include <string.h>

#include "core/base/parallel.h"
#include "heap/graph/adjacency.h"
#include "heap/objgraph/refgraph.h"

enum {
	DIGIT = 11,          /* bits of one sorting pass */
	RANGE = 8,           /* bits of an address below its range */
	PIECE = 1 << 15,     /* addresses looked up by one piece of work */
	TRANSIENT_NODE = 50, /* bytes a node, while sorting */
};

/* ---- sorting ---- */

struct place {
	xc_addr addr;
	uint32_t node;
};

static void sort_by_digit(const struct place *from, struct place *to, size_t count, unsigned shift)
{
	size_t begin[1 << DIGIT] = {0}, next = 0;
	const uint64_t digit = (1 << DIGIT) - 1;
	for (size_t i = 0; i < count; i++)
		begin[from[i].addr >> shift & digit]++;
	for (size_t d = 0; d <= digit; d++) {
		size_t here = begin[d];
		begin[d] = next;
		next += here;
	}
	for (size_t i = 0; i < count; i++)
		to[begin[from[i].addr >> shift & digit]++] = from[i];
}

/* The nodes' places by address, equal ones in the order of adding; in one of the two halves of `places`. */
static struct place *sorted(const struct xc_refgraph *g, struct place *places)
{
	struct place *from = places, *to = places + g->count;
	uint64_t differ = 0;
	for (size_t i = 0; i < g->count; i++) {
		from[i] = (struct place){g->addr[i], (uint32_t)i};
		differ |= g->addr[i] ^ g->addr[0];
	}
	for (unsigned shift = 0; shift < 64; shift += DIGIT) {
		if (!(differ >> shift & ((1 << DIGIT) - 1)))
			continue;
		sort_by_digit(from, to, g->count, shift);
		struct place *other = from;
		from = to;
		to = other;
	}
	return from;
}

static bool is_ascending(const struct xc_refgraph *g)
{
	for (size_t i = 1; i < g->count; i++)
		if (g->addr[i] <= g->addr[i - 1])
			return false;
	return true;
}

/* The nodes in order, without duplicates, in arrays of exact size. */
static void sort_nodes(struct xc_refgraph *g)
{
	if (is_ascending(g))
		return;
	struct xc_reserve memory = xc_reserve_new(2 * g->count, sizeof(struct place));
	const struct place *places = sorted(g, memory.items);
	uint64_t *size = xc_alloc(g->count * sizeof *size);
	uint16_t *kind = xc_alloc(g->count * sizeof *kind);
	size_t kept = 0;
	for (size_t i = 0; i < g->count; i++) {
		if (i && places[i].addr == places[i - 1].addr)
			continue;
		size[kept] = g->size[places[i].node];
		kind[kept] = g->kind[places[i].node];
		g->addr[kept++] = places[i].addr; /* the old order of addresses is in `places` */
	}
	g->repeated = g->count - kept;
	g->count = kept;
	free(g->size);
	free(g->kind);
	g->size = size;
	g->kind = kind;
	xc_reserve_free(&memory);
}

/* ---- lookup ---- */

static uint32_t hash(const struct xc_refindex *index, xc_addr addr)
{
	return (uint32_t)((addr >> RANGE) * UINT64_C(0x9e3779b97f4a7c15) >> (64 - index->slot_bits));
}

static void make_index(struct xc_refgraph *g)
{
	struct xc_refindex *index = &g->index;
	size_t ranges = 0;
	for (size_t i = 0; i < g->count; i++)
		ranges += i == 0 || g->addr[i] >> RANGE != g->addr[i - 1] >> RANGE;
	index->slot_bits = 4;
	while ((size_t)1 << index->slot_bits < 2 * ranges)
		index->slot_bits++;
	index->memory = xc_reserve_new((size_t)1 << index->slot_bits, sizeof *index->slots);
	index->slots = index->memory.items;
	for (size_t i = 0; i < g->count; i++) {
		if (i && g->addr[i] >> RANGE == g->addr[i - 1] >> RANGE)
			continue;
		uint32_t at = hash(index, g->addr[i]);
		while (index->slots[at])
			at = (at + 1) & ((1U << index->slot_bits) - 1);
		index->slots[at] = (uint32_t)i + 1;
	}
}

/* The last node that begins at or below addr; XC_NO_NODE if there is none. */
static uint32_t search(const struct xc_refgraph *g, xc_addr addr)
{
	return (uint32_t)XC_LOWER_BOUND(g->count, i, g->addr[i] <= addr) - 1;
}

/* The same, with `slot` as the first place to look for its range. */
static uint32_t before(const struct xc_refgraph *g, xc_addr addr, uint32_t slot)
{
	const struct xc_refindex *index = &g->index;
	for (uint32_t entry; (entry = index->slots[slot]); slot = (slot + 1) & ((1U << index->slot_bits) - 1)) {
		uint32_t node = entry - 1;
		if (g->addr[node] >> RANGE != addr >> RANGE)
			continue;
		if (g->addr[node] > addr)
			return node - 1; /* 0 - 1 is no node */
		while (node + 1 < g->count && g->addr[node + 1] <= addr)
			node++;
		return node;
	}
	return search(g, addr);
}

static uint32_t checked(const struct xc_refgraph *g, xc_addr addr, uint32_t node)
{
	if (node == XC_NO_NODE)
		return node;
	uint64_t inside = addr - g->addr[node];
	return inside == 0 || inside < g->size[node] ? node : XC_NO_NODE;
}

static void find_all(const struct xc_refgraph *g, const xc_addr *addrs, size_t count, uint32_t *hits)
{
	uint32_t slots[XC_REFINDEX_BATCH];
	xc_addr lo = g->count ? g->addr[0] : 1;
	for (size_t i = 0; i < count; i++) {
		slots[i] = hash(&g->index, addrs[i]);
		__builtin_prefetch(&g->index.slots[slots[i]]);
	}
	for (size_t i = 0; i < count; i++) {
		uint32_t entry = g->index.slots[slots[i]];
		__builtin_prefetch(&g->addr[entry ? entry - 1 : 0]);
	}
	for (size_t i = 0; i < count; i++) {
		hits[i] = addrs[i] < lo || !g->count ? XC_NO_NODE : before(g, addrs[i], slots[i]);
		if (hits[i] != XC_NO_NODE)
			__builtin_prefetch(&g->size[hits[i]]);
	}
	for (size_t i = 0; i < count; i++)
		hits[i] = checked(g, addrs[i], hits[i]);
}

uint32_t xc_refgraph_find(const struct xc_refgraph *g, xc_addr addr)
{
	uint32_t hit;
	find_all(g, &addr, 1, &hit);
	return hit;
}

/* ---- addresses to nodes ---- */

struct lookup {
	const struct xc_refgraph *graph;
	const xc_addr *addrs;
	size_t count;
	uint32_t *hits;
};

static void look_up_piece(void *context, size_t number, unsigned worker)
{
	const struct lookup *l = context;
	size_t end = l->count - number * PIECE < PIECE ? l->count : (number + 1) * PIECE;
	(void)worker;
	for (size_t at = number * PIECE; at < end; at += XC_REFINDEX_BATCH) {
		size_t count = end - at < XC_REFINDEX_BATCH ? end - at : XC_REFINDEX_BATCH;
		find_all(l->graph, l->addrs + at, count, l->hits + at);
	}
}

static struct xc_reserve look_up(const struct xc_refgraph *g, const xc_addr *addrs, size_t count)
{
	struct xc_reserve memory = xc_reserve_new(count, sizeof(uint32_t));
	struct lookup l = {g, addrs, count, memory.items};
	xc_parallel(g->jobs, count / PIECE + (count % PIECE > 0), look_up_piece, &l);
	return memory;
}

static uint32_t row_begin(const struct xc_refgraph *g, size_t row)
{
	return row ? g->row_end[row - 1] & ~XC_REFGRAPH_ROOT : 0;
}

/* Removes from `hits` targets that an exact row must not lead to, and all of a row whose source is no node. */
static void drop_invalid(struct xc_refgraph *g, const uint32_t *sources, uint32_t *hits)
{
	for (size_t row = 0; row < g->row_count; row++) {
		uint32_t end = g->row_end[row] & ~XC_REFGRAPH_ROOT;
		bool exact = g->row_end[row] & XC_REFGRAPH_ROOT;
		for (uint32_t e = row_begin(g, row); e < end; e++) {
			if (sources[row] == XC_NO_NODE ||
			    (exact && hits[e] != XC_NO_NODE && g->addr[hits[e]] != g->target[e]))
				hits[e] = XC_NO_NODE;
			g->strays += hits[e] == XC_NO_NODE;
		}
	}
}

/* Makes rows of nodes from rows as added: counts, then places. */
static void make_rows(struct xc_refgraph *g, const uint32_t *sources, const uint32_t *hits)
{
	for (size_t row = 0; row < g->row_count; row++) {
		uint32_t end = g->row_end[row] & ~XC_REFGRAPH_ROOT;
		for (uint32_t e = row_begin(g, row); e < end; e++)
			if (hits[e] != XC_NO_NODE)
				g->start[sources[row]]++;
	}
	for (size_t i = 1; i <= g->count; i++)
		g->start[i] += g->start[i - 1];
	for (size_t row = g->row_count; row-- > 0;) {
		uint32_t end = g->row_end[row] & ~XC_REFGRAPH_ROOT, begin = row_begin(g, row);
		while (end-- > begin)
			if (hits[end] != XC_NO_NODE)
				g->to[--g->start[sources[row]]] = hits[end];
	}
	g->edge_count = g->start[g->count];
}

static void free_added(struct xc_refgraph *g)
{
	free(g->row_from);
	free(g->row_end);
	g->row_from = NULL;
	g->row_end = NULL;
	g->row_count = g->row_room = 0;
}

static uint32_t *reserve(struct xc_reserve *memory, size_t count)
{
	*memory = xc_reserve_new(count, sizeof(uint32_t));
	return memory->items;
}

static void resolve_edges(struct xc_refgraph *g)
{
	struct xc_reserve hits = look_up(g, g->target, g->target_count);
	struct xc_reserve sources = look_up(g, g->row_from, g->row_count);
	drop_invalid(g, sources.items, hits.items);
	size_t targets = g->target_count;
	free(g->target);
	g->target = NULL;
	g->target_count = g->target_room = 0;
	g->start = reserve(&g->memory[0], g->count + 1);
	g->to = reserve(&g->memory[1], targets + 1);
	make_rows(g, sources.items, hits.items);
	xc_reserve_trim(&g->memory[1], g->edge_count + 1, sizeof *g->to);
	xc_reserve_free(&hits);
	xc_reserve_free(&sources);
	free_added(g);
}

static void resolve_roots(struct xc_refgraph *g)
{
	size_t kept = 0;
	for (size_t i = 0; i < g->root_count; i++) {
		g->roots[i].node = xc_refgraph_find(g, g->roots[i].addr);
		if (g->roots[i].node == XC_NO_NODE)
			g->strays++;
		else
			g->roots[kept++] = g->roots[i];
	}
	g->root_count = kept;
}

void xc_refgraph_finish(struct xc_refgraph *g)
{
	if (g->finished)
		return;
	g->finished = true;
	sort_nodes(g);
	make_index(g);
	resolve_edges(g);
	resolve_roots(g);
	const struct xc_adjacency links = {(uint32_t)g->count, g->start, g->to};
	g->back_start = reserve(&g->memory[2], g->count + 1);
	g->back = reserve(&g->memory[3], g->edge_count + 1);
	xc_adjacency_transpose(&links, g->jobs, g->back_start, g->back);
}

/* Sorting, or the rows of both directions in addition to the addresses that they are made from. */
uint64_t xc_refgraph_finish_cost(const struct xc_refgraph *g)
{
	uint64_t sorting = g->count * (uint64_t)TRANSIENT_NODE;
	uint64_t rows = g->count * UINT64_C(24) + g->target_count * UINT64_C(8) + g->row_count * UINT64_C(4);
	return g->finished ? 0 : sorting > rows ? sorting : rows;
}
