/* Edges have no offsets, so the block is read again for the pointers that are reported. */
#include "heap/query/refs.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/parallel.h"
#include "heap/graph/claim.h"
#include "heap/graph/graph.h"
#include "heap/graph/leak_structures.h"
#include "heap/graph/misaligned.h"
#include "heap/graph/roots.h"
#include "heap/query/rootword.h"
#include "heap/blocks/scan.h"
#include "heap/query/typing_report.h"
#include "heap/query/whatis.h"

enum {
	STACK_WORDS = 32, /* words of stacks whose frame is reported: each unwinds its thread */
	PIECE = 16 << 20,
};

/* ---- one word ---- */

struct reporter {
	struct xc_section *section;
	struct xc_table *table;
	struct xc_heap *heap;
	xc_addr lo;  /* of the target */
	size_t rows; /* reported */
	size_t most;
	unsigned stack_words; /* whose frames were reported */
};

static void add_row(struct reporter *t, const char *kind, struct xc_cell at, struct xc_cell offset, const char *where)
{
	const struct xc_cell row[] = {xc_cell_text(kind), at, xc_cell_text(where), offset};
	xc_table_row(t->section, t->table, row);
	t->rows++;
}

static bool is_on_stack(const struct reporter *t, xc_addr at)
{
	return xc_what(t->heap->process, t->heap, at).kind == XC_WHAT_STACK;
}

/* The place of a word of memory. */
static void place_text(struct reporter *t, xc_addr at, struct xc_text *text)
{
	bool frames = is_on_stack(t, at) && t->stack_words++ < STACK_WORDS;
	xc_rootword_place(t->heap, at, frames, text);
}

static void root_text(struct reporter *t, const struct xc_root *root, struct xc_text *text)
{
	bool frames = root->kind == XC_ROOT_STACK && t->stack_words++ < STACK_WORDS;
	xc_rootword_text(t->heap, root, frames, text);
}

static bool leads_in_disguise(uint64_t word, xc_addr to)
{
	xc_addr found[2];
	return xc_disguised_addresses(word, found) && (found[0] == to || found[1] == to);
}

/* The value of a word, if its place is known. */
static struct xc_cell offset_cell(const struct reporter *t, xc_addr at)
{
	const struct xc_process *process = t->heap->process;
	uint64_t value;
	if (!xc_space_peek_uint(process->space, at, process->arch->word, &value))
		return xc_cell_null("it cannot be read");
	return leads_in_disguise(value, t->lo) ? xc_cell_null("other bits are around the address")
					       : xc_cell_integer((int64_t)(value - t->lo));
}

static void report_root(struct reporter *t, const struct xc_root *root)
{
	static const char why[] = "a register has no address";
	struct xc_text text = {0};
	bool in_memory = root->kind != XC_ROOT_REGISTER;
	root_text(t, root, &text);
	add_row(t, xc_root_kind_word((enum xc_root_kind)root->kind),
		in_memory ? xc_cell_address(root->at) : xc_cell_null(why),
		in_memory         ? offset_cell(t, root->at)
		: !root->interior ? xc_cell_integer(0)
				  : xc_cell_null("into the middle"),
		xc_text_string(&text));
	xc_text_fini(&text);
}

static void report_place(struct reporter *t, const char *kind, xc_addr at)
{
	struct xc_text text = {0};
	place_text(t, at, &text);
	add_row(t, kind, xc_cell_address(at), offset_cell(t, at), xc_text_string(&text));
	xc_text_fini(&text);
}

static bool is_room(const struct reporter *t)
{
	return t->rows < t->most;
}

/* ---- searching memory ---- */

struct piece {
	xc_addr lo, hi;
	xc_addr *found; /* malloc'ed, at most `most` */
	size_t kept, capacity;
	uint64_t count;
};

struct search {
	const struct xc_heap *heap;
	xc_addr lo, span; /* the target */
	size_t most;
	struct piece *pieces;
	size_t count, capacity;
};

static void take_word(struct search *s, struct piece *piece, xc_addr at)
{
	piece->count++;
	if (piece->kept >= s->most)
		return;
	piece->found = xc_grow(piece->found, piece->kept, &piece->capacity, sizeof *piece->found);
	piece->found[piece->kept++] = at;
}

