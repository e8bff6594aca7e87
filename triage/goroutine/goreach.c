/* goreach: see goreach.h. The roots are the runtime's tables of the program's variables, and, of each goroutine that
 * goes on, its stack and its g. A g is never followed, nor is a sudog by which one waits: the list of all goroutines
 * leads to them, and they to what they wait for. Neither is the table of semaphores; nor are addresses of free memory
 * in runtime.mheap_, and in p.pcache.
 *
 * A pointer into an object leads to what lies behind it, and not to what lies before: Go has no way back from a member
 * to its structure, or from an element to those before it. */
#include "triage/goroutine/goreach.h"

#include <stdlib.h>
#include <string.h>

#include "triage/goroutine/gospan.h"

enum {
	PIECE = 512,
	WORD = 8,
	REGISTERS = 17,
	CASES = 1000,
	OBJECTS = 1 << 20,
	BYTES = 32 << 20,
	LARGEST = 1 << 26,
	PROCESSORS = 1 << 12
};

struct reach {
	const struct xc_crash_context *crash;
	const struct xc_goruntime *go;
	struct xc_gospans spans;
	struct xc_hashtable seen; /* by object: the lowest address in it that something leads to */
	struct part {
		xc_addr from, end;
	} * queue; /* parts of objects that are not looked into yet */
	size_t queued, room;
	uint64_t left; /* bytes that may be looked at */
	bool failed;
	xc_addr holes[2][2];        /* in the variables: what leads to nothing */
	xc_addr data[2][2], g_size; /* data and bss; the size of a g */
	const struct xc_gowait *items;
	size_t count;
	struct xc_hashtable own; /* by g: those of the items */
	bool *goes_on;
};

static bool is_within(const xc_addr (*ranges)[2], size_t count, xc_addr addr)
{
	for (size_t i = 0; i < count; i++)
		if (addr >= ranges[i][0] && addr < ranges[i][1])
			return true;
	return false;
}

static bool in_data(const struct reach *r, xc_addr addr)
{
	return is_within(r->data, XC_COUNT(r->data), addr);
}

/* ---- marks ---- */

static void meet(struct reach *r, xc_addr addr)
{
	struct xc_goobject object;
	if (addr < 1 << 16 || in_data(r, addr) || !xc_gospans_object(&r->spans, addr, &object))
		return;
	uint64_t *seen = &xc_hashtable_at(&r->seen, NULL, object.addr, 1)->number;
	const xc_addr from = addr & ~(xc_addr)(WORD - 1), end = *seen ? *seen : object.addr + object.size;
	if (*seen && from >= *seen)
		return;
	*seen = from;
	r->failed |= r->seen.count > OBJECTS;
	if (!object.has_pointers || r->failed)
		return;
	r->queue = xc_grow(r->queue, r->queued, &r->room, sizeof *r->queue);
	r->queue[r->queued++] = (struct part){from, end};
}

static void scan(struct reach *r, xc_addr from, xc_addr end)
{
	uint64_t words[PIECE];
	if (end < from || end - from > LARGEST || end - from > r->left) {
		r->failed = true;
		return;
	}
	r->left -= end - from;
	for (xc_addr at = from & ~(xc_addr)(WORD - 1); at < end && !r->failed; at += sizeof words) {
		size_t want = end - at < sizeof words ? (size_t)(end - at) : sizeof words;
		r->failed |= xc_space_peek(r->crash->process->space, at, words, want) < want;
		for (size_t i = 0; i < want / WORD && !r->failed; i++)
			if (!is_within(r->holes, XC_COUNT(r->holes), at + i * WORD))
				meet(r, words[i]);
	}
}

static void drain(struct reach *r)
{
	while (r->queued && !r->failed) {
		const struct part part = r->queue[--r->queued];
		scan(r, part.from, part.end);
	}
}

static bool is_marked(struct reach *r, xc_addr addr)
{
	struct xc_goobject object;
	if (in_data(r, addr) || !xc_gospans_object(&r->spans, addr, &object))
		return true;
	const union xc_hashtable_value *seen = xc_hashtable_find(&r->seen, object.addr, 1);
	return seen && seen->number <= addr;
}

/* ---- roots ---- */

static void scan_data(struct reach *r)
{
	for (size_t i = 0; i < XC_COUNT(r->data); i++)
		scan(r, r->data[i][0], r->data[i][1]);
}

