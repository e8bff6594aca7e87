/* layer: heap
 *
 * Scans of memory for references against definitions: each element byte by byte. */
#include "heap/objgraph/refgraph_scan.h"
#include "tests/support/property.h"

enum { BYTES = 3000, GAP = 4096 };
#define MEMORY UINT64_C(0x7f0000000000)

static size_t peek(void *ctx, uint64_t offset, void *buf, size_t len)
{
	memcpy(buf, (const uint8_t *)ctx + offset, len);
	return len;
}

/* Two adjacent pieces of memory, one of them only readable by copying, then nothing. */
static struct xc_space *made_space(const uint8_t *bytes)
{
	static const struct xc_backing backing = {.read = peek};
	struct xc_space *space = xc_space_new();
	const struct xc_segment first = {
		.lo = MEMORY, .hi = MEMORY + BYTES / 2 - 1, .provenance = XC_FROM_CORE, .bytes = bytes};
	const struct xc_segment second = {.lo = MEMORY + BYTES / 2,
					  .hi = MEMORY + BYTES - 1,
					  .provenance = XC_FROM_LIVE,
					  .backing = &backing,
					  .ctx = (void *)(uintptr_t)(bytes + BYTES / 2)};
	xc_space_add(space, &first);
	xc_space_add(space, &second);
	xc_space_seal(space);
	return space;
}

static struct xc_refscan any_scan(struct rng *rng)
{
	static const unsigned widths[] = {0, 1, 2, 4, 8};
	struct xc_refscan scan = {.stride = 1 + rng_below(rng, 40),
				  .at_count = 1 + (unsigned)rng_below(rng, 3),
				  .width = rng_below(rng, 2) ? 4 : 8,
				  .mask = rng_below(rng, 2) ? UINT64_MAX : rng_next(rng),
				  .shift = (unsigned)rng_below(rng, 5),
				  .base = rng_below(rng, 2) ? 0 : rng_next(rng),
				  .swap = rng_below(rng, 2),
				  .tagged = rng_below(rng, 2),
				  .most = rng_below(rng, 5) ? 1000000 : 10};
	for (unsigned i = 0; i < scan.at_count; i++)
		scan.at[i] = (int32_t)rng_below(rng, 50) - 10;
	scan.tag = (struct xc_reftag){.at = (int32_t)rng_below(rng, 20) - 10,
				      .width = widths[rng_below(rng, XC_COUNT(widths))],
				      .shift = (unsigned)rng_below(rng, 64),
				      .mask = rng_below(rng, 2) ? UINT64_MAX : 3,
				      .lo = -(int64_t)rng_below(rng, 1000),
				      .hi = (int64_t)rng_below(rng, 1000)};
	return scan;
}

/* A number of the target, byte by byte. False if one of them is missing. */
static bool number_at(const uint8_t *bytes, int64_t at, unsigned width, bool swap, uint64_t *out)
{
	*out = 0;
	for (unsigned i = 0; i < width; i++) {
		int64_t byte = at + (swap ? width - 1 - i : i);
		if (byte < 0 || byte >= BYTES)
			return false;
		*out |= (uint64_t)bytes[byte] << 8 * i;
	}
	return true;
}

static bool tag_fits(const struct xc_reftag *tag, uint64_t bits, unsigned width)
{
	int64_t value = width == 8   ? (int64_t)bits
			: width == 4 ? (int32_t)bits
			: width == 2 ? (int16_t)bits
				     : (int8_t)bits;
	for (unsigned i = 0; i < tag->shift; i++)
		value = value < 0 ? -((-(value + 1)) / 2) - 1 : value / 2; /* towards minus infinity */
	value = (int64_t)((uint64_t)value & tag->mask);
	return value >= tag->lo && value <= tag->hi;
}

/* One element by definition: its references, added to `wanted`. False if a byte of it is missing. */
static bool take(const struct xc_refscan *scan, const uint8_t *bytes, int64_t at, uint64_t *wanted, size_t *count)
{
	uint64_t word[3], tag[3];
	for (unsigned w = 0; w < scan->at_count; w++) {
		if (!number_at(bytes, at + scan->at[w], scan->width, scan->swap, &word[w]))
			return false;
		tag[w] = word[w];
		if (scan->tagged && scan->tag.width &&
		    !number_at(bytes, at + scan->at[w] + scan->tag.at, scan->tag.width, scan->swap, &tag[w]))
			return false;
	}
	for (unsigned w = 0; w < scan->at_count; w++)
		if ((!scan->tagged || tag_fits(&scan->tag, tag[w], scan->tag.width ? scan->tag.width : scan->width)) &&
		    (word[w] & scan->mask))
			wanted[(*count)++] = scan->base + ((word[w] & scan->mask) << scan->shift);
	return true;
}

static void run_scan(struct rng *rng, struct xc_refgraph *g, const struct xc_refscan *scan, struct xc_space *space,
		     const struct xc_refscan_row *rows, size_t count)
{
	struct xc_window window;
	struct xc_refscan_place place = {0};
	xc_window_init(&window, space);
	while (place.row < count) {
		uint64_t words = scan->at_count + rng_below(rng, 100);
		size_t before = g->target_count;
		xc_refgraph_reserve(g, 0, count + 1, words);
		xc_refscan_run(g, scan, &window, rows, count, &place, words);
		PROPERTY_CHECK(rng, g->target_count - before <= words);
	}
	xc_window_fini(&window);
}

PROPERTY(a_scan_takes_what_each_element_says, 400, 2000)
{
	enum { ROWS = 6 };
	static uint8_t bytes[BYTES];
	static uint64_t wanted[ROWS * 3 * BYTES];
	struct xc_refscan scan = any_scan(rng);
	struct xc_refscan_row rows[ROWS];
	size_t count = 0;
	uint64_t missing = 0;
	for (size_t i = 0; i < BYTES; i++)
		bytes[i] = rng_below(rng, 3) ? 0 : (uint8_t)rng_next(rng);
	for (size_t r = 0; r < ROWS; r++) {
		uint64_t i = 0;
		rows[r] = (struct xc_refscan_row){.from = r + 1,
						  .start = MEMORY + rng_below(rng, BYTES + 100) - 50,
						  .count = rng_below(rng, 6) ? rng_below(rng, 80) : rng_next(rng) >> 8};
		while (rows[r].count <= scan.most && i < rows[r].count &&
		       take(&scan, bytes, (int64_t)(rows[r].start - MEMORY + i * scan.stride), wanted, &count))
			i++;
		missing += rows[r].count - i;
	}
	struct xc_space *space = made_space(bytes);
	struct xc_refgraph *g = xc_refgraph_new(1);
	PROPERTY_CHECK(rng, xc_refscan_prepare(&scan));
	run_scan(rng, g, &scan, space, rows, ROWS);
	PROPERTY_CHECK(rng, g->target_count == count);
	PROPERTY_CHECK(rng, g->missing == missing);
	PROPERTY_CHECK(rng, memcmp(g->target, wanted, count * sizeof *wanted) == 0 || !count);
	xc_refgraph_free(g);
	xc_space_free(space);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_scan_takes_what_each_element_says),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