static uint64_t word_of(const uint8_t *bytes, unsigned word)
{
	uint64_t value = 0;
	memcpy(&value, bytes, word);
	return value;
}

/* Does any of 64 words point there? There is no branch for each word, so that several can be compared at once. */
static bool any_of(const uint8_t *bytes, uint64_t lo, uint64_t span)
{
	uint64_t values[64], any = 0;
	memcpy(values, bytes, sizeof values);
	for (size_t i = 0; i < XC_COUNT(values); i++)
		any |= values[i] - lo <= span;
	return any;
}

static void search_bytes(struct search *s, struct piece *piece, const uint8_t *bytes, xc_addr at, uint64_t len)
{
	enum { GROUP = 64 * 8 };
	unsigned word = s->heap->process->arch->word;
	uint64_t i = (word - at % word) % word;
	while (i < len && len - i >= word) {
		if (word == 8 && len - i >= GROUP && !any_of(bytes + i, s->lo, s->span)) {
			i += GROUP;
			continue;
		}
		uint64_t end = len - i >= GROUP ? i + GROUP : len;
		for (; i < end && len - i >= word; i += word)
			if (word_of(bytes + i, word) - s->lo <= s->span)
				take_word(s, piece, at + i);
	}
}

/* All readable words of a range. */
static void search_range(struct search *s, struct piece *piece)
{
	struct xc_window window;
	const uint8_t *bytes;
	uint64_t len;
	xc_window_init(&window, s->heap->process->space);
	xc_addr at = piece->lo;
	while (xc_scan_next(&window, &at, piece->hi, PIECE, true, &bytes, &len)) {
		search_bytes(s, piece, bytes, at, len);
		if (piece->hi - at < len)
			break;
		at += len;
	}
	xc_window_fini(&window);
}

static void search_piece(void *context, size_t number, unsigned worker)
{
	struct search *s = context;
	(void)worker;
	search_range(s, &s->pieces[number]);
}

static void cut_pieces(struct search *s)
{
	const struct xc_space *space = s->heap->process->space;
	for (size_t i = 0; i < xc_space_count(space); i++) {
		const struct xc_segment *segment = xc_space_at(space, i);
		if (segment->provenance != XC_FROM_CORE && segment->provenance != XC_FROM_LIVE)
			continue;
		for (xc_addr at = segment->lo;; at += PIECE) {
			xc_addr hi = segment->hi - at < PIECE ? segment->hi : at + PIECE - 1;
			s->pieces = xc_grow(s->pieces, s->count, &s->capacity, sizeof *s->pieces);
			s->pieces[s->count++] = (struct piece){.lo = at, .hi = hi};
			if (hi == segment->hi)
				break;
		}
	}
}

static const char *kind_of_place(const struct xc_process *process, const struct xc_heap *heap, xc_addr at)
{
	static const char *const words[] = {
		[XC_WHAT_NOTHING] = "memory",  [XC_WHAT_BLOCK] = "block", [XC_WHAT_MANAGED] = "allocator",
		[XC_WHAT_STACK] = "stack",     [XC_WHAT_CODE] = "code",   [XC_WHAT_DATA] = "global",
		[XC_WHAT_MAPPING] = "mapping",
	};
	return words[xc_what(process, heap, at).kind];
}

static uint64_t report_memory(struct reporter *t, xc_addr lo, uint64_t size)
{
	struct search s = {.heap = t->heap, .lo = lo, .span = size - 1, .most = t->most};
	uint64_t count = 0;
	cut_pieces(&s);
	xc_parallel(t->heap->jobs, s.count, search_piece, &s);
	for (size_t i = 0; i < s.count; i++) {
		for (size_t k = 0; k < s.pieces[i].kept && is_room(t); k++)
			report_place(t, kind_of_place(t->heap->process, t->heap, s.pieces[i].found[k]),
				     s.pieces[i].found[k]);
		count += s.pieces[i].count;
		free(s.pieces[i].found);
	}
	free(s.pieces);
	return count;
}

/* ---- a live block ---- */

/* Those of packed objects, which the search passes over. */
static void add_misaligned(struct search *s, struct piece *piece, uint32_t from, uint32_t to)
{
	size_t count;
	const struct xc_misaligned_word *words = xc_misaligned_to(s->heap, to, &count);
	for (size_t i = 0; i < count; i++)
		if (words[i].from == from)
			take_word(s, piece, words[i].at);
}

