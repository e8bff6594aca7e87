#include "heap/report/audit_coverage.h"

#include <stdlib.h>

#include "heap/blocks/allocator.h"
#include "heap/graph/claim.h"
#include "heap/report/summary.h"

struct scope {
	uint64_t *blocks; /* by part of the heap */
	uint64_t headers; /* examined */
	bool without;     /* some allocator has none */
};

/* Does the block have a header that was examined? Claimed pieces have none. */
static bool has_header(const struct xc_heap *heap, const struct xc_allocator *allocator, uint32_t block)
{
	enum xc_block_state state = xc_block_state(&heap->blocks, block);
	return (allocator->headers == XC_HEADERS_ALL ||
		(allocator->headers == XC_HEADERS_LIVE && !xc_block_is_free(state))) &&
	       !xc_claim_is_piece(heap, block);
}

static size_t part_of(const struct xc_heap *heap, const struct xc_region *region)
{
	size_t i = 0;
	while (i < heap->part_count && heap->parts[i].allocator != heap->arenas[region->arena].allocator)
		i++;
	return i;
}

static void count_block(struct scope *scope, const struct xc_heap *heap, size_t part, uint32_t block)
{
	if (part == heap->part_count)
		return;
	scope->blocks[part]++;
	scope->headers += has_header(heap, heap->parts[part].allocator, block);
}

/* Regions and blocks are both in address order. */
static void count_blocks(struct scope *scope, const struct xc_heap *heap)
{
	uint32_t block = 0;
	for (size_t i = 0; i < heap->region_count; i++) {
		const struct xc_region *region = &heap->regions[i];
		size_t part = part_of(heap, region);
		uint32_t from = xc_blocks_from(&heap->blocks, region->lo);
		block = from > block ? from : block; /* damaged regions overlap: a block counts once */
		uint32_t end = region->hi == UINT64_MAX ? (uint32_t)heap->blocks.count
							: xc_blocks_from(&heap->blocks, region->hi + 1);
		for (; block < end; block++)
			count_block(scope, heap, part, block);
	}
}

static struct scope scope_of(const struct xc_heap *heap)
{
	struct scope scope = {.blocks = xc_alloc((heap->part_count + 1) * sizeof *scope.blocks)};
	count_blocks(&scope, heap);
	for (size_t i = 0; i < heap->part_count; i++)
		scope.without |= scope.blocks[i] && heap->parts[i].allocator->headers == XC_HEADERS_NONE;
	return scope;
}

const char *xc_audit_coverage_headline(struct xc_section *section, const struct xc_heap *heap)
{
	struct scope scope = scope_of(heap);
	struct xc_text names = {0};
	for (size_t i = 0; i < heap->part_count; i++)
		if (scope.blocks[i] && heap->parts[i].allocator->headers == XC_HEADERS_NONE)
			xc_text_printf(&names, "%s%s", names.len ? " and " : "", heap->parts[i].allocator->name);
	const char *line = "no damage was found";
	if (names.len)
		line = xc_arena_printf(&section->report->arena,
				       "no damage was found in what can be checked: %s puts no headers between blocks",
				       names.bytes);
	xc_text_fini(&names);
	free(scope.blocks);
	return line;
}

static void report_allocators(struct xc_section *s, const struct xc_heap *heap, const struct scope *scope)
{
	static const struct xc_column columns[] = {
		{.key = "allocator", .label = "ALLOCATOR", .kind = XC_FIELD_TEXT},
		{.key = "blocks", .label = "BLOCKS", .kind = XC_FIELD_COUNT},
		{.key = "checked", .label = "CHECKED", .kind = XC_FIELD_TEXT},
	};
	struct xc_table *table = xc_section_table(s, "checked", columns, XC_COUNT(columns));
	for (size_t i = 0; i < heap->part_count; i++) {
		const struct xc_allocator *allocator = heap->parts[i].allocator;
		const struct xc_cell row[] = {
			xc_cell_text(allocator->name),
			xc_cell_count(scope->blocks[i]),
			xc_cell_text(allocator->checks),
		};
		xc_table_row(s, table, row);
	}
}

/* Allocators with an audit count its steps. */
static void report_lists(struct xc_section *s, const struct xc_heap *heap)
{
	const struct xc_audit_coverage *audit_coverage = heap->audit_coverage;
	bool counted = false;
	for (size_t i = 0; i < heap->part_count; i++)
		counted |= heap->parts[i].allocator->audit != NULL;
	if (!counted)
		return;
	xc_section_count(s, "lists", "free lists", audit_coverage->lists);
	xc_section_count(s, "links", "links in them", audit_coverage->links);
	xc_section_count(s, "caches", "caches of threads", audit_coverage->caches);
	xc_section_count(s, "cached", "blocks in them", audit_coverage->cached);
}

void xc_audit_coverage_report(struct xc_section *s, const struct xc_heap *heap)
{
	struct scope scope = scope_of(heap);
	xc_section_count(s, "blocks", "blocks", heap->blocks.count);
	xc_section_count(s, "headers", "headers checked", scope.headers);
	xc_section_count(s, "arenas", "arenas", xc_heap_summary_arenas(heap));
	report_lists(s, heap);
	report_allocators(s, heap, &scope);
	if (scope.without)
		xc_section_message(s, XC_INFO, NULL,
				   "without headers, a write past the end of a block is visible only if it hits "
				   "checked memory");
	free(scope.blocks);
}
