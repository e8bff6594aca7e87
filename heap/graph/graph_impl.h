/* graph_impl: steps of making a graph. Private to graph*.c. */
#ifndef XC_GRAPH_IMPL_H
#define XC_GRAPH_IMPL_H

#include "heap/graph/graph.h"

/* Insert claims (claim.h) into the rows, and into the roots. */
XC_MUST_CHECK struct xc_error *xc_graph_claim_edges(struct xc_graph *graph);
void xc_graph_claim_roots(struct xc_graph *graph);

/* An edge that no scan finds. */
struct xc_graph_edge {
	uint32_t from, to; /* to may have XC_EDGE_INTERIOR */
};

/* graph_claims: sorts such edges by source, and makes rows with room for them after those of each block. The rows'
 * memory is a new one. Errors: XC_ERR_LIMIT. */
XC_MUST_CHECK struct xc_error *xc_graph_merge(struct xc_graph *graph, struct xc_graph_edge *edges, size_t count);

/* graph_claims: brings roots back into their order. */
void xc_graph_sort_roots(struct xc_graph *graph);

/* misaligned: inserts the heap's misaligned words as edges and roots. */
XC_MUST_CHECK struct xc_error *xc_graph_take_misaligned(struct xc_graph *graph);

/* graph_disguised: adds disguised pointers to a graph whose search is done, as edges and roots to the interior, where
 * they lead to the beginning of a block that is not reached; *count_out: their number. The graph must be searched again
 * if there are any. Reads all live blocks and root ranges once, in parallel, if any live block is not reached; only
 * where words have 8 bytes and the host's byte order. Errors: XC_ERR_LIMIT. */
XC_MUST_CHECK struct xc_error *xc_graph_find_disguised(struct xc_graph *graph, size_t *count_out);

/* inner_pointer: marks the heap's inner pointers among the edges and roots. */
void xc_graph_take_inner(struct xc_graph *graph);

/* stale_range: the words of the heap's stale ranges, in graph->words, with those that are edges first, in order.
 * Returns a bit for each root that is one (malloc'ed), or NULL. The words are sorted by target when edges are no longer
 * asked for. */
uint64_t *xc_graph_find_stale_words(struct xc_graph *graph);
bool xc_graph_is_stale_edge(const struct xc_graph *graph, uint32_t edge);
void xc_graph_sort_stale_words(struct xc_graph *graph);
bool xc_graph_stale_word_text(const struct xc_graph *graph, uint32_t block, struct xc_text *text);

/* graph: searches again from the roots, after edges or roots were added. */
void xc_graph_search_again(struct xc_graph *graph);

/* graph_stale: a bit for each live block that contains nothing but a link to the block directly after it, of the same
 * size; NULL if the heap's allocator leaves no such links, or if there are none. malloc'ed. Needs the rows. Reads the
 * blocks that have a single pointer. */
uint64_t *xc_graph_find_stale(const struct xc_graph *graph);
bool xc_graph_leaves_links(const struct xc_heap *heap);

/* graph_stale: set slots, from the roots on stacks and in registers whose blocks are not in `reached`, a bit for each
 * block; and the bit of each root that is one, in *roots (malloc'ed; made if it is NULL and there are any). Unwinds the
 * threads that have such roots. */
void xc_graph_find_slots(struct xc_graph *graph, const uint64_t *reached, uint64_t **roots);

#endif