/* Words with other bits around the address, where no other leads there. */
static void add_disguised(struct search *s, struct piece *piece)
{
	uint64_t word;
	for (xc_addr at = piece->lo; at + (sizeof word - 1) <= piece->hi && !piece->count; at += sizeof word)
		if (xc_space_peek_uint(s->heap->process->space, at, sizeof word, &word) &&
		    leads_in_disguise(word, s->lo))
			take_word(s, piece, at);
}

/* The first words of `from` that point into block `to`: at most `most`; the caller frees piece.found. */
static struct piece words_to(const struct xc_heap *heap, uint32_t from, uint32_t to, size_t most)
{
	const struct xc_blocks *blocks = &heap->blocks;
	struct search s = {
		.heap = heap, .lo = xc_block_addr(blocks, to), .span = xc_block_size(blocks, to) - 1, .most = most};
	struct piece piece = {.lo = xc_block_addr(blocks, from)};
	piece.hi = piece.lo + xc_block_size(blocks, from) - 1;
	search_range(&s, &piece);
	add_misaligned(&s, &piece, from, to);
	if (!piece.count && heap->graph && heap->graph->disguised_count)
		add_disguised(&s, &piece);
	return piece;
}

xc_addr xc_refs_word(const struct xc_heap *heap, uint32_t from, uint32_t to)
{
	struct piece piece = words_to(heap, from, to, 1);
	xc_addr at = piece.kept ? piece.found[0] : 0;
	free(piece.found);
	return at;
}

static void report_words(struct reporter *t, uint32_t from, uint32_t to)
{
	struct piece piece = words_to(t->heap, from, to, t->most - t->rows);
	for (size_t i = 0; i < piece.kept; i++)
		report_place(t, from == to ? "itself" : "block", piece.found[i]);
	free(piece.found);
}

static uint64_t report_block(struct reporter *t, struct xc_graph *graph, uint32_t block)
{
	uint64_t count = graph->back_start[block + 1] - graph->back_start[block];
	for (size_t i = 0; i < graph->root_count; i++)
		if (graph->roots[i].block == block) {
			count++;
			if (is_room(t))
				report_root(t, &graph->roots[i]);
		}
	uint32_t before = XC_NO_BLOCK;
	for (uint32_t e = graph->back_start[block]; e < graph->back_start[block + 1] && is_room(t); e++) {
		if (graph->back[e] != before)
			report_words(t, graph->back[e], block);
		before = graph->back[e];
	}
	if (is_room(t))
		report_words(t, block, block);
	return count > t->rows ? count : t->rows;
}

/* ---- refs ---- */

static bool is_live(const struct xc_heap *heap, uint32_t block)
{
	return block != XC_NO_BLOCK && xc_scan_has_edges(heap->blocks.heads[block]);
}

static void report_target(struct xc_section *s, const struct xc_heap *heap, xc_addr addr)
{
	const struct xc_what what = xc_what(heap->process, heap, addr);
	struct xc_text text = {0};
	xc_what_text(heap->process, heap, &what, &text);
	xc_section_address(s, "addr", "address", addr);
	xc_section_text(s, "what", "is", xc_text_string(&text));
	xc_text_fini(&text);
}

struct xc_error *xc_refs(struct xc_section *s, struct xc_heap *heap, xc_addr addr, size_t limit)
{
	static const struct xc_column columns[] = {
		{"kind", "KIND", XC_FIELD_TEXT, false},
		{"at", "AT", XC_FIELD_ADDRESS, false},
		{"where", "WHERE", XC_FIELD_TEXT, false},
		{"offset", "OFFSET", XC_FIELD_INTEGER, false},
	};
	struct xc_graph *graph;
	struct xc_error *err = xc_graph_of(heap, &graph);
	if (err)
		return err;
	uint32_t block = xc_blocks_find(&heap->blocks, addr);
	struct reporter t = {.section = s, .heap = heap, .most = limit ? limit : SIZE_MAX, .lo = addr};
	xc_typing_or_note(s, heap);
	report_target(s, heap, addr);
	struct xc_field *count = xc_section_count(s, "count", "pointers", 0);
	t.table = xc_section_table(s, "refs", columns, XC_COUNT(columns));
	if (block != XC_NO_BLOCK)
		t.lo = xc_block_addr(&heap->blocks, block);
	if (is_live(heap, block)) {
		xc_graph_back(graph);
		count->cell.number = report_block(&t, graph, block);
	} else {
		count->cell.number =
			report_memory(&t, t.lo, block == XC_NO_BLOCK ? 1 : xc_block_size(&heap->blocks, block));
	}
	if (is_live(heap, block) && graph->root_count > XC_ROOTS_KEPT)
		xc_section_message(s, XC_INFO, NULL, "there are too many roots to keep all: some may be missing here");
	return NULL;
}

