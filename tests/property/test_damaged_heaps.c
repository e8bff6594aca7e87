/* layer: heap
 *
 * A heap of some thousand blocks with random damage in its memory and in malloc's own state, against the program's list
 * of its blocks. Its memory is copied over the core's, so that a case costs a walk and no file. */
#include "tests/support/opened.h"

#include "core/report/report.h"
#include "heap/blocks/allocator.h"
#include "heap/report/audit.h"
#include "heap/session/session.h"
#include "tests/support/property.h"
#include "tests/support/smashed.h"

enum { RANGES = 16, MOST_DAMAGE = 6, STATE_BYTES = 0x898, FEW = 40, CASES = 150 };

/* Memory to be damaged: our copy, and the original. */
struct range {
	xc_addr lo, hi;
	uint8_t *bytes, *whole;
};

static struct smashed *book;
static struct xc_process *process;
static struct range ranges[RANGES];
static size_t range_count, heap_ranges; /* those of blocks come first */
static struct smashed_block *chunks;    /* of the undamaged heap: all blocks */
static size_t chunk_count;
static size_t worst_headers, worst_lost, all_headers, all_lost, cases, exceptions;

/* ---- our own memory ---- */

static void take_range(xc_addr lo, xc_addr hi)
{
	struct range *r = &ranges[range_count];
	assert_true(range_count < RANGES);
	size_t size = hi - lo + 1;
	*r = (struct range){lo, hi, xc_alloc(size), xc_alloc(size)};
	CHECK_OK(xc_space_read(process->space, lo, r->whole, size));
	memcpy(r->bytes, r->whole, size);
	xc_space_add(process->space,
		     &(struct xc_segment){.lo = lo, .hi = hi, .provenance = XC_FROM_CORE, .bytes = r->bytes});
	range_count++;
}

static void take_memory(const struct xc_heap *heap)
{
	for (size_t i = 0; i < heap->region_count; i++)
		take_range(heap->regions[i].lo, heap->regions[i].hi);
	heap_ranges = range_count;
	for (size_t i = 0; i < heap->arena_count; i++)
		if (heap->arenas[i].addr)
			take_range(heap->arenas[i].addr, heap->arenas[i].addr + STATE_BYTES - 1);
	xc_space_seal(process->space);
}

static void take_chunks(const struct xc_heap *heap)
{
	chunk_count = heap->blocks.count;
	chunks = xc_alloc(chunk_count * sizeof *chunks);
	for (uint32_t i = 0; i < chunk_count; i++)
		chunks[i] = (struct smashed_block){xc_block_addr(&heap->blocks, i), xc_block_size(&heap->blocks, i)};
}

static int set_up(void **state)
{
	(void)state;
	book = smashed_new("none");
	process = open_core(book->core);
	struct xc_heap *heap = xc_heap_open(process, NULL);
	take_chunks(heap);
	take_memory(heap);
	xc_heap_close(heap);
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	close_process(process);
	for (size_t i = 0; i < range_count; i++) {
		free(ranges[i].bytes);
		free(ranges[i].whole);
	}
	free(chunks);
	free(book);
	return 0;
}

/* ---- damage ---- */

static struct range *range_of(xc_addr addr)
{
	for (size_t i = 0; i < range_count; i++)
		if (addr >= ranges[i].lo && addr <= ranges[i].hi)
			return &ranges[i];
	return NULL;
}

/* Overwrite len bytes using `write`; bytes after the range are unchanged. */
static void put(xc_addr addr, const void *bytes, size_t len)
{
	struct range *r = range_of(addr);
	if (r)
		memcpy(r->bytes + (addr - r->lo), bytes, len < r->hi - addr + 1 ? len : r->hi - addr + 1);
}

static void put_word(xc_addr addr, uint64_t word)
{
	put(addr & ~UINT64_C(7), &word, sizeof word);
}

static uint64_t word_at(xc_addr addr)
{
	uint64_t word = 0;
	xc_space_peek(process->space, addr, &word, sizeof word);
	return word;
}

static uint64_t odd_word(struct rng *rng)
{
	static const uint64_t odd[] = {0, 1, 0x10, 0x11, 0x20, 0x21, 0x31, UINT64_MAX, UINT64_MAX - 15, 1ULL << 63};
	return rng_below(rng, 2) ? odd[rng_below(rng, XC_COUNT(odd))] : rng_next(rng) >> rng_below(rng, 64);
}

