/* find: ranges are cut into pieces: bytes in reach, with a number of positions where a hit may start. */
#include "lua/bulk/find.h"

#include <string.h>

enum { CHUNK = 1 << 18, SLACK = 8, PAGE = 4096, WORDS = 16 };

struct piece {
	const uint8_t *bytes; /* the address of `base` */
	xc_addr base;
	size_t starts; /* positions from base on where a hit may start; their bytes, and SLACK more, may be read */
};

struct hits {
	xc_addr *items;
	size_t count, room;
};

size_t xc_find_buffer_size(const struct xc_find *find)
{
	return CHUNK + 2 * find->size + 2 * SLACK;
}

/* ---- looking at a piece ---- */

static uint64_t word_at(const uint8_t *bytes)
{
	uint64_t word;
	memcpy(&word, bytes, sizeof word);
	return word;
}

/* False when there is no room for more. */
static bool add(struct hits *hits, xc_addr addr)
{
	hits->items[hits->count++] = addr;
	return hits->count < hits->room;
}

static size_t first_start(const struct xc_find *find, const struct piece *piece)
{
	return (size_t)(-piece->base & (find->align - 1));
}

static bool scan_bytes(const struct xc_find *find, const struct piece *piece, struct hits *hits)
{
	size_t at = 0;
	while (at < piece->starts) {
		const uint8_t *found =
			memmem(piece->bytes + at, piece->starts - at + find->size - 1, find->bytes, find->size);
		if (!found)
			return true;
		at = (size_t)(found - piece->bytes);
		if (((piece->base + at) & (find->align - 1)) == 0 && !add(hits, piece->base + at))
			return false;
		at++;
	}
	return true;
}

static bool scan_aligned_bytes(const struct xc_find *find, const struct piece *piece, struct hits *hits)
{
	uint64_t first = 0, mask = find->size < 8 ? (UINT64_C(1) << find->size * 8) - 1 : UINT64_MAX;
	memcpy(&first, find->bytes, find->size < 8 ? find->size : 8);
	for (size_t at = first_start(find, piece); at < piece->starts; at += find->align)
		if ((word_at(piece->bytes + at) & mask) == first &&
		    memcmp(piece->bytes + at, find->bytes, find->size) == 0 && !add(hits, piece->base + at))
			return false;
	return true;
}

static bool scan_pointers(const struct xc_find *find, const struct piece *piece, struct hits *hits)
{
	uint64_t lo = find->aim.lo, span = find->aim.hi - lo, mask = find->size < 8 ? UINT32_MAX : UINT64_MAX;
	for (size_t at = first_start(find, piece); at < piece->starts; at += find->align)
		if ((word_at(piece->bytes + at) & mask) - lo <= span && !add(hits, piece->base + at))
			return false;
	return true;
}

/* Aligned words: most blocks have no hit, which is detected without a branch for each word. */
static bool scan_words(const struct xc_find *find, const struct piece *piece, struct hits *hits)
{
	uint64_t lo = find->aim.lo, span = find->aim.hi - lo;
	size_t at = first_start(find, piece);
	for (; at + WORDS * 8 <= piece->starts; at += WORDS * 8) {
		unsigned any = 0;
		for (size_t i = 0; i < WORDS; i++)
			any |= word_at(piece->bytes + at + i * 8) - lo <= span;
		if (!any)
			continue;
		struct piece block = {piece->bytes + at, piece->base + at, WORDS * 8};
		if (!scan_pointers(find, &block, hits))
			return false;
	}
	struct piece rest = {piece->bytes + at, piece->base + at, at < piece->starts ? piece->starts - at : 0};
	return scan_pointers(find, &rest, hits);
}

static bool points_somewhere(struct xc_find *find, xc_addr addr)
{
	if (addr >= find->mapped.lo && addr <= find->mapped.hi)
		return true;
	const struct xc_segment *segment = xc_space_find(find->space, addr);
	if (!segment || segment->provenance == XC_UNMAPPED || segment->provenance == XC_NOT_READABLE)
		return false;
	find->mapped = (struct xc_range){segment->lo, segment->hi};
	return true;
}

static bool holds(struct xc_find *find, const struct xc_find_test *test, const uint8_t *bytes)
{
	uint64_t bits = word_at(bytes + test->offset) >> test->shift;
	float single;
	double number;
	switch (test->kind) {
	case XC_FIND_WORD:
		return ((bits - test->lo) & test->mask) <= test->span;
	case XC_FIND_SINGLE:
		memcpy(&single, &bits, sizeof single);
		return (double)single >= test->low && (double)single <= test->high;
	case XC_FIND_DOUBLE:
		memcpy(&number, &bits, sizeof number);
		return number >= test->low && number <= test->high;
	case XC_FIND_ADDRESS_OR_NULL:
		if ((bits & test->mask) == 0)
			return true; /* fall through */
	case XC_FIND_ADDRESS:
		return points_somewhere(find, bits & test->mask);
	}
	return false;
}

