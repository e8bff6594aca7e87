#include "heap/report/summary.h"

#include <stdlib.h>
#include <string.h>

#include "heap/blocks/allocator.h"
#include "heap/graph/graph.h"

/* ---- the balance of the process ---- */

enum owner {
	OWNER_LIVE,
	OWNER_FREE,
	OWNER_UNKNOWN,
	OWNER_OVERHEAD,
	OWNER_STACK,
	OWNER_CODE,
	OWNER_DATA,
	OWNER_FILE,
	OWNER_SHARED,
	OWNER_RESERVED,
	OWNER_OTHER,
	OWNERS,
};

static const struct {
	const char *key, *label;
} names[OWNERS] = {
	[OWNER_LIVE] = {"heap_live", "heap: live blocks"},
	[OWNER_FREE] = {"heap_free", "heap: free blocks"},
	[OWNER_UNKNOWN] = {"heap_unknown", "heap: blocks with damaged headers"},
	[OWNER_OVERHEAD] = {"heap_overhead", "heap: headers, padding, never used"},
	[OWNER_STACK] = {"stacks", "stacks of threads"},
	[OWNER_CODE] = {"module_code", "modules: code and constants"},
	[OWNER_DATA] = {"module_data", "modules: data"},
	[OWNER_FILE] = {"files", "mapped files"},
	[OWNER_SHARED] = {"shared", "shared memory"},
	[OWNER_RESERVED] = {"reserved", "reserved, without access"},
	[OWNER_OTHER] = {"other", "other anonymous memory"},
};

struct ledger {
	uint64_t bytes[OWNERS], mappings[OWNERS];
	uint64_t mapped, heap;
};

static bool is_stack(const struct xc_process *process, const struct xc_mapping *m)
{
	if (m->label && strncmp(m->label, "[stack", strlen("[stack")) == 0)
		return true;
	for (size_t i = 0; i < process->thread_count; i++) {
		uint64_t sp;
		if (process->threads[i].has_regs && xc_regs_get(&process->threads[i].regs, process->arch->sp, &sp) &&
		    sp >= m->lo && sp <= m->hi)
			return true;
	}
	return false;
}

static enum owner owner_of(const struct xc_process *process, const struct xc_mapping *m)
{
	const struct xc_module *module = xc_process_module(process, m->lo);
	if (module)
		return m->writable ? OWNER_DATA : OWNER_CODE;
	if (m->path)
		return m->shared && m->writable ? OWNER_SHARED : OWNER_FILE;
	if (m->shared)
		return OWNER_SHARED;
	if (!m->readable && !m->writable && !m->executable)
		return OWNER_RESERVED;
	return is_stack(process, m) ? OWNER_STACK : OWNER_OTHER;
}

/* Bytes of a mapping that allocators manage. Both arrays are in address order; `next` advances with the mappings. */
static uint64_t managed_bytes(const struct xc_heap *heap, const struct xc_mapping *m, size_t *next)
{
	uint64_t bytes = 0;
	while (*next < heap->region_count && heap->regions[*next].hi < m->lo)
		++*next;
	for (size_t i = *next; i < heap->region_count && heap->regions[i].lo <= m->hi; i++) {
		xc_addr lo = heap->regions[i].lo > m->lo ? heap->regions[i].lo : m->lo;
		xc_addr hi = heap->regions[i].hi < m->hi ? heap->regions[i].hi : m->hi;
		bytes += hi - lo + 1;
	}
	return bytes;
}

static struct ledger keep_ledger(const struct xc_heap *heap, const struct xc_heap_totals *totals)
{
	const struct xc_process *process = heap->process;
	struct ledger ledger = {.mapped = 0};
	size_t next = 0;
	for (size_t i = 0; i < process->mapping_count; i++) {
		const struct xc_mapping *m = &process->mappings[i];
		uint64_t size = m->hi - m->lo + 1, managed = managed_bytes(heap, m, &next);
		managed = managed < size ? managed : size;
		ledger.mapped += size;
		ledger.heap += managed;
		if (managed == size)
			continue;
		enum owner owner = owner_of(process, m);
		ledger.bytes[owner] += size - managed;
		ledger.mappings[owner]++;
	}
	for (unsigned state = 0; state < XC_BLOCK_STATES; state++)
		ledger.bytes[state == XC_BLOCK_LIVE                         ? OWNER_LIVE
			     : xc_block_is_free((enum xc_block_state)state) ? OWNER_FREE
									    : OWNER_UNKNOWN] += totals->bytes[state];
	uint64_t blocks = ledger.bytes[OWNER_LIVE] + ledger.bytes[OWNER_FREE] + ledger.bytes[OWNER_UNKNOWN];
	ledger.bytes[OWNER_OVERHEAD] = ledger.heap > blocks ? ledger.heap - blocks : 0;
	return ledger;
}

