/* graph_stale: links of an allocator's free lists that are left in live blocks.
 *
 * Some allocators keep the address of the next free block in the first word of a free one, and link the blocks of new
 * memory in the order of their addresses. A program that never writes to such a block leaves the link to the next
 * block there. It is no pointer of the program; but a program may store such a pointer too. So what only such links
 * reach is possibly leaked. */
#include "core/base/cursor.h"
#include "heap/blocks/allocator.h"
#include "heap/graph/graph_impl.h"

/* Only if the heap has one allocator, so that no block can be another one's. */
static bool leaves_links(const struct xc_heap *heap)
{
	return heap->part_count == 1 && heap->parts[0].allocator && heap->parts[0].allocator->leaves_links;
}

static bool is_zero(const uint8_t *bytes, uint64_t size)
{
	for (uint64_t i = 0; i < size; i++)
		if (bytes[i])
			return false;
	return true;
}

static bool is_stale(const struct xc_graph *graph, struct xc_window *window, uint32_t block)
{
	const struct xc_blocks *blocks = &graph->heap->blocks;
	unsigned word = graph->heap->process->arch->word;
	uint32_t next = block + 1;
	if (graph->start[next] - graph->start[block] != 1 || graph->to[graph->start[block]] != next ||
	    xc_block_state(blocks, block) != XC_BLOCK_LIVE)
		return false;
	uint64_t size = xc_block_size(blocks, block);
	xc_addr addr = xc_block_addr(blocks, block);
	if (size < 2 * word || size > XC_WINDOW_COPY || xc_block_size(blocks, next) != size ||
	    xc_block_addr(blocks, next) != addr + size)
		return false;
	const uint8_t *bytes = xc_window(window, addr, size);
	return bytes && xc_load_uint(bytes, word, graph->heap->process->arch->big_endian) == addr + size &&
	       is_zero(bytes + word, size - word);
}

uint64_t *xc_graph_find_stale(const struct xc_graph *graph)
{
	size_t count = graph->heap->blocks.count;
	uint64_t *bits = NULL;
	struct xc_window window;
	if (!leaves_links(graph->heap))
		return NULL;
	xc_window_init(&window, graph->heap->process->space);
	for (uint32_t i = 0; i + 1 < count; i++) {
		if (!is_stale(graph, &window, i))
			continue;
		if (!bits)
			bits = xc_alloc((count / 64 + 1) * sizeof *bits);
		bits[i >> 6] |= UINT64_C(1) << (i & 63);
	}
	xc_window_fini(&window);
	return bits;
}

uint32_t xc_graph_stale_holder(const struct xc_graph *graph, uint32_t block)
{
	return graph->stale && block && xc_graph_bit(graph->stale, block - 1) ? block - 1 : XC_NO_BLOCK;
}
