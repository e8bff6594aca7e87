#include "heap/query/typing_report.h"

#include <stdlib.h>
#include <string.h>

#include "heap/types/typing_engine.h"
#include "heap/session/session.h"

enum { ROWS = 40, STACK = 1 << 20 };

/* ---- types ---- */

struct row {
	uint32_t map;
	uint64_t blocks, bytes, elements, by_confidence[XC_TYPE_EXACT + 1], conflicting;
};

struct sums {
	uint64_t blocks, bytes, typed_bytes, by_confidence[XC_TYPE_EXACT + 1], conflicting;
	struct row *rows; /* by map */
};

static void add_block(struct sums *s, const struct xc_typing *typing, uint32_t block)
{
	const struct xc_engine *e = xc_engine_of(typing);
	uint32_t item = typing->by_block[block];
	const struct xc_typed *typed = &typing->items[item];
	uint64_t bytes = xc_block_size(&typing->heap->blocks, block);
	struct row *row = &s->rows[e->maps[e->facts[item].map]->base];
	s->blocks++;
	s->bytes += bytes;
	s->by_confidence[item ? typed->confidence : XC_TYPE_UNTYPED]++;
	s->typed_bytes += item ? bytes : 0;
	s->conflicting += item && typed->conflicting;
	row->blocks++;
	row->bytes += bytes;
	row->conflicting += item && typed->conflicting;
	row->by_confidence[typed->confidence]++;
	row->elements += item ? typed->shape == XC_TYPED_ARRAY ? xc_typing_count(typing, block) : 1 : 0;
}

static int by_bytes(const void *a, const void *b)
{
	const struct row *x = a, *y = b;
	if (x->bytes != y->bytes)
		return x->bytes > y->bytes ? -1 : 1;
	return x->map < y->map ? -1 : x->map > y->map;
}

static double share(uint64_t part, uint64_t whole)
{
	return whole ? (double)part / (double)whole : 0;
}

static void add_totals(struct xc_section *section, const struct sums *s)
{
	uint64_t typed = s->blocks - s->by_confidence[XC_TYPE_UNTYPED];
	section->headline =
		xc_arena_printf(&section->report->arena, "%.1f %% of live blocks typed, %.1f %% of their bytes",
				100 * share(typed, s->blocks), 100 * share(s->typed_bytes, s->bytes));
	xc_section_count(section, "blocks", "live blocks", s->blocks);
	xc_section_bytes(section, "bytes", "bytes", s->bytes);
	xc_section_cell(section, "typed", "typed blocks", xc_cell_ratio(share(typed, s->blocks)));
	xc_section_cell(section, "typed_bytes", "typed bytes", xc_cell_ratio(share(s->typed_bytes, s->bytes)));
	xc_section_count(section, "exact", "exact", s->by_confidence[XC_TYPE_EXACT]);
	xc_section_count(section, "strong", "strong", s->by_confidence[XC_TYPE_STRONG]);
	xc_section_count(section, "weak", "weak", s->by_confidence[XC_TYPE_WEAK]);
	xc_section_count(section, "untyped", "untyped", s->by_confidence[XC_TYPE_UNTYPED]);
	if (s->conflicting)
		xc_section_count(section, "conflicting", "with other evidence", s->conflicting);
}

static void add_rows(struct xc_section *section, const struct xc_engine *e, const struct sums *s, size_t limit)
{
	static const struct xc_column columns[] = {
		{"type", "TYPE", XC_FIELD_TEXT, false},       {"blocks", "BLOCKS", XC_FIELD_COUNT, false},
		{"objects", "OBJECTS", XC_FIELD_COUNT, true}, {"bytes", "BYTES", XC_FIELD_BYTES, false},
		{"share", "SHARE", XC_FIELD_RATIO, false},    {"exact", "EXACT", XC_FIELD_COUNT, true},
		{"strong", "STRONG", XC_FIELD_COUNT, true},   {"weak", "WEAK", XC_FIELD_COUNT, true},
	};
	struct xc_table *table = xc_section_table(section, "types", columns, XC_COUNT(columns));
	uint64_t left_bytes = 0;
	size_t shown = 0, left = 0;
	for (size_t i = 0; i < e->map_count && s->rows[i].blocks; i++) {
		const struct row *row = &s->rows[i];
		bool typed = row->map != XC_NO_MAP;
		if (shown >= limit) {
			left++;
			left_bytes += row->bytes;
			continue;
		}
		shown++;
		const struct xc_cell cells[] = {
			typed ? xc_cell_text(e->maps[row->map]->name) : xc_cell_null("no type"),
			xc_cell_count(row->blocks),
			typed ? xc_cell_count(row->elements) : xc_cell_null(NULL),
			xc_cell_bytes(row->bytes),
			xc_cell_ratio(share(row->bytes, s->bytes)),
			xc_cell_count(row->by_confidence[XC_TYPE_EXACT]),
			xc_cell_count(row->by_confidence[XC_TYPE_STRONG]),
			xc_cell_count(row->by_confidence[XC_TYPE_WEAK]),
		};
		xc_table_row(section, table, cells);
	}
	if (left) {
		struct xc_text text = {0};
		xc_text_size(&text, left_bytes);
		xc_section_message(section, XC_INFO, "--limit N shows more", "%zu more types, %s in all", left,
				   xc_text_string(&text));
		xc_text_fini(&text);
	}
}

