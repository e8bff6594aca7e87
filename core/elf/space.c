/* space: one sorted array of disjoint segments.
 *
 * added[] keeps every segment in the order in which it was added. Sealing sweeps over all ends in address order with a
 * heap of the segments that are open there, the last one added on top, and emits a piece wherever the top changes: O(n
 * log n). Cutting segments pairwise would be quadratic for the 65,536 and more segments of a large core. Pieces point
 * at the bytes of the segment that they were cut from.
 *
 * Reading finds the first segment by binary search and continues from neighbour to neighbour. */
#include "core/elf/space.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/cursor.h"

#ifdef XC_HOSTILE
enum { READ_STEP = 7 }; /* makes every read straddle */
#else
static const size_t READ_STEP = SIZE_MAX;
#endif

struct xc_space {
	struct xc_segment *added;
	size_t added_count, added_capacity;
	struct xc_segment *sealed;
	size_t count, capacity;
	bool big_endian;
};

struct xc_space *xc_space_new(void)
{
	return xc_alloc(sizeof(struct xc_space));
}

void xc_space_free(struct xc_space *space)
{
	if (!space)
		return;
	free(space->added);
	free(space->sealed);
	free(space);
}

void xc_space_set_big_endian(struct xc_space *space, bool big_endian)
{
	space->big_endian = big_endian;
}

void xc_space_add(struct xc_space *space, const struct xc_segment *segment)
{
	if (segment->lo > segment->hi)
		return;
	space->added = xc_grow(space->added, space->added_count, &space->added_capacity, sizeof *space->added);
	space->added[space->added_count++] = *segment;
}

void xc_space_clear(struct xc_space *space)
{
	space->added_count = 0;
}

/* ---- sealing ---- */

struct sweep {
	const struct xc_segment *added;
	size_t *by_lo; /* indexes into added, by lo */
	size_t *heap;  /* indexes into added, largest (added last) on top */
	size_t heap_count;
	const struct xc_segment *emitted; /* the last piece was cut from this one */
};

static void heap_push(struct sweep *s, size_t index)
{
	size_t at = s->heap_count++;
	for (; at && s->heap[(at - 1) / 2] < index; at = (at - 1) / 2)
		s->heap[at] = s->heap[(at - 1) / 2];
	s->heap[at] = index;
}

static void heap_pop(struct sweep *s)
{
	size_t last = s->heap[--s->heap_count], at = 0;
	for (;;) {
		size_t child = 2 * at + 1;
		if (child >= s->heap_count)
			break;
		if (child + 1 < s->heap_count && s->heap[child + 1] > s->heap[child])
			child++;
		if (s->heap[child] <= last)
			break;
		s->heap[at] = s->heap[child];
		at = child;
	}
	s->heap[at] = last;
}

static int by_lo(const void *a, const void *b, void *added)
{
	const struct xc_segment *base = added;
	xc_addr x = base[*(const size_t *)a].lo, y = base[*(const size_t *)b].lo;
	return x < y ? -1 : x > y;
}

/* Append [lo, hi] of segment s. If the previous piece was cut from s too, extend that one: a segment that begins below
 * another one does not divide it. */
static void emit(struct xc_space *space, struct sweep *sweep, const struct xc_segment *s, xc_addr lo, xc_addr hi)
{
	uint64_t skip = lo - s->lo;
	if (sweep->emitted == s && space->sealed[space->count - 1].hi + 1 == lo) {
		space->sealed[space->count - 1].hi = hi;
		return;
	}
	sweep->emitted = s;
	struct xc_segment piece = *s;
	piece.lo = lo;
	piece.hi = hi;
	piece.offset += skip;
	if (piece.bytes)
		piece.bytes += skip;
	space->sealed = xc_grow(space->sealed, space->count, &space->capacity, sizeof *space->sealed);
	space->sealed[space->count++] = piece;
}

