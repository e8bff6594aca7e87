/* layer: heap
 *
 * glibc's heap: the input is a list of changes to a small intact heap. Each has an offset (two bytes; from 0x8000 on
 * into libc's data, otherwise in 8-byte steps into the heap), a length (one byte) and that many bytes. */
#include <stdlib.h>

#include "heap/report/audit.h"
#include "heap/session/session.h"
#include "tests/support/chunks.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { DATA_FROM = 0x8000, MOST_CHANGES = 64 };

static void must(bool ok)
{
	if (!ok)
		abort();
}

static void change(struct chunks *c, const uint8_t *data, size_t size)
{
	for (int i = 0; i < MOST_CHANGES && size >= 3; i++) {
		size_t at = (size_t)data[0] | (size_t)data[1] << 8, len = data[2];
		data += 3, size -= 3;
		len = len < size ? len : size;
		uint8_t *to = at >= DATA_FROM ? c->data + at % CHUNKS_DATA : c->heap + at * 8 % CHUNKS_HEAP;
		size_t room = (size_t)(at >= DATA_FROM ? c->data + CHUNKS_DATA - to : c->heap + CHUNKS_HEAP - to);
		memcpy(to, data, len < room ? len : room);
		data += len, size -= len;
	}
}

static void check(const struct xc_heap *heap)
{
	const struct xc_blocks *blocks = &heap->blocks;
	for (uint32_t i = 0; i < blocks->count; i++) {
		xc_addr lo = xc_block_addr(blocks, i);
		must(xc_block_state(blocks, i) < XC_BLOCK_STATES);
		must(i == 0 || xc_block_addr(blocks, i - 1) + xc_block_size(blocks, i - 1) <= lo);
		must(xc_blocks_find(blocks, lo) == i);
	}
	for (size_t i = 0; i < heap->damage_count; i++)
		must(heap->damages[i].what &&
		     (heap->damages[i].before == XC_NO_BLOCK || heap->damages[i].before < blocks->count));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct chunks *c = chunks_new();
	change(c, data, size);
	struct xc_heap *heap = xc_heap_open(c->process, &(struct xc_heap_options){.jobs = 1});
	struct xc_report *report = xc_report_new("fuzz");
	xc_audit(xc_report_section(report, "check", "Heap"), heap);
	check(heap);
	xc_report_free(report);
	xc_heap_close(heap);
	chunks_free(c);
	return 0;
}
