/* jemalloc_bins: the bins of a cache, and the blocks that they hold.
 *
 * A thread's cache is an array of bins in its thread-local storage (tsd_t): one for each small class, then some for
 * large classes. Each bin has a stack of addresses. All stacks of a cache follow each other in one block, which
 * jemalloc allocates for itself. Bins, 24 bytes each:
 *
 *	5.3       | top of stack, grows down | requests | low water, full, empty: low 16 bits each of stack positions |
 *	5.0 – 5.2 | low water (4) | count (4) | requests | end of stack: the addresses are right below it |
 *
 * Checked against jemalloc 5.3.0, include/jemalloc/internal/cache_bin.h and tcache_structs.h, a running 5.2.1, and
 * tcache_structs.h of 5.0. Neither symbols nor debug information are needed: bins are recognised by stacks that
 * follow each other, and accepted if their blocks are of the class that the bin's place in the array implies. */
#include "heap/allocators/jemalloc_impl.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum {
	BIN = 24,
	BINS_MAX = 256,
	BINS_MIN = 8,        /* as many in a row prove an array */
	MORE_BINS_MIN = 2,   /* if its stacks continue where those of another array ended: large classes up to 5.2 */
	STACK_MAX = 1 << 16, /* bytes of a stack: its positions have 16 bits */
	TICKERS_FAR = 64,    /* words before the bins */
};

enum form { FORM_5_3, FORM_5_0, FORMS };

/* A bin's stack: the addresses are in [top, end). There may be room below, down to `low`. */
struct bin {
	xc_addr low, top, end;
};

static uint32_t half(const uint8_t *bytes)
{
	uint32_t value;
	memcpy(&value, bytes, sizeof value);
	return value;
}

static uint16_t quarter(const uint8_t *bytes)
{
	uint16_t value;
	memcpy(&value, bytes, sizeof value);
	return value;
}

static bool read_new_bin(const uint8_t *bytes, struct bin *bin)
{
	uint64_t top = xc_jemalloc_word(bytes);
	uint16_t water = quarter(bytes + 16), full = quarter(bytes + 18), empty = quarter(bytes + 20);
	uint16_t count = (uint16_t)(empty - (uint16_t)top), room = (uint16_t)(empty - full),
		 low = (uint16_t)(empty - water);
	if (top < STACK_MAX || (top | full | empty | water) % 8 || room == 0 || count > room || low > count)
		return false;
	*bin = (struct bin){.low = top + count - room, .top = top, .end = top + count};
	return true;
}

static bool read_old_bin(const uint8_t *bytes, struct bin *bin)
{
	uint32_t water = half(bytes), count = half(bytes + 4);
	uint64_t end = xc_jemalloc_word(bytes + 16);
	if (end < STACK_MAX || end % 8 || count > STACK_MAX / 8 || (water > count && water != UINT32_MAX))
		return false;
	*bin = (struct bin){.low = end - 8 * (uint64_t)count, .top = end - 8 * (uint64_t)count, .end = end};
	return true;
}

static bool read_bin(enum form form, const uint8_t *bytes, struct bin *bin)
{
	return form == FORM_5_3 ? read_new_bin(bytes, bin) : read_old_bin(bytes, bin);
}

/* Is the stack directly after the other one? */
static bool follows(const struct bin *before, const struct bin *bin)
{
	return bin->low >= before->end && bin->end > before->end && bin->end - before->end <= STACK_MAX;
}

/* Reads the bins from here on. */
static unsigned read_bins(enum form form, const uint8_t *bytes, size_t len, const struct bin *before,
			  struct bin bins[BINS_MAX])
{
	unsigned count = 0;
	while (count < BINS_MAX && len - count * BIN >= BIN && read_bin(form, bytes + count * BIN, &bins[count]) &&
	       (!before || follows(before, &bins[count])))
		before = &bins[count++];
	return count;
}

/* ---- their content ---- */

static bool is_used(const struct xc_jemalloc *je, const struct xc_jemalloc_extent *e, uint64_t region)
{
	uint64_t word;
	xc_addr at = e->edata + je->layouts[e->tree].bitmap + region / 64 * 8;
	return xc_space_peek_uint(je->heap->process->space, at, 8, &word) && !(word >> (region % 64) & 1);
}

bool xc_jemalloc_block_at(const struct xc_jemalloc *je, xc_addr addr, xc_addr *block_out, unsigned *class_out)
{
	const struct xc_jemalloc_extent *e = xc_jemalloc_extent_at(je, addr);
	uint64_t size = e ? xc_jemalloc_block_size(je, e) : 0;
	if (size == 0 || addr < e->addr)
		return false;
	uint64_t region = e->slab ? (addr - e->addr) / size : 0;
	if (region >= xc_jemalloc_block_count(je, e) || (e->slab && !is_used(je, e, region)))
		return false;
	*block_out = e->addr + region * size;
	*class_out = e->szind;
	return true;
}

/* The addresses in one array of bins, before they are accepted. */
struct held {
	struct {
		xc_addr addr;
		int shift; /* class minus number of the bin */
	} * items;
	size_t count, capacity;
	size_t all; /* including those that are no blocks */
	size_t shifts[2 * BINS_MAX];
};