static void damage_header(struct rng *rng, xc_addr block, uint64_t size)
{
	uint64_t head = word_at(block - 8);
	char text[64];
	switch (rng_below(rng, 6)) {
	case 0:
		put_word(block - 8, odd_word(rng));
		break;
	case 1:
		put_word(block - 8, head + 16 * (rng_below(rng, 64) + 1));
		break;
	case 2:
		put_word(block - 8, head - 16 * (rng_below(rng, head / 16 + 1)));
		break;
	case 3:
		put_word(block - 8, head ^ (UINT64_C(1) << rng_below(rng, 64)));
		break;
	case 4:
		memset(text, 'a' + (int)rng_below(rng, 26), sizeof text);
		put(block + size, text, 1 + rng_below(rng, sizeof text));
		break;
	default:
		memset(text, 0, sizeof text);
		put(block - 8, text, 1 + rng_below(rng, sizeof text));
	}
}

/* A word of a block, mostly a pointer of a free one. */
static void damage_word(struct rng *rng, const struct smashed_block *chunk)
{
	xc_addr at = chunk->addr + 8 * rng_below(rng, rng_below(rng, 2) ? 2 : chunk->size / 8);
	put_word(at,
		 rng_below(rng, 2) ? odd_word(rng) : chunks[rng_below(rng, chunk_count)].addr - 16 * rng_below(rng, 2));
}

static void damage_state(struct rng *rng)
{
	const struct range *r = &ranges[heap_ranges + rng_below(rng, range_count - heap_ranges)];
	xc_addr at = r->lo + 8 * rng_below(rng, (r->hi - r->lo + 1) / 8);
	const struct smashed_block *chunk = &chunks[rng_below(rng, chunk_count)];
	put_word(at, rng_below(rng, 2) ? odd_word(rng) : chunk->addr - 16 * rng_below(rng, 2));
}

/* Copies part of the heap over another part: valid chains in the wrong place. */
static void damage_by_copy(struct rng *rng)
{
	const struct range *r = &ranges[rng_below(rng, heap_ranges)];
	size_t size = r->hi - r->lo + 1, len = 16 * rng_below(rng, 200), from = 16 * rng_below(rng, size / 16),
	       to = 16 * rng_below(rng, size / 16);
	if (len <= size - from && len <= size - to)
		memmove(r->bytes + to, r->bytes + from, len);
}

static void restore(void)
{
	for (size_t i = 0; i < range_count; i++)
		memcpy(ranges[i].bytes, ranges[i].whole, ranges[i].hi - ranges[i].lo + 1);
}

/* ---- findings ---- */

/* Chunks with changed size and flags. */
static size_t damaged_headers(void)
{
	size_t count = 0;
	for (size_t i = 0; i < chunk_count; i++) {
		const struct range *r = range_of(chunks[i].addr - 8);
		count += r && memcmp(r->bytes + (chunks[i].addr - 8 - r->lo), r->whole + (chunks[i].addr - 8 - r->lo),
				     8) != 0;
	}
	return count;
}

static bool is_chunk(xc_addr block)
{
	size_t lo = XC_LOWER_BOUND(chunk_count, i, chunks[i].addr < block);
	return lo < chunk_count && chunks[lo].addr == block;
}

/* Chunks that a wrong size covers exactly: it contradicts nothing, so no walk can detect it. */
static size_t swallowed(void)
{
	size_t count = 0;
	for (size_t i = 0; i < chunk_count; i++) {
		uint64_t head = word_at(chunks[i].addr - 8), size = head & ~UINT64_C(7);
		if (size <= chunks[i].size + 8 || head & 8 || !is_chunk(chunks[i].addr + size))
			continue;
		for (size_t k = i; k < chunk_count && chunks[k].addr - chunks[i].addr < size; k++)
			count++;
	}
	return count;
}

static size_t lost(const struct xc_heap *heap)
{
	size_t count = 0;
	for (size_t i = 0; i < book->live_count; i++) {
		const struct smashed_block *want = &book->live[i];
		uint32_t block = xc_blocks_find(&heap->blocks, want->addr);
		count += block == XC_NO_BLOCK || xc_block_addr(&heap->blocks, block) != want->addr ||
			 xc_block_size(&heap->blocks, block) != want->size;
	}
	return count;
}