void xc_typing_or_note(struct xc_section *section, struct xc_heap *heap)
{
	struct xc_error *err = xc_heap_analyze(heap);
	if (err)
		xc_section_note(section, err);
}

static void report_unknown(struct xc_section *section, struct xc_heap *heap, size_t limit);

void xc_typing_report(struct xc_section *section, struct xc_heap *heap, const struct xc_typing_options *options)
{
	struct xc_typing *typing;
	struct xc_error *err = xc_typing_of(heap, &typing);
	if (err) {
		xc_section_note(section, err);
		return;
	}
	const struct xc_engine *e = typing->state;
	struct sums sums = {.rows = xc_alloc((e->map_count + 1) * sizeof *sums.rows)};
	for (uint32_t i = 0; i < e->map_count; i++)
		sums.rows[i].map = i;
	for (size_t i = 0; i < heap->blocks.count; i++)
		if (!xc_block_is_free(xc_block_state(&heap->blocks, (uint32_t)i)))
			add_block(&sums, typing, (uint32_t)i);
	qsort(sums.rows, e->map_count, sizeof *sums.rows, by_bytes);
	add_totals(section, &sums);
	if (!e->root_count)
		xc_section_message(section, XC_WARNING, "`xcore modules` shows which debug information is missing",
				   "no variable of the program has a known type");
	if (typing->refused)
		xc_section_message(
			section, XC_WARNING, NULL,
			"%zu facts about types were dropped, since only %zu are kept: some blocks have no type, or a "
			"less certain one",
			typing->refused, typing->item_count);
	if (e->cut)
		xc_section_message(section, XC_WARNING, NULL,
				   "some objects, or sizes of blocks, would have taken too long to examine: their "
				   "evidence for types is incomplete");
	add_rows(section, e, &sums, options->limit ? options->limit : ROWS);
	free(sums.rows);
	if (options->unknown)
		report_unknown(section, heap, options->limit);
}

/* ---- unknown types ---- */

/* A member or variable whose pointers lead to blocks without a type. */
struct site {
	const struct xc_typemap_slot *slot;
	uint64_t pointers, blocks, bytes, reach_blocks, reach_bytes;
	uint32_t *first; /* blocks */
	size_t first_count, first_capacity;
};

struct sites {
	struct xc_engine *engine;
	struct xc_pointer_map by_slot;
	struct xc_arena memory;
	struct site **items;
	size_t count, capacity;
	uint64_t *seen; /* a bit for each block: of the site being followed, or found by any */
};

static bool take(uint64_t *bits, uint32_t block)
{
	uint64_t bit = (uint64_t)1 << (block & 63);
	bool had = bits[block >> 6] & bit;
	bits[block >> 6] |= bit;
	return !had;
}

static void see_unknown(void *context, const struct xc_hit *hit)
{
	struct sites *s = context;
	if (s->engine->typing->by_block[hit->block])
		return;
	void **known = xc_pointer_map_at(&s->by_slot, &s->memory, hit->slot, NULL);
	if (!*known) {
		struct site *site = xc_arena_alloc(&s->memory, sizeof *site);
		site->slot = hit->slot;
		*known = site;
		s->items = xc_grow(s->items, s->count, &s->capacity, sizeof *s->items);
		s->items[s->count++] = site;
	}
	struct site *site = *known;
	site->pointers++;
	if (!take(s->seen, hit->block))
		return;
	site->blocks++;
	site->bytes += xc_block_size(&s->engine->heap->blocks, hit->block);
	site->first = xc_grow(site->first, site->first_count, &site->first_capacity, sizeof *site->first);
	site->first[site->first_count++] = hit->block;
}