static void show_ledger(struct xc_section *s, const struct ledger *ledger)
{
	static const struct xc_column columns[] = {
		{.key = "what", .label = "MEMORY", .kind = XC_FIELD_TEXT},
		{.key = "bytes", .label = "BYTES", .kind = XC_FIELD_BYTES},
		{.key = "share", .label = "SHARE", .kind = XC_FIELD_RATIO},
		{.key = "owner", .label = "KEY", .kind = XC_FIELD_TEXT, .verbose = true},
	};
	struct xc_table *table = xc_section_table(s, "ledger", columns, XC_COUNT(columns));
	for (unsigned owner = 0; owner < OWNERS; owner++) {
		if (!ledger->bytes[owner])
			continue;
		double share = ledger->mapped ? (double)ledger->bytes[owner] / (double)ledger->mapped : 0;
		const struct xc_cell row[] = {xc_cell_text(names[owner].label), xc_cell_bytes(ledger->bytes[owner]),
					      xc_cell_ratio(share), xc_cell_text(names[owner].key)};
		xc_table_row(s, table, row);
	}
	const struct xc_cell sum[] = {xc_cell_text("all that is mapped"), xc_cell_bytes(ledger->mapped),
				      xc_cell_ratio(ledger->mapped ? 1 : 0), xc_cell_text("mapped")};
	xc_table_row(s, table, sum);
}

/* ---- arenas ---- */

struct share {
	uint64_t live, live_bytes, free, free_bytes, managed;
};

/* Regions and blocks are both in address order, and every block lies in a region. */
static struct share *count_arenas(const struct xc_heap *heap)
{
	struct share *shares = xc_alloc((heap->arena_count + 1) * sizeof *shares);
	uint32_t block = 0;
	for (size_t i = 0; i < heap->region_count; i++) {
		const struct xc_region *region = &heap->regions[i];
		struct share *share = &shares[region->arena < heap->arena_count ? region->arena : heap->arena_count];
		share->managed += region->hi - region->lo + 1;
		while (block < heap->blocks.count && xc_block_addr(&heap->blocks, block) < region->lo)
			block++;
		for (; block < heap->blocks.count && xc_block_addr(&heap->blocks, block) <= region->hi; block++) {
			enum xc_block_state state = xc_block_state(&heap->blocks, block);
			bool live = !xc_block_is_free(state);
			*(live ? &share->live : &share->free) += 1;
			*(live ? &share->live_bytes : &share->free_bytes) += xc_block_size(&heap->blocks, block);
		}
	}
	return shares;
}

/* A group without an arena, such as mmapped chunks, is shown if it has memory. */
static bool is_used(const struct xc_heap_arena *arena, uint64_t managed)
{
	return arena->addr || managed;
}

/* Beside arenas a group of mmapped chunks is none. */
static bool has_arenas(const struct xc_heap *heap, const struct xc_allocator *allocator)
{
	for (size_t i = 0; i < heap->arena_count; i++)
		if (heap->arenas[i].allocator == allocator && heap->arenas[i].addr)
			return true;
	return false;
}

size_t xc_heap_summary_arenas(const struct xc_heap *heap)
{
	struct share *shares = count_arenas(heap);
	size_t count = 0;
	for (size_t i = 0; i < heap->arena_count; i++) {
		const struct xc_heap_arena *arena = &heap->arenas[i];
		count += is_used(arena, shares[i].managed) && (arena->addr || !has_arenas(heap, arena->allocator));
	}
	free(shares);
	return count;
}

static void show_arenas(struct xc_section *s, const struct xc_heap *heap)
{
	static const struct xc_column columns[] = {
		{.key = "arena", .label = "ARENA", .kind = XC_FIELD_TEXT},
		{.key = "allocator", .label = "ALLOCATOR", .kind = XC_FIELD_TEXT, .verbose = true},
		{.key = "addr", .label = "AT", .kind = XC_FIELD_ADDRESS, .verbose = true},
		{.key = "live_bytes", .label = "LIVE", .kind = XC_FIELD_BYTES},
		{.key = "live", .label = "BLOCKS", .kind = XC_FIELD_COUNT},
		{.key = "free_bytes", .label = "FREE", .kind = XC_FIELD_BYTES},
		{.key = "free", .label = "BLOCKS", .kind = XC_FIELD_COUNT},
		{.key = "managed", .label = "OF", .kind = XC_FIELD_BYTES},
		{.key = "evidence", .label = "FOUND BY", .kind = XC_FIELD_TEXT, .verbose = true},
	};
	struct share *shares = count_arenas(heap);
	struct xc_table *table = xc_section_table(s, "arenas", columns, XC_COUNT(columns));
	for (size_t i = 0; i < heap->arena_count; i++) {
		const struct xc_heap_arena *arena = &heap->arenas[i];
		const struct xc_cell row[] = {
			xc_cell_text(arena->name),
			xc_cell_text(arena->allocator->name),
			arena->addr ? xc_cell_address(arena->addr) : xc_cell_null(NULL),
			xc_cell_bytes(shares[i].live_bytes),
			xc_cell_count(shares[i].live),
			xc_cell_bytes(shares[i].free_bytes),
			xc_cell_count(shares[i].free),
			xc_cell_bytes(shares[i].managed),
			arena->evidence ? xc_cell_text(arena->evidence) : xc_cell_null(NULL),
		};
		if (is_used(arena, shares[i].managed))
			xc_table_row(s, table, row);
	}
	free(shares);
}