static bool scan_structs(struct xc_find *find, const struct piece *piece, struct hits *hits)
{
	for (size_t at = first_start(find, piece); at < piece->starts; at += find->align) {
		size_t test = 0;
		while (test < find->test_count && holds(find, &find->tests[test], piece->bytes + at))
			test++;
		if (test == find->test_count && !add(hits, piece->base + at))
			return false;
	}
	return true;
}

/* False when there is no room for more hits. */
static bool scan(struct xc_find *find, const struct piece *piece, struct hits *hits)
{
	switch (find->kind) {
	case XC_FIND_BYTES:
		return find->align < 4 ? scan_bytes(find, piece, hits) : scan_aligned_bytes(find, piece, hits);
	case XC_FIND_POINTER:
		return find->size == 8 && find->align == 8 ? scan_words(find, piece, hits)
							   : scan_pointers(find, piece, hits);
	case XC_FIND_STRUCT:
		break;
	}
	return scan_structs(find, piece, hits);
}

/* ---- pieces ---- */

/* The first segment that ends at or after addr; NULL when there is none. */
static const struct xc_segment *segment_from(const struct xc_space *space, xc_addr addr)
{
	size_t at = xc_space_lower_bound(space, addr);
	return at < xc_space_count(space) ? xc_space_at(space, at) : NULL;
}

/* Continue at the byte after addr. */
static void go_behind(struct xc_find *find, xc_addr addr)
{
	find->at = addr + 1;
	find->done = addr == UINT64_MAX;
}

/* For a segment that is not mapped here: copy `want` bytes, at most `left`. Returns the number of bytes covered. */
static uint64_t copy_piece(struct xc_find *find, uint64_t want, uint64_t left, struct piece *piece)
{
	want = want < left ? want : left;
	size_t got = xc_space_peek(find->space, find->at, find->buffer, (size_t)want);
	memset(find->buffer + got, 0, SLACK);
	piece->bytes = find->buffer;
	piece->starts = got >= find->size ? got - find->size + 1 : 0;
	if (got == 0) /* unmapped since: a live process */
		return PAGE - (find->at & (PAGE - 1));
	return got < want || want == left ? got : piece->starts;
}

/* Search the bytes in reach from find->at to at most `until` (both within a range). Returns the number of bytes
 * searched. */
static uint64_t advance(struct xc_find *find, const struct xc_segment *segment, xc_addr until, uint64_t budget,
			struct hits *hits)
{
	struct piece piece = {.base = find->at};
	uint64_t reach = find->size + SLACK, left = until - find->at, looked;
	uint64_t at_hand = (segment->hi < until ? segment->hi : until) - find->at; /* including the byte at find->at */
	if (segment->bytes && at_hand >= reach) {
		looked = at_hand - reach + 1;
		looked = looked < budget ? looked : budget;
		piece.starts = (size_t)looked;
		piece.bytes = segment->bytes + (find->at - segment->lo);
	} else {
		/* The end of a mapped segment joined with the start of the next one, or a large part of an unmapped
		 * one. */
		uint64_t want = segment->bytes ? at_hand + 1 + find->size : CHUNK + find->size;
		looked = copy_piece(find, want, left == UINT64_MAX ? left : left + 1, &piece);
	}
	xc_addr last = looked - 1 < left ? find->at + (looked - 1) : until;
	if (!scan(find, &piece, hits))
		last = hits->items[hits->count - 1];
	looked = last - find->at + 1;
	go_behind(find, last);
	return looked;
}

/* Advance to the next range or segment; NULL when nothing is in reach here yet. */
static const struct xc_segment *settle(struct xc_find *find)
{
	const struct xc_range *range = &find->ranges[find->range];
	const struct xc_segment *segment = segment_from(find->space, find->at);
	if (find->at > range->hi || !segment || segment->lo > range->hi) {
		find->done = ++find->range == find->range_count;
		if (!find->done && find->at < range[1].lo)
			find->at = range[1].lo;
		return NULL;
	}
	if (segment->lo > find->at)
		find->at = segment->lo;
	if (segment->bytes || segment->backing)
		return segment;
	go_behind(find, segment->hi);
	return NULL;
}

size_t xc_find_run(struct xc_find *find, xc_addr *hits, size_t room, uint64_t budget)
{
	struct hits found = {.items = hits, .room = room};
	if (!find->begun) {
		find->begun = true;
		find->mapped = (struct xc_range){1, 0};
		find->done = find->range_count == 0;
		find->at = find->done ? 0 : find->ranges[0].lo;
	}
	while (!find->done && budget > 0 && found.count < room) {
		const struct xc_segment *segment = settle(find);
		if (!segment)
			continue;
		uint64_t looked = advance(find, segment, find->ranges[find->range].hi, budget, &found);
		find->looked += looked;
		budget -= looked < budget ? looked : budget;
	}
	return found.count;
}