/* ---- path ---- */

/* A pointer's name as an argument means its target. */
static struct xc_error *not_live(const struct xc_heap *heap, xc_addr addr)
{
	const struct xc_process *process = heap->process;
	uint64_t value;
	struct xc_error *err = xc_error_new(XC_ERR_NOT_FOUND, "0x%" PRIx64 " is in no live block", addr);
	if (xc_space_peek_uint(process->space, addr, process->arch->word, &value) &&
	    is_live(heap, xc_blocks_find(&heap->blocks, value)))
		return xc_error_hint(err, "the pointer that is stored there leads to 0x%" PRIx64, value);
	return err;
}

static void add_step(struct reporter *t, struct xc_cell at, const char *where)
{
	const struct xc_cell row[] = {xc_cell_count(t->rows++), at, xc_cell_text(where)};
	xc_table_row(t->section, t->table, row);
}

/* The last one is the block itself: it has no field. */
static void report_step(struct reporter *t, xc_addr at, bool last)
{
	struct xc_text text = {0};
	const struct xc_what what = xc_what(t->heap->process, t->heap, at);
	if (last)
		xc_what_text(t->heap->process, t->heap, &what, &text);
	else
		place_text(t, at, &text);
	add_step(t, xc_cell_address(at), xc_text_string(&text));
	xc_text_fini(&text);
}

static void report_path(struct reporter *t, const uint32_t *path, size_t length, const struct xc_root *root)
{
	struct xc_text text = {0};
	root_text(t, root, &text);
	add_step(t,
		 root->kind == XC_ROOT_REGISTER ? xc_cell_null("a register has no address") : xc_cell_address(root->at),
		 xc_text_string(&text));
	xc_text_fini(&text);
	for (size_t i = 0; i < length; i++) {
		bool last = i + 1 == length;
		xc_addr word = last ? 0 : xc_refs_word(t->heap, path[i], path[i + 1]);
		report_step(t, word ? word : xc_block_addr(&t->heap->blocks, path[i]), last);
	}
}

static void report_leaked(struct reporter *t, const struct xc_graph *graph, uint32_t block)
{
	struct xc_leak_structures leaked;
	xc_leak_structures_find(&leaked, graph, false);
	uint32_t place = xc_leak_structures_place(&leaked, block);
	if (place != XC_NO_BLOCK)
		xc_section_address(t->section, "head", "leaked with",
				   xc_block_addr(&t->heap->blocks, leaked.blocks[leaked.head[place]]));
	xc_leak_structures_fini(&leaked);
	xc_section_message(t->section, XC_INFO, NULL, "no root reaches it: it is leaked");
}

struct xc_error *xc_path(struct xc_section *s, struct xc_heap *heap, xc_addr addr)
{
	static const struct xc_column columns[] = {
		{"step", "STEP", XC_FIELD_COUNT, false},
		{"at", "AT", XC_FIELD_ADDRESS, false},
		{"what", "WHAT", XC_FIELD_TEXT, false},
	};
	struct xc_graph *graph;
	struct reporter t = {.section = s, .heap = heap};
	xc_claims_apply(heap); /* before blocks are numbered */
	uint32_t block = xc_blocks_find(&heap->blocks, addr), *path = NULL;
	const struct xc_root *root;
	if (!is_live(heap, block))
		return not_live(heap, addr);
	struct xc_error *err = xc_graph_of(heap, &graph);
	if (err)
		return err;
	xc_typing_or_note(s, heap);
	report_target(s, heap, addr);
	size_t length = xc_graph_path(graph, block, &path, &root);
	if (length) {
		t.table = xc_section_table(s, "path", columns, XC_COUNT(columns));
		report_path(&t, path, length, root);
	} else {
		report_leaked(&t, graph, block);
	}
	free(path);
	return NULL;
}