/* Met, but never looked into. */
static void close_object(struct reach *r, xc_addr addr)
{
	struct xc_goobject object;
	if (xc_gospans_object(&r->spans, addr, &object))
		xc_hashtable_at(&r->seen, NULL, object.addr, 1)->number = 1;
}

/* What schedules goroutines, but for its addresses of free pages. */
static void scan_processors(struct reach *r)
{
	const struct xc_space *space = r->crash->process->space;
	xc_addr list, items, p;
	uint64_t size, count, pages, pages_size;
	struct xc_goobject object;
	if (!xc_goruntime_variable(r->go, "runtime.allp", &list, &size) ||
	    !xc_space_peek_uint(space, list, WORD, &items) || !xc_space_peek_uint(space, list + WORD, WORD, &count) ||
	    !xc_goruntime_offset(r->go, "runtime.p", "pcache", &pages, &pages_size)) {
		r->failed = true;
		return;
	}
	for (uint64_t i = 0; i < count && i < PROCESSORS; i++) {
		if (!xc_space_peek_uint(space, items + i * WORD, WORD, &p) || !xc_gospans_object(&r->spans, p, &object))
			continue;
		close_object(r, p);
		scan(r, p, p + pages);
		scan(r, p + pages + pages_size, object.addr + object.size);
	}
}

static void scan_goroutine(struct reach *r, xc_addr g)
{
	uint64_t status, sp, low, high;
	if (!xc_goroutine_status(r->go, g, &status) || !xc_goruntime_read(r->go, "runtime.g", g, "sched.sp", &sp) ||
	    !xc_goruntime_read(r->go, "runtime.g", g, "stack.lo", &low) ||
	    !xc_goruntime_read(r->go, "runtime.g", g, "stack.hi", &high)) {
		r->failed = true;
		return;
	}
	bool saved = status == XC_GOROUTINE_WAITS && sp >= low && sp < high;
	if (high)
		scan(r, saved ? sp : low, high);
	scan(r, g, g + r->g_size);
}

static void meet_registers(struct reach *r)
{
	const struct xc_process *p = r->crash->process;
	uint64_t value;
	xc_addr g;
	for (size_t i = 0; i < p->thread_count; i++)
		for (int reg = 0; reg < REGISTERS && xc_goruntime_current(r->go, &p->threads[i].regs, &g); reg++)
			if (xc_regs_get(&p->threads[i].regs, reg, &value))
				meet(r, value);
}

static bool waits_for_object(const struct xc_gowait *w)
{
	switch (w->kind) {
	case XC_GOWAIT_RECEIVE:
	case XC_GOWAIT_SEND:
	case XC_GOWAIT_MUTEX:
	case XC_GOWAIT_GROUP:
		return w->object;
	case XC_GOWAIT_SELECT:
	case XC_GOWAIT_FOREVER:
		return true;
	default:
		return false;
	}
}

static void close_objects(struct reach *r, const struct xc_gosemas *semas, const struct xc_goroutine_list *list)
{
	xc_addr g;
	uint64_t sudog;
	size_t cases = 0;
	for (uint64_t i = 0; xc_goroutine_at(r->go, list, i, &g); i++)
		close_object(r, g);
	for (size_t i = 0; i < semas->count; i++)
		close_object(r, semas->items[i].sudog);
	for (size_t i = 0; i < r->count; i++, cases = 0)
		for (bool more = xc_goruntime_read(r->go, "runtime.g", r->items[i].g, "waiting", &sudog);
		     more && sudog && cases++ < CASES;
		     more = xc_goruntime_read(r->go, "runtime.sudog", sudog, "waitlink", &sudog))
			close_object(r, sudog);
}

/* Goroutines of the runtime and the library. */
static void scan_others(struct reach *r, const struct xc_goroutine_list *list)
{
	xc_addr g;
	uint64_t status;
	for (uint64_t i = 0; xc_goroutine_at(r->go, list, i, &g) && !r->failed; i++)
		if (!xc_goroutine_status(r->go, g, &status))
			r->failed = true;
		else if (status && status != XC_GOROUTINE_ENDED && !xc_hashtable_find(&r->own, g, 1))
			scan_goroutine(r, g);
}

/* ---- who goes on ---- */

