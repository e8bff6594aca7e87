/* What the report of leaks does not count, and why it may be wrong. */
#include "heap/report/leaks_notes.h"

#include <inttypes.h>

#include "heap/graph/graph.h"

/* "1,234,567" */
void xc_leaks_add_count(struct xc_text *text, uint64_t count)
{
	if (count >= 1000) {
		xc_leaks_add_count(text, count / 1000);
		xc_text_printf(text, ",%03" PRIu64, count % 1000);
	} else {
		xc_text_printf(text, "%" PRIu64, count);
	}
}

static void add_uncertainty(struct xc_section *s, const struct xc_heap *heap)
{
	const struct xc_graph *graph = heap->graph;
	const char *empty = xc_heap_why_empty(heap);
	if (empty)
		xc_section_message(s, XC_WARNING, NULL, "no blocks: %s", empty);
	if (graph->missing_roots + graph->missing_blocks) {
		struct xc_text size = {0};
		xc_text_size(&size, graph->missing_roots + graph->missing_blocks);
		xc_section_message(s, XC_WARNING, NULL,
				   "%s of memory that may hold pointers could not be read: apparent leaks may be none",
				   xc_text_string(&size));
		xc_text_fini(&size);
	}
	if (graph->threads_without_regs)
		xc_section_message(s, XC_INFO, NULL,
				   "%zu threads have no registers: blocks that only these point to appear leaked",
				   graph->threads_without_regs);
	if (heap->damage_count || heap->damage_dropped)
		xc_section_message(s, XC_WARNING, NULL, "the heap %s: blocks that could not be found are not included",
				   heap->process->live ? "looks damaged, or was changing" : "is damaged");
}

static void add_uncounted(struct xc_section *s, const struct xc_heap *heap, bool possible)
{
	struct xc_heap_totals totals = xc_heap_totals(heap);
	uint64_t interior = 0, stale = 0;
	for (uint32_t i = 0; i < heap->blocks.count; i++) {
		bool only_stale = xc_graph_only_stale(heap->graph, i);
		stale += only_stale;
		interior += !only_stale && xc_graph_possibly_leaked(heap->graph, i);
	}
	xc_section_count(s, "live_blocks", "live blocks", totals.count[XC_BLOCK_LIVE])->quiet = true;
	xc_section_bytes(s, "live_bytes", "live", totals.bytes[XC_BLOCK_LIVE])->quiet = true;
	xc_section_count(s, "cached", "in thread caches, free", totals.count[XC_BLOCK_CACHED])->quiet = true;
	if (!possible)
		xc_section_count(s, "interior_only", "interior pointers only", interior)->quiet = true;
	if (!possible && stale)
		xc_section_count(s, "stale_only", "stale words only", stale)->quiet = true;
	if (possible || (interior + stale == 0 && totals.count[XC_BLOCK_CACHED] == 0))
		return;
	struct xc_text text = {0};
	if (totals.count[XC_BLOCK_CACHED]) {
		xc_leaks_add_count(&text, totals.count[XC_BLOCK_CACHED]);
		xc_text_printf(&text, " block%s in thread caches (free)%s",
			       totals.count[XC_BLOCK_CACHED] == 1 ? "" : "s", interior + stale ? ", " : "");
	}
	if (interior) {
		xc_leaks_add_count(&text, interior);
		xc_text_printf(&text, " reached %s", xc_graph_only_interior(heap->graph));
		xc_text_add(&text, stale ? ", " : "");
	}
	if (stale) {
		xc_leaks_add_count(&text, stale);
		xc_text_add(&text, " only through words that seem stale");
	}
	xc_section_message(s, XC_INFO, interior + stale ? "--possible lists the latter" : NULL, "not counted: %s",
			   xc_text_string(&text));
	xc_text_fini(&text);
}

void xc_leaks_add_notes(struct xc_section *section, const struct xc_heap *heap, bool possible)
{
	add_uncounted(section, heap, possible);
	add_uncertainty(section, heap);
}