/* Counts the blocks without a type that can be reached from the site's targets through such blocks only. */
static void measure(struct sites *s, struct site *site, const struct xc_graph *graph, uint32_t *stack)
{
	const struct xc_engine *e = s->engine;
	size_t depth = 0;
	memset(s->seen, 0, (e->heap->blocks.count / 64 + 1) * sizeof *s->seen);
	for (size_t i = 0; i < site->first_count; i++) {
		if (take(s->seen, site->first[i]))
			stack[depth++] = site->first[i];
		while (depth) {
			uint32_t block = stack[--depth];
			site->reach_blocks++;
			site->reach_bytes += xc_block_size(&e->heap->blocks, block);
			for (uint32_t k = graph->start[block]; k < graph->start[block + 1]; k++) {
				uint32_t to = graph->to[k] & ~XC_EDGE_INTERIOR;
				if (depth < STACK - 1 && !e->typing->by_block[to] && take(s->seen, to))
					stack[depth++] = to;
			}
		}
	}
}

static int by_reach(const void *a, const void *b)
{
	const struct site *x = *(struct site *const *)a, *y = *(struct site *const *)b;
	if (x->reach_bytes != y->reach_bytes)
		return x->reach_bytes > y->reach_bytes ? -1 : 1;
	if (x->bytes != y->bytes)
		return x->bytes > y->bytes ? -1 : 1;
	return x->slot->number < y->slot->number ? -1 : x->slot->number > y->slot->number;
}

static void show_sites(struct xc_section *section, struct sites *s, size_t limit)
{
	static const struct xc_column columns[] = {
		{"pointer", "POINTER", XC_FIELD_TEXT, false},
		{"declared", "DECLARED", XC_FIELD_TEXT, false},
		{"blocks", "BLOCKS", XC_FIELD_COUNT, false},
		{"bytes", "BYTES", XC_FIELD_BYTES, false},
		{"opens_blocks", "OPENS BLOCKS", XC_FIELD_COUNT, true},
		{"opens_bytes", "OPENS", XC_FIELD_BYTES, false},
	};
	const struct xc_engine *e = s->engine;
	if (!s->count) {
		xc_section_message(section, XC_INFO, NULL, "no typed pointer leads to a block without a type");
		return;
	}
	struct xc_table *table = xc_section_table(section, "unknown", columns, XC_COUNT(columns));
	for (size_t i = 0; i < s->count && i < limit; i++) {
		const struct site *site = s->items[i];
		const struct xc_typemap_slot *slot = site->slot;
		struct xc_text name = {0}, declared = {0};
		xc_text_printf(&name, "%s%s%s", e->maps[slot->owner]->name, *slot->path ? "." : "", slot->path);
		xc_text_printf(&declared, "%s *", slot->target ? e->maps[slot->target]->name : "void");
		const struct xc_cell cells[] = {
			xc_cell_text(xc_text_string(&name)), xc_cell_text(xc_text_string(&declared)),
			xc_cell_count(site->blocks),         xc_cell_bytes(site->bytes),
			xc_cell_count(site->reach_blocks),   xc_cell_bytes(site->reach_bytes),
		};
		xc_table_row(section, table, cells);
		xc_text_fini(&name);
		xc_text_fini(&declared);
	}
}

/* The pointers that lead to blocks without a type: a row for each member or variable, ordered by the bytes without
 * a type that can be reached through it. */
static void report_unknown(struct xc_section *section, struct xc_heap *heap, size_t limit)
{
	struct xc_typing *typing;
	struct xc_graph *graph;
	struct xc_error *err = xc_typing_of(heap, &typing);
	if (err || (err = xc_graph_of(heap, &graph))) {
		xc_section_note(section, err);
		return;
	}
	struct sites s = {.engine = typing->state, .seen = xc_alloc((heap->blocks.count / 64 + 1) * sizeof *s.seen)};
	uint32_t *stack = xc_alloc(STACK * sizeof *stack);
	limit = limit ? limit : ROWS;
	xc_typing_each_hit(s.engine, false, see_unknown, &s);
	if (s.count)
		qsort(s.items, s.count, sizeof *s.items, by_reach); /* by bytes, for now */
	for (size_t i = 0; i < s.count && i < 2 * limit; i++)
		measure(&s, s.items[i], graph, stack);
	if (s.count)
		qsort(s.items, s.count, sizeof *s.items, by_reach);
	show_sites(section, &s, limit);
	for (size_t i = 0; i < s.count; i++)
		free(s.items[i]->first);
	free(s.items);
	free(s.seen);
	free(stack);
	xc_arena_fini(&s.memory);
}