static void read_stack(const struct xc_jemalloc *je, const struct bin *bin, unsigned number, struct held *held)
{
	for (xc_addr at = bin->top; at < bin->end; at += 8) {
		uint64_t addr;
		xc_addr block;
		unsigned class;
		held->all++;
		if (!xc_space_peek_uint(je->heap->process->space, at, 8, &addr) ||
		    !xc_jemalloc_block_at(je, addr, &block, &class) || block != addr)
			continue;
		held->items = xc_grow(held->items, held->count, &held->capacity, sizeof *held->items);
		held->items[held->count].addr = addr;
		held->items[held->count].shift = (int)class - (int)number;
		held->shifts[held->items[held->count++].shift + BINS_MAX]++;
	}
}

static void add_address(uint64_t **items, size_t *count, size_t *capacity, uint64_t addr)
{
	*items = xc_grow(*items, *count, capacity, sizeof **items);
	(*items)[(*count)++] = addr;
}

static void note_wrong(struct xc_jemalloc *je, const struct bin *bin, size_t wrong)
{
	if (wrong == 0)
		return;
	char *what =
		xc_asprintf("a thread's cache holds %zu addresses that are not blocks of the cache's class", wrong);
	xc_heap_add_damage(je->heap,
			   &(struct xc_damage){.addr = bin->top, .what = what, .lost_lo = 1, .before = XC_NO_BLOCK});
	free(what);
}

/* Takes the blocks in the bins if most are of the expected class. False if this is no cache. */
static bool take_bins(struct xc_jemalloc *je, const struct bin *bins, unsigned count)
{
	struct held held = {0};
	size_t best = 0;
	for (unsigned i = 0; i < count; i++)
		read_stack(je, &bins[i], i, &held);
	for (size_t i = 0; i < XC_COUNT(held.shifts); i++)
		best = held.shifts[i] > held.shifts[best] ? i : best;
	bool good = held.all == 0 || held.shifts[best] >= held.all - held.all / 5;
	for (size_t i = 0; good && i < held.count; i++)
		if (held.items[i].shift + BINS_MAX == (int)best)
			add_address(&je->cached, &je->cached_count, &je->cached_capacity, held.items[i].addr);
	if (good)
		note_wrong(je, bins, held.all - (held.all ? held.shifts[best] : 0));
	free(held.items);
	return good;
}

void xc_jemalloc_add_internal(struct xc_jemalloc *je, xc_addr addr)
{
	xc_addr block;
	unsigned class;
	if (xc_jemalloc_block_at(je, addr, &block, &class))
		add_address(&je->internal, &je->internal_count, &je->internal_capacity, block);
}

/* Stacks are in a block of jemalloc. */
static bool is_stack(const struct xc_jemalloc *je, const struct bin *bin)
{
	xc_addr block;
	unsigned class;
	return xc_jemalloc_block_at(je, bin->end - 8, &block, &class);
}

/* Up to 5.2 each thread also has a block of tickers. Its address follows that of the thread's arena, before the
 * bins (tsd.h, arenas_tdata). */
static void add_tickers(struct xc_jemalloc *je, const uint8_t *bytes, size_t bins_at)
{
	xc_addr block;
	unsigned class;
	for (size_t i = 1; i < TICKERS_FAR && i * 8 + 8 <= bins_at; i++) {
		const uint8_t *at = bytes + bins_at - i * 8;
		uint64_t addr = xc_jemalloc_word(at);
		if (!xc_jemalloc_is_own(je, xc_jemalloc_word(at - 8)) ||
		    !xc_jemalloc_block_at(je, addr, &block, &class) || block != addr)
			continue;
		xc_jemalloc_add_internal(je, addr);
		return;
	}
}

static bool was_read(const struct xc_jemalloc *je, xc_addr bins)
{
	for (size_t i = 0; i < je->cache_count; i++)
		if (je->caches[i] == bins)
			return true;
	return false;
}

/* If the bins at a place are a cache, takes what they hold. Returns the number of bins. */
static unsigned take_at(struct xc_jemalloc *je, enum form form, const uint8_t *bytes, size_t len, struct bin *last)
{
	struct bin bins[BINS_MAX];
	bool more = last->end != 0;
	unsigned count = read_bins(form, bytes, len, more ? last : NULL, bins);
	if (count < (more ? (unsigned)MORE_BINS_MIN : (unsigned)BINS_MIN) || !is_stack(je, &bins[0]) ||
	    !take_bins(je, bins, count))
		return 0;
	xc_jemalloc_add_internal(je, bins[0].end - 8);
	*last = bins[count - 1];
	return count;
}

bool xc_jemalloc_search_bins(struct xc_jemalloc *je, xc_addr addr, const uint8_t *bytes, size_t len)
{
	struct bin last = {0};
	enum form first = 0, end = FORMS;
	for (size_t at = 0; at + BIN <= len;) {
		unsigned count = 0;
		for (enum form form = first; form < end && count == 0; form++) {
			if (!read_bin(form, bytes + at, &(struct bin){0}))
				continue;
			if (was_read(je, addr + at))
				return false;
			count = take_at(je, form, bytes + at, len - at, &last);
			if (count == 0 || end - first == 1)
				continue;
			add_address(&je->caches, &je->cache_count, &je->cache_capacity, addr + at);
			if (form != FORM_5_3)
				add_tickers(je, bytes, at);
			first = form;
			end = form + 1;
		}
		at += count ? count * BIN : 8;
	}
	return last.end != 0;
}