static bool one_is_marked(struct reach *r, const struct xc_gowait *w)
{
	uint64_t sudog, channel;
	size_t cases = 0;
	if (w->kind == XC_GOWAIT_FOREVER)
		return false;
	if (w->kind != XC_GOWAIT_SELECT)
		return is_marked(r, w->object);
	for (bool more = xc_goruntime_read(r->go, "runtime.g", w->g, "waiting", &sudog); more && sudog;
	     more = xc_goruntime_read(r->go, "runtime.sudog", sudog, "waitlink", &sudog))
		if (++cases > CASES || !xc_goruntime_read(r->go, "runtime.sudog", sudog, "c", &channel) ||
		    is_marked(r, channel))
			return true;
	return !cases;
}

static void spread(struct reach *r)
{
	for (bool more = true; more && !r->failed;) {
		more = false;
		drain(r);
		for (size_t i = 0; i < r->count && !r->failed; i++) {
			const struct xc_gowait *w = &r->items[i];
			if (r->goes_on[i] || (waits_for_object(w) && !one_is_marked(r, w)))
				continue;
			r->goes_on[i] = more = true;
			scan_goroutine(r, w->g);
		}
	}
}

static bool begin(struct reach *r)
{
	xc_addr module;
	uint64_t size, table, heap, offset;
	if (!xc_gospans_known(&r->spans) || !xc_goruntime_variable(r->go, "runtime.firstmoduledata", &module, &size) ||
	    !xc_goruntime_read(r->go, "runtime.moduledata", module, "data", &r->data[0][0]) ||
	    !xc_goruntime_read(r->go, "runtime.moduledata", module, "edata", &r->data[0][1]) ||
	    !xc_goruntime_read(r->go, "runtime.moduledata", module, "bss", &r->data[1][0]) ||
	    !xc_goruntime_read(r->go, "runtime.moduledata", module, "ebss", &r->data[1][1]) ||
	    !xc_goruntime_variable(r->go, "runtime.semtable", &r->holes[0][0], &table) ||
	    !xc_goruntime_variable(r->go, "runtime.mheap_", &r->holes[1][0], &heap) ||
	    !xc_goruntime_offset(r->go, "runtime.g", "", &offset, &r->g_size))
		return false;
	r->holes[0][1] = r->holes[0][0] + table;
	r->holes[1][1] = r->holes[1][0] + heap;
	return true;
}

/* Of a running process: is each where it was when its stack was read? */
static bool all_rested(const struct reach *r)
{
	uint64_t status, sp, before;
	for (size_t i = 0; i < r->count; i++) {
		const struct xc_gowait *w = &r->items[i];
		if (w->kind == XC_GOWAIT_CALL)
			continue;
		if (!w->frame_count || !xc_regs_get(&w->frames[0].regs, r->crash->process->arch->sp, &before) ||
		    !xc_goroutine_status(r->go, w->g, &status) || status != XC_GOROUTINE_WAITS ||
		    !xc_goruntime_read(r->go, "runtime.g", w->g, "sched.sp", &sp) || sp != before)
			return false;
	}
	return true;
}

bool xc_goreach_stuck(const struct xc_crash_context *crash, const struct xc_goruntime *go,
		      const struct xc_gosemas *semas, const struct xc_gowait *items, size_t count, bool *stuck)
{
	struct reach r = {.crash = crash,
			  .go = go,
			  .spans = {.go = go},
			  .left = BYTES,
			  .items = items,
			  .count = count,
			  .goes_on = xc_alloc((count + 1) * sizeof *r.goes_on)};
	struct xc_goroutine_list list;
	for (size_t i = 0; i < count; i++)
		xc_hashtable_at(&r.own, NULL, items[i].g, 1)->number = 1;
	r.failed = !begin(&r) || !xc_goroutine_list(go, &list);
	if (!r.failed) {
		close_objects(&r, semas, &list);
		scan_processors(&r);
		scan_others(&r, &list);
		scan_data(&r);
		meet_registers(&r);
		spread(&r);
		r.failed |= crash->process->live && !all_rested(&r);
	}
	for (size_t i = 0; i < count && !r.failed; i++)
		stuck[i] = !r.goes_on[i] && items[i].kind != XC_GOWAIT_FOREVER;
	xc_gospans_fini(&r.spans);
	xc_hashtable_fini(&r.seen);
	xc_hashtable_fini(&r.own);
	free(r.queue);
	free(r.goes_on);
	return !r.failed;
}
