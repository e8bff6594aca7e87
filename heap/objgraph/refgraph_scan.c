/* An array is read through a window, in runs of whole elements. Short arrays are scattered in memory, so later ones
 * are prefetched if they are in the same mapped piece. */
#include "heap/objgraph/refgraph_scan.h"

#include <string.h>

enum { AHEAD = 12 };

static bool is_width(unsigned width)
{
	return width == 1 || width == 2 || width == 4 || width == 8;
}

static void reach(struct xc_refscan *scan, int64_t lo, int64_t hi)
{
	scan->lo = lo < scan->lo ? lo : scan->lo;
	scan->hi = hi > scan->hi ? hi : scan->hi;
}

bool xc_refscan_prepare(struct xc_refscan *scan)
{
	scan->lo = INT32_MAX;
	scan->hi = INT32_MIN;
	if (scan->stride == 0 || scan->at_count == 0 || scan->at_count > XC_REFSCAN_WORDS || scan->shift > 63 ||
	    (scan->width != 4 && scan->width != 8) ||
	    (scan->tagged && (scan->tag.shift > 63 || (scan->tag.width && !is_width(scan->tag.width)))) ||
	    (scan->choosy && (scan->unless.shift > 63 || !is_width(scan->unless.width))))
		return false;
	if (scan->choosy)
		reach(scan, scan->unless.at, (int64_t)scan->unless.at + scan->unless.width);
	for (unsigned i = 0; i < scan->at_count; i++) {
		int64_t at = scan->at[i], tag = at + scan->tag.at;
		reach(scan, at, at + scan->width);
		if (scan->tagged && scan->tag.width)
			reach(scan, tag, tag + scan->tag.width);
	}
	return scan->lo >= -XC_REFSCAN_REACH && scan->hi <= XC_REFSCAN_REACH && scan->stride <= UINT32_MAX;
}

/* ---- words ---- */

static inline uint64_t load(const uint8_t *bytes, unsigned width, bool swap)
{
	uint64_t word = 0;
	if (width == 8) {
		memcpy(&word, bytes, 8);
	} else if (width == 4) {
		uint32_t half;
		memcpy(&half, bytes, 4);
		word = half;
	} else {
		for (unsigned i = 0; i < width; i++)
			word |= (uint64_t)bytes[swap ? width - 1 - i : i] << 8 * i;
		return word;
	}
	return !swap ? word : width == 8 ? __builtin_bswap64(word) : __builtin_bswap32((uint32_t)word);
}

static inline bool is_tag(const struct xc_reftag *tag, uint64_t bits, unsigned width)
{
	int64_t value = (int64_t)xc_sign_extend(bits, 8 * width);
	value = (int64_t)((uint64_t)(value >> tag->shift) & tag->mask);
	return value >= tag->lo && value <= tag->hi;
}

static inline bool has_tag(const struct xc_refscan *scan, const uint8_t *word_at, uint64_t word)
{
	const struct xc_reftag *tag = &scan->tag;
	if (!tag->width)
		return is_tag(tag, word, scan->width);
	return is_tag(tag, load(word_at + tag->at, tag->width, scan->swap), tag->width);
}

static inline bool is_passed_over(const struct xc_refscan *scan, const uint8_t *element)
{
	const struct xc_reftag *unless = &scan->unless;
	return scan->choosy && is_tag(unless, load(element + unless->at, unless->width, scan->swap), unless->width);
}

/* The references of `count` elements that are in the window; `bytes` is the beginning of the first one. */
static void take_elements(struct xc_refgraph *g, const struct xc_refscan *scan, const uint8_t *bytes, uint64_t count)
{
	for (uint64_t i = 0; i < count; i++, bytes += scan->stride) {
		if (is_passed_over(scan, bytes))
			continue;
		for (unsigned w = 0; w < scan->at_count; w++) {
			const uint8_t *at = bytes + scan->at[w];
			uint64_t word = load(at, scan->width, scan->swap);
			if (scan->tagged && !has_tag(scan, at, word))
				continue;
			word &= scan->mask;
			if (word)
				xc_refgraph_to(g, scan->base + (word << scan->shift));
		}
	}
}

/* ---- arrays ---- */

static void ask_ahead(const struct xc_refscan *scan, const struct xc_window *window, const struct xc_refscan_row *row)
{
	uint64_t at = row->start + (uint64_t)scan->lo - window->lo;
	if (window->bytes && at < window->len)
		__builtin_prefetch(window->bytes + at);
}

static void count_missing(struct xc_refgraph *g, uint64_t elements)
{
	if (__builtin_add_overflow(g->missing, elements, &g->missing))
		g->missing = UINT64_MAX;
}

/* The number of elements available there, at most `most`; 0 if not even one can be read. */
static uint64_t elements_at(const struct xc_refscan *scan, struct xc_window *window, xc_addr addr, uint64_t most,
			    const uint8_t **bytes_out)
{
	uint64_t need = (uint64_t)(scan->hi - scan->lo), len;
	if (addr > UINT64_MAX - need)
		return 0;
	uint64_t wanted =
		(most - 1) < (UINT64_MAX - need) / scan->stride ? (most - 1) * scan->stride + need : UINT64_MAX;
	*bytes_out = xc_window_run(window, addr, wanted, &len);
	if (!*bytes_out)
		return 0;
	if (len < need) {
		*bytes_out = xc_window_slow(window, addr, need);
		len = need;
	}
	return *bytes_out ? (len - need) / scan->stride + 1 : 0;
}

/* Continues a row until it is done (true), or `words` are used up. */
static bool scan_row(struct xc_refgraph *g, const struct xc_refscan *scan, struct xc_window *window,
		     const struct xc_refscan_row *row, uint64_t *element, uint64_t *words)
{
	const uint8_t *bytes;
	if (row->count > scan->most) {
		count_missing(g, row->count - *element);
		return true;
	}
	xc_refgraph_row(g, row->from, scan->exact);
	while (*element < row->count) {
		uint64_t left = row->count - *element, room = *words / scan->at_count;
		uint64_t most = left < room ? left : room, offset;
		if (most == 0)
			return false;
		bool beyond =
			__builtin_mul_overflow(*element, scan->stride, &offset) || offset > UINT64_MAX - row->start;
		uint64_t count =
			beyond ? 0 : elements_at(scan, window, row->start + offset + (uint64_t)scan->lo, most, &bytes);
		count = count < most ? count : most;
		if (count == 0) {
			count_missing(g, left);
			return true;
		}
		take_elements(g, scan, bytes - scan->lo, count);
		*element += count;
		*words -= count * scan->at_count;
	}
	return true;
}

void xc_refscan_run(struct xc_refgraph *g, const struct xc_refscan *scan, struct xc_window *window,
		    const struct xc_refscan_row *rows, size_t count, struct xc_refscan_place *place, uint64_t words)
{
	while (place->row < count && words > 0) {
		if (place->row + AHEAD < count)
			ask_ahead(scan, window, &rows[place->row + AHEAD]);
		if (!scan_row(g, scan, window, &rows[place->row], &place->element, &words))
			return;
		words -= words > 0; /* an empty row is work too */
		place->row++;
		place->element = 0;
	}
}