/* ---- totals ---- */

static uint64_t sum_free(const uint64_t numbers[XC_BLOCK_STATES])
{
	uint64_t sum = 0;
	for (unsigned state = 0; state < XC_BLOCK_STATES; state++)
		sum += xc_block_is_free((enum xc_block_state)state) ? numbers[state] : 0;
	return sum;
}

static void show_free(struct xc_section *s, const struct xc_heap_totals *totals)
{
	for (unsigned state = 0; state < XC_BLOCK_STATES; state++) {
		const char *word = xc_block_free_word((enum xc_block_state)state);
		if (!word || !totals->count[state])
			continue;
		xc_auto(xc_freep) char *key = xc_asprintf("free_%s", word);
		xc_auto(xc_freep) char *label = xc_asprintf("free, %s", word);
		xc_auto(xc_freep) char *count_key = xc_asprintf("free_%s_blocks", word);
		xc_section_bytes(s, key, label, totals->bytes[state]);
		xc_section_count(s, count_key, "blocks", totals->count[state])->quiet = true;
	}
}

static void show_trouble(struct xc_section *s, const struct xc_heap *heap)
{
	bool live = heap->process->live; /* the heap was walked once, while it changed */
	if (heap->damage_count)
		xc_section_message(s, live ? XC_WARNING : XC_PROBLEM,
				   live ? "xcore heap check TARGET examines it again" : "xcore heap check TARGET",
				   "the heap %s in at least %zu%s place%s",
				   live ? "looks damaged, or was changing," : "is damaged", heap->damage_count,
				   heap->damage_dropped ? " and more" : "", heap->damage_count == 1 ? "" : "s");
	if (heap->blocks.left_out)
		xc_section_message(s, XC_WARNING, NULL,
				   "%zu blocks were left out: they overlap others or have impossible addresses",
				   heap->blocks.left_out);
	if (heap->pieces_dropped)
		xc_section_message(
			s, XC_WARNING, NULL,
			"%zu parts of the heap were left out: their metadata claim more blocks than the core "
			"has memory for",
			heap->pieces_dropped);
	const char *empty = xc_heap_why_empty(heap);
	if (empty)
		xc_section_message(s, XC_INFO, NULL, "no blocks: %s", empty);
}

static void show_leaks(struct xc_section *s, struct xc_heap *heap)
{
	struct xc_graph *graph;
	uint64_t count = 0, bytes = 0;
	struct xc_error *err = heap->blocks.count <= XC_SUMMARY_LEAKS ? xc_graph_of(heap, &graph) : NULL;
	if (err || heap->blocks.count > XC_SUMMARY_LEAKS) {
		xc_section_unknown(s, "leaked", "leaked", "not counted: xcore heap leaks");
		xc_error_free(err);
		return;
	}
	for (uint32_t block = 0; block < heap->blocks.count; block++)
		if (xc_graph_leaked(graph, block)) {
			count++;
			bytes += xc_block_size(&heap->blocks, block);
		}
	xc_section_bytes(s, "leaked", "leaked", bytes);
	xc_section_count(s, "leaked_blocks", "leaked blocks", count);
}

void xc_heap_summary_brief(struct xc_section *s, struct xc_heap *heap)
{
	struct xc_heap_totals totals = xc_heap_totals(heap);
	if (heap->blocks.count) {
		xc_section_bytes(s, "live", "live", totals.bytes[XC_BLOCK_LIVE]);
		xc_section_count(s, "live_blocks", "blocks", totals.count[XC_BLOCK_LIVE]);
		xc_section_bytes(s, "free", "free", sum_free(totals.bytes));
		xc_section_count(s, "arenas", "arenas", xc_heap_summary_arenas(heap));
		show_leaks(s, heap);
	}
	show_trouble(s, heap);
}

void xc_heap_summary(struct xc_section *s, struct xc_heap *heap)
{
	struct xc_heap_totals totals = xc_heap_totals(heap);
	struct ledger ledger = keep_ledger(heap, &totals);
	xc_section_bytes(s, "live", "live", totals.bytes[XC_BLOCK_LIVE]);
	xc_section_count(s, "live_blocks", "blocks", totals.count[XC_BLOCK_LIVE]);
	xc_section_bytes(s, "free", "free", sum_free(totals.bytes));
	xc_section_count(s, "free_blocks", "blocks", sum_free(totals.count))->quiet = true;
	show_free(s, &totals);
	xc_section_bytes(s, "overhead", "overhead", ledger.bytes[OWNER_OVERHEAD]);
	if (heap->arena_count)
		show_arenas(s, heap);
	show_ledger(s, &ledger);
	show_trouble(s, heap);
}
