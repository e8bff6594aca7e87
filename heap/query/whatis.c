/* The full description of one address. */
#include "heap/query/whatis.h"

#include <jansson.h>
#include <string.h>

#include "core/facts/facts.h"
#include "dwarf/types/ctype.h"
#include "dwarf/types/field.h"
#include "dwarf/report/print.h"
#include "dwarf/report/symbol_report.h"
#include "heap/blocks/allocator.h"
#include "heap/graph/claim.h"
#include "heap/graph/graph.h"
#include "heap/query/objects.h"
#include "heap/query/stackword.h"
#include "heap/query/typing_report.h"

enum { RAW_BYTES = 256, ELEMENTS = 200, LENGTH = 65536 };

/* ---- stacks ---- */

static void report_stack(struct xc_section *s, const struct xc_heap *heap, const struct xc_what *what)
{
	struct xc_stackword word = xc_stackword_find(heap->process, what->thread, what->addr);
	xc_section_integer(s, "thread", "thread", what->thread->tid);
	if (word.in_frame) {
		xc_section_integer(s, "frame", "frame", word.row);
		xc_section_text(s, "function", "function", word.function);
	}
	if (word.type) {
		xc_section_text(s, "variable", "variable", xc_text_string(&word.variable));
		xc_section_text(s, "variable_type", "of type", xc_type_name(word.type));
	}
	xc_stackword_fini(&word);
}

/* ---- blocks ---- */

/* Damage has the address of the header, which is at most two words and directly before the block. */
static bool is_damaged(const struct xc_heap *heap, uint32_t block)
{
	xc_addr addr = xc_block_addr(&heap->blocks, block);
	for (size_t i = 0; i < heap->damage_count; i++)
		if (heap->damages[i].addr < addr && addr - heap->damages[i].addr <= 2U * heap->process->arch->word)
			return true;
	return false;
}

/* For an unclaimed piece of a block with claims: the claim at the block's beginning, mostly the head of a pool's
 * block. */
static void report_surroundings(struct xc_section *s, const struct xc_heap *heap, uint32_t block)
{
	enum { MOST_PIECES = 1 << 16 };
	for (unsigned step = 0; step < MOST_PIECES && block > 0 && xc_claim_is_piece(heap, block); step++)
		block--;
	const struct xc_heap_claim *claim = xc_claim_of(heap, block);
	if (claim && claim->what)
		xc_section_text(s, "within", "within", claim->what);
}

static void report_metadata(struct xc_section *s, const struct xc_heap *heap, const struct xc_what *what)
{
	const struct xc_heap_claim *claim = xc_claim_of(heap, what->block);
	if (claim)
		xc_section_text(s, "claimed", "claimed by", claim->what);
	else
		report_surroundings(s, heap, what->block);
	if (claim || xc_claim_is_piece(heap, what->block))
		return; /* the allocator knows only the whole block */
	if (!what->region)
		return; /* damaged metadata: regions overlap */
	const struct xc_allocator *allocator = heap->arenas[what->region->arena].allocator;
	bool damaged = is_damaged(heap, what->block);
	for (size_t i = 0; i < heap->part_count; i++) {
		if (heap->parts[i].allocator != allocator || !allocator->explain)
			continue;
		struct xc_text text = {0};
		allocator->explain(heap, heap->parts[i].state, what->block, &text);
		if (text.len) /* the data that overwrote it may be the user's */
			xc_section_text(s, "metadata", "metadata", text.bytes)->cell.secret = damaged;
		xc_text_fini(&text);
	}
	if (damaged)
		xc_section_message(s, XC_WARNING, "xcore heap check TARGET", "this block %s",
				   heap->process->live ? "looks damaged, or was changing" : "is damaged");
}

static void report_type(struct xc_section *s, const struct xc_heap *heap, uint32_t block)
{
	const struct xc_typed *typed = heap->typing ? xc_typing_get(heap->typing, block) : NULL;
	if (!typed)
		return;
	xc_section_text(s, "type", "type", xc_typing_name(heap->typing, block));
	xc_section_count(s, "count", "elements", xc_typing_count(heap->typing, block))->quiet =
		typed->shape != XC_TYPED_ARRAY;
	xc_section_text(s, "confidence", "confidence", xc_confidence_word((enum xc_confidence)typed->confidence));
	xc_section_text(s, "via", "typed by", typed->via);
}