/* Emit the pieces of the open segments from `at` to `until` (inclusive). Pops segments that end. */
static void emit_until(struct xc_space *space, struct sweep *s, xc_addr at, xc_addr until)
{
	while (s->heap_count) {
		const struct xc_segment *top = &s->added[s->heap[0]];
		if (top->hi < at) {
			heap_pop(s);
			continue;
		}
		xc_addr hi = top->hi < until ? top->hi : until;
		emit(space, s, top, at, hi);
		if (hi == until)
			return;
		at = hi + 1;
	}
}

void xc_space_seal(struct xc_space *space)
{
	size_t n = space->added_count;
	space->count = 0;
	struct sweep s = {.added = space->added};
	s.by_lo = xc_alloc(n * sizeof *s.by_lo);
	s.heap = xc_alloc(n * sizeof *s.heap);
	for (size_t i = 0; i < n; i++)
		s.by_lo[i] = i;
	if (n)
		qsort_r(s.by_lo, n, sizeof *s.by_lo, by_lo, space->added);
	for (size_t i = 0; i < n;) {
		xc_addr at = space->added[s.by_lo[i]].lo;
		while (i < n && space->added[s.by_lo[i]].lo == at)
			heap_push(&s, s.by_lo[i++]);
		emit_until(space, &s, at, i < n ? space->added[s.by_lo[i]].lo - 1 : UINT64_MAX);
	}
	free(s.by_lo);
	free(s.heap);
}

/* ---- reading ---- */

size_t xc_space_count(const struct xc_space *space)
{
	return space->count;
}

const struct xc_segment *xc_space_at(const struct xc_space *space, size_t index)
{
	return index < space->count ? &space->sealed[index] : NULL;
}

size_t xc_space_lower_bound(const struct xc_space *space, xc_addr addr)
{
	return XC_LOWER_BOUND(space->count, i, space->sealed[i].hi < addr);
}

bool xc_space_next_readable(const struct xc_space *space, xc_addr *lo_inout, xc_addr hi, xc_addr *end_out)
{
	const xc_addr lo = *lo_inout;
	size_t i = xc_space_lower_bound(space, lo);
	for (; lo <= hi && i < space->count && space->sealed[i].lo <= hi; i++) {
		const struct xc_segment *s = &space->sealed[i];
		if (!s->bytes && !s->backing)
			continue;
		*lo_inout = s->lo > lo ? s->lo : lo;
		*end_out = s->hi < hi ? s->hi : hi;
		return true;
	}
	return false;
}

const struct xc_segment *xc_space_find(const struct xc_space *space, xc_addr addr)
{
	size_t at = xc_space_lower_bound(space, addr);
	return at < space->count && space->sealed[at].lo <= addr ? &space->sealed[at] : NULL;
}

/* Copy from the front of [addr, addr + len) inside one segment; len fits it. */
static size_t copy_out(const struct xc_segment *s, xc_addr addr, void *buf, size_t len)
{
	if (s->bytes) {
		memcpy(buf, s->bytes + (addr - s->lo), len);
		return len;
	}
	return s->backing ? s->backing->read(s->ctx, s->offset + (addr - s->lo), buf, len) : 0;
}

/* Returns the bytes copied. *stopped_out is the segment at which reading stopped (NULL: unmapped). */
static size_t read_some(const struct xc_space *space, xc_addr addr, void *buf, size_t len,
			const struct xc_segment **stopped_out)
{
	const struct xc_segment *s = xc_space_find(space, addr), *end = s ? space->sealed + space->count : NULL;
	size_t done = 0;
	*stopped_out = s;
	while (s && done < len) {
		xc_addr at = addr + done;
		uint64_t here = s->hi - at; /* bytes of the segment from at on, minus one */
		size_t want = len - done;
		if (want - 1 > here)
			want = (size_t)here + 1;
		if (want > READ_STEP)
			want = READ_STEP;
		size_t got = copy_out(s, at, (uint8_t *)buf + done, want);
		done += got;
		*stopped_out = s;
		if (got < want || done == len)
			break;
		at = addr + done;
		if (at == 0)
			s = NULL; /* past the top of the address space */
		else if (at > s->hi)
			s = s + 1 < end && s[1].lo == at ? s + 1 : NULL;
		*stopped_out = s;
	}
	return done;
}

