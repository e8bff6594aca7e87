#include "heap/report/top.h"

#include <stdlib.h>
#include <string.h>

#include "heap/graph/graph.h"
#include "heap/query/objects.h"
#include "heap/graph/retention.h"
#include "heap/types/typing.h"
#include "heap/session/session.h"

enum { SIZE_CLASSES = 64 };

/* ---- the largest ---- */

/* The largest so far, as a binary heap with the smallest at its root. Of equal blocks the lower address is kept. */
struct largest {
	const struct xc_blocks *blocks;
	const struct xc_retention *retention; /* by retained bytes; NULL: by the blocks' own size */
	uint32_t *items;
	size_t count, most;
};

static uint64_t weight(const struct largest *l, uint32_t block)
{
	return l->retention ? l->retention->bytes[block] : xc_block_size(l->blocks, block);
}

static bool less(const struct largest *l, uint32_t a, uint32_t b)
{
	uint64_t x = weight(l, a), y = weight(l, b);
	return x != y ? x < y : a > b;
}

static void swap(uint32_t *a, uint32_t *b)
{
	uint32_t c = *a;
	*a = *b;
	*b = c;
}

static void sink(struct largest *l)
{
	size_t at = 0;
	for (;;) {
		size_t child = 2 * at + 1;
		if (child >= l->count)
			return;
		if (child + 1 < l->count && less(l, l->items[child + 1], l->items[child]))
			child++;
		if (!less(l, l->items[child], l->items[at]))
			return;
		swap(&l->items[child], &l->items[at]);
		at = child;
	}
}

static void rise(struct largest *l)
{
	for (size_t at = l->count - 1; at > 0 && less(l, l->items[at], l->items[(at - 1) / 2]); at = (at - 1) / 2)
		swap(&l->items[at], &l->items[(at - 1) / 2]);
}

static void offer(struct largest *l, uint32_t block)
{
	if (l->count < l->most) {
		l->items[l->count++] = block;
		rise(l);
	} else if (l->most && less(l, l->items[0], block)) {
		l->items[0] = block;
		sink(l);
	}
}

/* Largest first: the smallest is removed repeatedly. */
static void order(struct largest *l)
{
	size_t count = l->count;
	while (l->count > 1) {
		swap(&l->items[0], &l->items[--l->count]);
		sink(l);
	}
	l->count = count;
}

/* The columns of a block in every table: address, size, state, type, count, confidence, origin. */
enum { SHARED = 7, ALL = SHARED + 2 };

static const struct xc_column block_columns[ALL] = {
	{.key = "addr", .label = "BLOCK", .kind = XC_FIELD_ADDRESS},
	{.key = "bytes", .label = "SIZE", .kind = XC_FIELD_BYTES},
	{.key = "state", .label = "STATE", .kind = XC_FIELD_TEXT},
	{.key = "type", .label = "TYPE", .kind = XC_FIELD_TEXT},
	{.key = "count", .label = "COUNT", .kind = XC_FIELD_COUNT},
	{.key = "confidence", .label = "SURE", .kind = XC_FIELD_TEXT},
	{.key = "via", .label = "TYPED BY", .kind = XC_FIELD_TEXT, .verbose = true},
	{.key = "retained", .label = "RETAINED", .kind = XC_FIELD_BYTES},
	{.key = "retained_blocks", .label = "BLOCKS", .kind = XC_FIELD_COUNT},
};

static void fill_row(const struct xc_heap *heap, uint32_t block, struct xc_cell row[SHARED])
{
	const struct xc_typed *typed = heap->typing ? xc_typing_get(heap->typing, block) : NULL;
	row[0] = xc_cell_address(xc_block_addr(&heap->blocks, block));
	row[1] = xc_cell_bytes(xc_block_size(&heap->blocks, block));
	row[2] = xc_cell_text(xc_object_state(heap, block));
	for (size_t i = 3; i < SHARED; i++)
		row[i] = xc_cell_null(i == 3 ? "unknown" : NULL);
	if (!typed)
		return;
	row[3] = xc_cell_text(xc_typing_name(heap->typing, block));
	row[4] = xc_cell_count(xc_typing_count(heap->typing, block));
	row[5] = xc_cell_text(xc_confidence_word((enum xc_confidence)typed->confidence));
	if (typed->via)
		row[6] = xc_cell_text(typed->via);
}