static const char *reach(const struct xc_heap *heap, uint32_t block)
{
	if (!heap->graph || xc_block_state(&heap->blocks, block) != XC_BLOCK_LIVE)
		return NULL;
	if (xc_graph_leaked(heap->graph, block))
		return "no root reaches it: leaked";
	if (xc_graph_only_stale(heap->graph, block))
		return "only through words that seem stale";
	return xc_graph_possibly_leaked(heap->graph, block) ? xc_graph_only_interior(heap->graph) : "from a root";
}

static void report_block(struct xc_section *s, const struct xc_heap *heap, const struct xc_what *what)
{
	const struct xc_blocks *blocks = &heap->blocks;
	const char *reached = reach(heap, what->block), *kept = xc_block_free_word(xc_block_state(blocks, what->block));
	xc_section_address(s, "block", "block", xc_block_addr(blocks, what->block));
	xc_section_bytes(s, "size", "size", xc_block_size(blocks, what->block));
	xc_section_text(s, "state", "state", xc_object_state(heap, what->block));
	if (kept)
		xc_section_text(s, "kept_in", "kept in", kept);
	xc_section_count(s, "offset", "offset in it", what->offset);
	report_type(s, heap, what->block);
	if (reached)
		xc_section_text(s, "reached", "reached", reached);
	report_metadata(s, heap, what);
}

void xc_whatis(struct xc_section *s, struct xc_heap *heap, xc_addr addr)
{
	xc_claims_apply(heap); /* before blocks are numbered */
	struct xc_what what = xc_what(heap->process, heap, addr);
	struct xc_text line = {0};
	if (what.kind == XC_WHAT_BLOCK)
		xc_typing_or_note(s, heap);
	xc_what_text(heap->process, heap, &what, &line);
	xc_section_address(s, "addr", "address", addr);
	xc_section_text(s, "what", "is", xc_text_string(&line));
	xc_text_fini(&line);
	if (what.region)
		xc_section_text(s, "arena", "arena", heap->arenas[what.region->arena].name);
	if (what.kind == XC_WHAT_BLOCK)
		report_block(s, heap, &what);
	if (what.kind == XC_WHAT_STACK)
		report_stack(s, heap, &what);
	if (what.kind == XC_WHAT_CODE)
		xc_symbol_report(s->report, heap->process, addr);
}

/* ---- show ---- */

static void show_bytes(struct xc_section *s, const struct xc_heap *heap, uint32_t block)
{
	uint64_t size = xc_block_size(&heap->blocks, block);
	xc_facts_memory(s->report, heap->process, xc_block_addr(&heap->blocks, block),
			size < RAW_BYTES ? size : RAW_BYTES);
}

static void show_value(struct xc_section *s, const struct xc_heap *heap, uint32_t block)
{
	const struct xc_typed *typed = xc_typing_get(heap->typing, block);
	const struct xc_type *type = typed->type;
	uint64_t count = xc_typing_count(heap->typing, block);
	struct xc_print_options options = {.format = xc_format_defaults(), .width = 100, .redact = false};
	options.format.elements = ELEMENTS;
	options.format.length = LENGTH;
	if (typed->shape == XC_TYPED_ARRAY || typed->shape == XC_TYPED_TEXT)
		type = xc_ctype_array(heap->process, type, count);
	struct xc_value value =
		xc_value_memory(heap->process, type, xc_block_addr(&heap->blocks, block) + typed->offset);
	struct xc_text text = {0};
	json_t *json = NULL;
	xc_print_value(&text, &value, &options, &json);
	xc_section_value(s, "value", "value", xc_text_string(&text), json);
	xc_text_fini(&text);
}

struct xc_error *xc_whatis_show(struct xc_section *s, struct xc_heap *heap, xc_addr addr)
{
	xc_claims_apply(heap); /* before blocks are numbered */
	struct xc_what what = xc_what(heap->process, heap, addr);
	if (what.kind != XC_WHAT_BLOCK) {
		struct xc_text line = {0};
		xc_what_text(heap->process, heap, &what, &line);
		struct xc_error *err = xc_error_new(XC_ERR_NOT_FOUND, "0x%llx is in no block: %s",
						    (unsigned long long)addr, xc_text_string(&line));
		xc_text_fini(&line);
		return err;
	}
	xc_typing_or_note(s, heap);
	report_block(s, heap, &what);
	if (heap->typing && xc_typing_get(heap->typing, what.block))
		show_value(s, heap, what.block);
	else
		show_bytes(s, heap, what.block);
	return NULL;
}