size_t xc_space_peek(const struct xc_space *space, xc_addr addr, void *buf, size_t len)
{
	const struct xc_segment *stopped;
	return read_some(space, addr, buf, len, &stopped);
}

static const char *why_missing(const struct xc_segment *s, xc_addr addr)
{
	const char *why = NULL;
	if (s && s->backing && s->backing->why)
		why = s->backing->why(s->ctx, s->offset + (addr - s->lo));
	return why ? why : xc_provenance_text(s ? s->provenance : XC_UNMAPPED);
}

const char *xc_space_why(const struct xc_space *space, xc_addr addr)
{
	const struct xc_segment *s = xc_space_find(space, addr);
	if (s && s->provenance <= XC_FROM_LIVE && (!s->backing || !s->backing->why))
		return NULL;
	return why_missing(s, addr);
}

struct xc_error *xc_space_read(const struct xc_space *space, xc_addr addr, void *buf, size_t len)
{
	const struct xc_segment *stopped;
	size_t got = read_some(space, addr, buf, len, &stopped);
	if (got == len)
		return NULL;
	return xc_error_fault(addr + got, why_missing(stopped, addr + got));
}

const void *xc_space_view(const struct xc_space *space, xc_addr addr, size_t len)
{
	const struct xc_segment *s = xc_space_find(space, addr);
	if (!s || !s->bytes || !xc_inside(addr, len, s->lo, s->hi))
		return NULL;
	return s->bytes + (addr - s->lo);
}

bool xc_space_peek_uint(const struct xc_space *space, xc_addr addr, size_t size, uint64_t *value_out)
{
	uint8_t bytes[8];
	if (size > sizeof bytes || xc_space_peek(space, addr, bytes, size) != size)
		return false;
	*value_out = xc_load_uint(bytes, size, space->big_endian);
	return true;
}

struct xc_error *xc_space_uint(const struct xc_space *space, xc_addr addr, size_t size, uint64_t *value_out)
{
	uint8_t bytes[8];
	if (size > sizeof bytes)
		return xc_error_new(XC_ERR_UNSUPPORTED, "an integer of %zu bytes", size);
	struct xc_error *err = xc_space_read(space, addr, bytes, size);
	if (!err)
		*value_out = xc_load_uint(bytes, size, space->big_endian);
	return err;
}

long xc_space_peek_string(const struct xc_space *space, xc_addr addr, char *buf, size_t max, bool *cut_out)
{
	size_t got = xc_space_peek(space, addr, buf, max);
	if (got == 0)
		return -1;
	const char *nul = memchr(buf, 0, got);
	size_t len = nul ? (size_t)(nul - buf) : got;
	char next = 1;
	if (cut_out)
		*cut_out = !nul && !(got == max && xc_space_peek(space, addr + got, &next, 1) == 1 && next == 0);
	buf[len] = '\0';
	return (long)len;
}

const char *xc_provenance_text(enum xc_provenance provenance)
{
	switch (provenance) {
	case XC_FROM_CORE:
		return "in the core";
	case XC_FROM_FILE:
		return "read from the module's file";
	case XC_FROM_LIVE:
		return "the process's memory could not be read (it has exited or unmapped it)";
	case XC_NOT_DUMPED:
		return "not dumped into the core";
	case XC_CUT_SHORT:
		return "the core file was cut short before these bytes";
	case XC_NOT_PRESENT:
		return "page not present in the process (never touched, or swapped out)";
	case XC_NOT_READABLE:
		return "mapped without read permission, or a device";
	case XC_UNMAPPED:
		break;
	}
	return "not mapped";
}