static void show_largest(struct xc_section *s, const struct xc_heap *heap, const struct largest *l)
{
	struct xc_table *table = xc_section_table(s, "blocks", block_columns, l->retention ? ALL : SHARED);
	for (size_t i = 0; i < l->count; i++) {
		struct xc_cell row[ALL];
		fill_row(heap, l->items[i], row);
		if (l->retention) {
			row[SHARED] = xc_cell_bytes(l->retention->bytes[l->items[i]]);
			row[SHARED + 1] = xc_cell_count(l->retention->count[l->items[i]]);
		}
		xc_table_row(s, table, row);
	}
}

static void report_empty(struct xc_section *s, const struct xc_heap *heap)
{
	const char *empty = xc_heap_why_empty(heap);
	if (empty)
		xc_section_message(s, XC_INFO, NULL, "no blocks: %s", empty);
}

/* ---- sizes ---- */

struct sizes {
	uint64_t count[SIZE_CLASSES], bytes[SIZE_CLASSES];
};

static void show_sizes(struct xc_section *s, const struct sizes *sizes)
{
	static const struct xc_column columns[] = {
		{.key = "from", .label = "FROM", .kind = XC_FIELD_BYTES},
		{.key = "below", .label = "BELOW", .kind = XC_FIELD_BYTES},
		{.key = "blocks", .label = "BLOCKS", .kind = XC_FIELD_COUNT},
		{.key = "bytes", .label = "BYTES", .kind = XC_FIELD_BYTES},
	};
	struct xc_table *table = xc_section_table(s, "sizes", columns, XC_COUNT(columns));
	for (unsigned i = 0; i + 1 < SIZE_CLASSES; i++) {
		const struct xc_cell row[] = {xc_cell_bytes(i ? UINT64_C(1) << i : 0),
					      xc_cell_bytes(UINT64_C(1) << (i + 1)), xc_cell_count(sizes->count[i]),
					      xc_cell_bytes(sizes->bytes[i])};
		if (sizes->count[i])
			xc_table_row(s, table, row);
	}
}

static unsigned class_of(uint64_t size)
{
	return size ? 63 - (unsigned)__builtin_clzll(size) : 0;
}

struct xc_error *xc_top(struct xc_section *s, struct xc_heap *heap, size_t limit)
{
	struct largest l = {.blocks = &heap->blocks, .items = xc_alloc((limit + 1) * sizeof *l.items), .most = limit};
	struct sizes sizes = {.count = {0}};
	struct xc_error *err = xc_heap_analyze(heap);
	if (err)
		xc_section_note(s, err);
	for (uint32_t block = 0; block < heap->blocks.count; block++) {
		uint64_t size = xc_block_size(&heap->blocks, block);
		if (xc_block_is_free(xc_block_state(&heap->blocks, block)))
			continue;
		sizes.count[class_of(size)]++;
		sizes.bytes[class_of(size)] += size;
		offer(&l, block);
	}
	order(&l);
	show_largest(s, heap, &l);
	show_sizes(s, &sizes);
	report_empty(s, heap);
	free(l.items);
	return NULL;
}

/* ---- retained ---- */

/* Does its dominator have the same type? Then its row would repeat that one's: the first element of a list keeps
 * all others alive. */
static bool continues(const struct xc_heap *heap, const struct xc_retention *retention, uint32_t block)
{
	uint32_t above = retention->dominator[block];
	if (above == XC_NO_BLOCK || !heap->typing || !heap->typing->by_block[block])
		return false;
	const struct xc_typed *a = xc_typing_get(heap->typing, above), *b = xc_typing_get(heap->typing, block);
	return a && a->type == b->type;
}

struct xc_error *xc_top_retained(struct xc_section *s, struct xc_heap *heap, size_t limit)
{
	struct xc_retention *retention;
	struct xc_typing *typing;
	struct xc_error *err;
	if ((err = xc_typing_of(heap, &typing)) || (err = xc_retention_of(heap, &retention)))
		return err;
	struct largest l = {.blocks = &heap->blocks, .retention = retention, .most = limit};
	l.items = xc_alloc((limit + 1) * sizeof *l.items);
	for (uint32_t block = 0; block < heap->blocks.count; block++)
		if (retention->bytes[block] && !continues(heap, retention, block))
			offer(&l, block);
	order(&l);
	show_largest(s, heap, &l);
	xc_retention_by_type(s, retention, limit);
	xc_retention_by_holder(s, retention, limit);
	report_empty(s, heap);
	free(l.items);
	return NULL;
}
