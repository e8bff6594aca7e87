/* An intentional holder of a block has a name for it: a global, a variable of a frame, a field of another block.
 * Words of stacks that belong to no known variable rank last: libc and the compiler leave stale addresses there. */
#include "heap/query/owner.h"

#include <inttypes.h>
#include <stdlib.h>

#include "heap/graph/graph.h"
#include "heap/query/refs.h"
#include "heap/query/rootword.h"
#include "heap/query/stackword.h"
#include "heap/types/typing.h"

enum {
	STACK_WORDS = 32, /* whose variables are looked up: each unwinds its thread */
	BLOCKS = 1000,    /* that point to it, searched for one with a type */
};

/* In descending order of preference. */
enum rank { GLOBAL, VARIABLE, FIELD, REGISTER, OTHER, NAMELESS, NONE };

struct holder {
	enum rank rank;
	const struct xc_root *root; /* except for FIELD */
	uint32_t block;             /* FIELD */
};

/* ---- roots ---- */

static bool has_variable(const struct xc_heap *heap, const struct xc_root *root)
{
	const struct xc_thread *thread = xc_rootword_thread(heap, root);
	if (!thread)
		return false;
	struct xc_stackword word = xc_stackword_find(heap->process, thread, root->at);
	bool has = word.type != NULL;
	xc_stackword_fini(&word);
	return has;
}

static enum rank rank_of(const struct xc_heap *heap, const struct xc_root *root, unsigned *stack_words)
{
	switch ((enum xc_root_kind)root->kind) {
	case XC_ROOT_GLOBAL:
	case XC_ROOT_TLS:
	case XC_ROOT_PLUGIN:
		return GLOBAL;
	case XC_ROOT_REGISTER:
		return REGISTER;
	case XC_ROOT_STACK:
		return (*stack_words)++ < STACK_WORDS && has_variable(heap, root) ? VARIABLE : NAMELESS;
	default:
		return OTHER;
	}
}

/* Roots are ordered by kind: the first global ends the search. */
static struct holder best_root(const struct xc_heap *heap, uint32_t block)
{
	const struct xc_graph *graph = heap->graph;
	struct holder best = {.rank = NONE};
	unsigned stack_words = 0;
	for (size_t i = 0; i < graph->root_count && best.rank != GLOBAL; i++) {
		const struct xc_root *root = &graph->roots[i];
		if (root->block != block)
			continue;
		enum rank rank = rank_of(heap, root, &stack_words);
		if (rank < best.rank)
			best = (struct holder){.rank = rank, .root = root};
	}
	return best;
}

/* ---- blocks ---- */

/* The first one with a type, or else the first. */
static uint32_t pointing_block(const struct xc_heap *heap, uint32_t block)
{
	const struct xc_graph *graph = heap->graph;
	uint32_t start = graph->back_start[block], end = graph->back_start[block + 1], first = XC_NO_BLOCK;
	for (uint32_t e = start; e < end && e - start < BLOCKS; e++) {
		uint32_t from = graph->back[e];
		if (from == block || !xc_graph_bit(graph->reached, from))
			continue;
		first = first == XC_NO_BLOCK ? from : first;
		if (heap->typing && xc_typing_get(heap->typing, from))
			return from;
	}
	return first;
}

static struct holder best_holder(const struct xc_heap *heap, uint32_t block)
{
	struct holder best = best_root(heap, block);
	uint32_t from = best.rank > FIELD ? pointing_block(heap, block) : XC_NO_BLOCK;
	return from == XC_NO_BLOCK ? best : (struct holder){.rank = FIELD, .block = from};
}

/* ---- text ---- */

static void add_root(const struct xc_heap *heap, const struct holder *holder, struct xc_text *text)
{
	if (holder->rank != REGISTER)
		xc_text_printf(text, "0x%" PRIx64 ", ", holder->root->at);
	if (holder->rank == NAMELESS)
		xc_text_add(text, "a word of the ");
	xc_rootword_text(heap, holder->root, true, text);
	if (holder->rank == NAMELESS)
		xc_text_add(text, ": it may be left over from an earlier call");
}

static void add_field(const struct xc_heap *heap, uint32_t from, uint32_t block, struct xc_text *text)
{
	xc_addr at = xc_refs_word(heap, from, block);
	if (at == 0) /* an edge of a plugin, not a word of memory */
		at = xc_block_addr(&heap->blocks, from);
	xc_text_printf(text, "0x%" PRIx64 ", ", at);
	xc_rootword_place(heap, at, false, text);
}

void xc_owner_text(struct xc_heap *heap, uint32_t block, struct xc_text *text)
{
	struct xc_graph *graph;
	struct xc_error *err = xc_graph_of(heap, &graph);
	if (err || xc_block_state(&heap->blocks, block) != XC_BLOCK_LIVE) {
		xc_error_free(err);
		return;
	}
	if (xc_graph_leaked(graph, block)) {
		xc_text_add(text, "nothing: it is leaked");
		return;
	}
	xc_graph_back(graph);
	struct holder holder = best_holder(heap, block);
	if (holder.rank == FIELD)
		add_field(heap, holder.block, block, text);
	else if (holder.rank != NONE)
		add_root(heap, &holder, text);
}