static void check_table(struct rng *rng, const struct xc_heap *heap)
{
	const struct xc_blocks *blocks = &heap->blocks;
	for (uint32_t i = 0; i < blocks->count; i++) {
		xc_addr lo = xc_block_addr(blocks, i);
		PROPERTY_CHECK(rng, xc_block_state(blocks, i) < XC_BLOCK_STATES);
		PROPERTY_CHECK(rng, i == 0 || xc_block_addr(blocks, i - 1) + xc_block_size(blocks, i - 1) <= lo);
	}
	for (size_t i = 0; i < heap->damage_count; i++)
		PROPERTY_CHECK(rng, heap->damages[i].what && (heap->damages[i].before == XC_NO_BLOCK ||
							      heap->damages[i].before < blocks->count));
}

/* Open and check the heap in its current state; returns the number of lost live blocks. Losses are reported, with few
 * exceptions: numbers in a block may look exactly like the headers that a wrong size makes of them. */
static size_t look(struct rng *rng)
{
	struct xc_heap *heap = xc_heap_open(process, &(struct xc_heap_options){.jobs = 1});
	struct xc_report *report = xc_report_new("heap");
	xc_audit(xc_report_section(report, "check", "Heap"), heap);
	check_table(rng, heap);
	size_t count = lost(heap);
	PROPERTY_CHECK(rng, heap->damage_count > 0 || xc_heap_why_empty(heap) ||
				    count <= 2 * damaged_headers() + swallowed());
	xc_report_free(report);
	xc_heap_close(heap);
	return count;
}

/* ---- the claims ---- */

PROPERTY(a_damaged_header_loses_two_blocks_at_most, FEW, CASES)
{
	size_t count = 1 + rng_below(rng, MOST_DAMAGE);
	restore();
	for (size_t i = 0; i < count; i++) {
		const struct smashed_block *chunk = &chunks[rng_below(rng, chunk_count)];
		damage_header(rng, chunk->addr, chunk->size);
	}
	size_t headers = damaged_headers(), hidden = swallowed(), gone = look(rng);
	gone -= hidden < gone ? hidden : gone;
	if (gone > worst_lost) {
		worst_lost = gone;
		worst_headers = headers;
	}
	all_headers += headers;
	all_lost += gone;
	cases++;
	exceptions += gone > 2 * headers;
}

/* Numbers in a block may resemble headers so closely that a chain through them is valid in every way. */
static void exceptions_are_one_case_in_a_hundred(void **state)
{
	(void)state;
	print_message(
		"# %zu headers damaged in %zu heaps, %zu of %zu blocks lost; %zu heaps lost more than 2 a header, "
		"the worst %zu by %zu headers\n",
		all_headers, cases, all_lost, cases * book->live_count, exceptions, worst_lost, worst_headers);
	assert_true(exceptions * 100 <= cases);
	assert_true(all_lost <= all_headers);
}

PROPERTY(words_of_blocks_lose_nothing_but_themselves, FEW, CASES)
{
	size_t count = 1 + rng_below(rng, MOST_DAMAGE);
	restore();
	for (size_t i = 0; i < count; i++)
		damage_word(rng, &chunks[rng_below(rng, chunk_count)]);
	PROPERTY_CHECK(rng, look(rng) <= 2 * damaged_headers() + swallowed());
}

PROPERTY(any_damage_is_survived_and_said, FEW, CASES)
{
	size_t count = 1 + rng_below(rng, MOST_DAMAGE);
	restore();
	for (size_t i = 0; i < count; i++) {
		const struct smashed_block *chunk = &chunks[rng_below(rng, chunk_count)];
		switch (rng_below(rng, 4)) {
		case 0:
			damage_header(rng, chunk->addr, chunk->size);
			break;
		case 1:
			damage_word(rng, chunk);
			break;
		case 2:
			damage_by_copy(rng);
			break;
		default:
			damage_state(rng);
		}
	}
	look(rng);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_damaged_header_loses_two_blocks_at_most),
		cmocka_unit_test(exceptions_are_one_case_in_a_hundred),
		cmocka_unit_test(words_of_blocks_lose_nothing_but_themselves),
		cmocka_unit_test(any_damage_is_survived_and_said),
	};
	return cmocka_run_group_tests(tests, set_up, tear_down);
}
