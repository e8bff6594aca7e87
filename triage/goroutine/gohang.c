/* gohang: see gohang.h. A mutex of Go has no record of its holder: goholder.h. */
#include "triage/goroutine/gohang.h"

#include <inttypes.h>
#include <string.h>

#include "triage/goroutine/gochannel.h"
#include "triage/goroutine/goholder.h"
#include "triage/goroutine/goreach.h"

enum { MOST = 2000, MUTEXES = 64, GROUPS = 5, LAST_KIND = XC_GOWAIT_OTHER };

struct census {
	struct xc_crash_context *crash;
	struct xc_goruntime go;
	struct xc_gosemas semas;
	struct xc_goholders holders;
	struct xc_gowait *items; /* of goroutines of the program */
	size_t count;
	uint64_t all; /* of goroutines of the program, with those past MOST */
	size_t kinds[LAST_KIND + 1];
	bool has_main; /* main's waits for another goroutine */
	bool *stuck;   /* of each item: nobody who could go on leads to what it waits for (goreach.h) */
	size_t stuck_count;
	bool main_stuck;
	bool sure_stuck; /* programs do not rest like that */
};

static bool is_for_goroutine(const struct xc_gowait *w)
{
	switch (w->kind) {
	case XC_GOWAIT_RECEIVE:
	case XC_GOWAIT_SEND:
	case XC_GOWAIT_SELECT:
	case XC_GOWAIT_MUTEX:
	case XC_GOWAIT_GROUP:
	case XC_GOWAIT_CONDITION:
	case XC_GOWAIT_FOREVER:
		return true;
	default:
		return false;
	}
}

/* One that the standard library started serves it: os/signal.loop, the connections of net/http. */
static bool is_librarys(const struct census *c, xc_addr g)
{
	uint64_t start;
	return xc_goruntime_read(&c->go, "runtime.g", g, "startpc", &start) &&
	       strncmp(xc_goruntime_function(&c->go, start) ? xc_goruntime_function(&c->go, start) : "", "os/signal.",
		       10) == 0;
}

static void collect(struct census *c)
{
	struct xc_goroutine_list list;
	struct xc_goroutine_starts starts = {0};
	xc_addr g;
	uint64_t status;
	c->semas = xc_gosemas_read(c->crash, &c->go);
	if (!xc_goroutine_list(&c->go, &list))
		return;
	c->items = xc_arena_alloc(&c->crash->report->arena, MOST * sizeof *c->items);
	for (uint64_t i = 0; xc_goroutine_at(&c->go, &list, i, &g); i++) {
		if (!xc_goroutine_status(&c->go, g, &status) || !status || status == XC_GOROUTINE_ENDED ||
		    !xc_goroutine_is_programs(&c->go, g, &starts) || is_librarys(c, g))
			continue;
		if (c->all++ >= MOST)
			continue;
		struct xc_gowait *w = &c->items[c->count++];
		xc_gowait_read(c->crash, &c->go, &c->semas, g, w);
		c->kinds[w->kind]++;
		c->has_main |= w->id == 1 && is_for_goroutine(w);
	}
}

static bool none_goes_on(const struct census *c)
{
	return !c->kinds[XC_GOWAIT_NOT] && !c->kinds[XC_GOWAIT_CALL] && !c->kinds[XC_GOWAIT_IO] && c->all == c->count;
}

static bool rests(const struct census *c)
{
	return c->kinds[XC_GOWAIT_ACCEPT] || c->kinds[XC_GOWAIT_SIGNAL];
}

/* Idle workers wait to receive for good, and main's for what nobody will do, to keep the program alive: but none waits
 * to send, or for a mutex, and main's not for what such a worker has. */
static bool is_surely_stuck(const struct census *c, size_t i)
{
	const struct xc_gowait *w = &c->items[i];
	if (w->kind == XC_GOWAIT_SEND || w->kind == XC_GOWAIT_MUTEX)
		return true;
	return w->id == 1 && w->object &&
	       xc_gochannel_is_known(c->crash, &c->go, c->items, c->count, c->stuck, w->object);
}

/* In a running process they may be on their way. */
static void find_stuck(struct census *c)
{
	c->stuck = xc_arena_alloc(&c->crash->report->arena, (c->count + 1) * sizeof *c->stuck);
	if (c->all != c->count || (c->crash->process->live && c->kinds[XC_GOWAIT_NOT]) ||
	    !xc_goreach_stuck(c->crash, &c->go, &c->semas, c->items, c->count, c->stuck))
		return;
	for (size_t i = 0; i < c->count; i++) {
		c->stuck_count += c->stuck[i];
		c->main_stuck |= c->stuck[i] && c->items[i].id == 1;
		c->sure_stuck |= c->stuck[i] && is_surely_stuck(c, i);
	}
}

static bool hangs(const struct census *c)
{
	if (c->kinds[XC_GOWAIT_MUTEX])
		return true;
	return none_goes_on(c) &&
	       (c->kinds[XC_GOWAIT_SEND] || (!rests(c) && (c->kinds[XC_GOWAIT_GROUP] || c->has_main)));
}

/* ---- mutexes ---- */

/* Does the goroutine wait for a mutex whose holder waits for one that it holds itself, and so on? The number of those
 * in the circle; 0: no. */
static size_t cycle_of(struct census *c, const struct xc_gowait *from)
{
	struct xc_goholding how;
	const struct xc_gowait *at = from;
	for (size_t steps = 1; steps < MUTEXES; steps++) {
		at = at->kind == XC_GOWAIT_MUTEX ? xc_goholder_find(&c->holders, at->object, &how) : NULL;
		if (!at)
			return 0;
		if (at == from)
			return steps;
	}
	return 0;
}

/* The number of those that wait so for the lock of `first`, the first of them; 0, and NULL, when there is none, or when
 * others may be the readers that the writer waits for. */
static size_t count_readers(const struct census *c, const struct xc_gowait **first)
{
	struct xc_goholding how;
	size_t count = 0;
	*first = NULL;
	for (size_t i = 0; i < c->count && i < MUTEXES; i++) {
		const struct xc_gowait *w = &c->items[i];
		if ((*first && w->object != (*first)->object) || !xc_goholder_reads_again(&c->holders, w, &how))
			continue;
		*first = count++ ? *first : w;
	}
	if (count && (count != (*first)->readers || count != xc_goholder_count(&c->holders, (*first)->object))) {
		*first = NULL;
		return 0;
	}
	return count;
}

/* The likely holder of a mutex that others wait for, who waits for no mutex itself, or does not wait: all depends on
 * it. The mutex of `of` is the one that it holds. */
static const struct xc_gowait *find_last(const struct census *c, const struct xc_gowait **of)
{
	struct xc_goholding how;
	for (size_t i = 0; i < c->count && i < MUTEXES; i++) {
		const struct xc_gowait *at = &c->items[i];
		for (size_t steps = 0; at && at->kind == XC_GOWAIT_MUTEX && steps < MUTEXES; steps++) {
			*of = at;
			at = xc_goholder_find(&c->holders, at->object, &how);
			if (at && at->kind != XC_GOWAIT_MUTEX)
				return at;
		}
	}
	return NULL;
}

/* ---- in words ---- */

static bool same(const struct xc_gowait *a, const struct xc_gowait *b)
{
	return a->kind == b->kind && strcmp(a->words, b->words) == 0 && strcmp(a->behind, b->behind) == 0 &&
	       a->blame.place == b->blame.place && a->blame.level == b->blame.level &&
	       (a->kind != XC_GOWAIT_MUTEX || a->object == b->object);
}

static bool is_first(const struct census *c, size_t index)
{
	for (size_t i = 0; i < index; i++)
		if (same(&c->items[i], &c->items[index]) && c->stuck[i] == c->stuck[index])
			return false;
	return true;
}

static bool is_at_channel(const struct xc_gowait *w)
{
	return w->object && (w->kind == XC_GOWAIT_SEND || w->kind == XC_GOWAIT_RECEIVE);
}

/* For good: who has the channel at all. */
static void add_stuck(struct census *c, const struct xc_gowait *w, bool channel, struct xc_text *text)
{
	const char *deed = w->kind == XC_GOWAIT_SEND ? "receive from it" : "send to it, or close it,";
	xc_text_add(text, "; likely for good: ");
	if (!channel) {
		xc_text_add(text, w->kind == XC_GOWAIT_FOREVER
					  ? "nothing ends that"
					  : "no goroutine that goes on leads to what it waits for");
		return;
	}
	xc_text_printf(text, "no goroutine that could %s has the channel", deed);
	xc_gochannel_describe(c->crash, &c->go, c->items, c->count, w->object, text);
}

static void add_group(struct census *c, size_t index, struct xc_text *text)
{
	const struct xc_gowait *w = &c->items[index];
	size_t more = 0;
	bool others = false;
	for (size_t i = index + 1; i < c->count; i++) {
		bool alike = same(w, &c->items[i]) && c->stuck[i] == c->stuck[index];
		more += alike;
		others |= alike && is_at_channel(w) && c->items[i].object != w->object;
	}
	bool channel = is_at_channel(w);
	xc_gowait_describe(w,
			   w->kind == XC_GOWAIT_MUTEX ? xc_goholder_own_name(&c->holders, w)
			   : channel                  ? xc_gochannel_name(c->crash, w, w->object)
						      : NULL,
			   text);
	if (more)
		xc_text_printf(text, "; so do%s %zu more%s", more == 1 ? "es" : "", more,
			       others ? ", not all at the same channel" : "");
	if (w->kind == XC_GOWAIT_MUTEX)
		xc_goholder_describe(&c->holders, w, text);
	else if (c->stuck[index])
		add_stuck(c, w, channel, text);
}

/* Those that wait for others are the cause, the rest is evidence. */
static char *tell(struct census *c)
{
	struct xc_text cause = {0}, one = {0};
	size_t told[2] = {0, 0};
	for (size_t i = 0; i < c->count; i++) {
		bool rest = !is_for_goroutine(&c->items[i]);
		if (!is_first(c, i) || told[rest]++ >= GROUPS)
			continue;
		one.len = 0;
		add_group(c, i, &one);
		if (rest)
			xc_verdict_evidence(c->crash->report, "%s", one.bytes);
		else
			xc_text_printf(&cause, "%s%s", told[0] > 1 ? "; " : "", one.bytes);
	}
	if (told[0] > GROUPS)
		xc_text_printf(&cause, "; and %zu other groups", told[0] - GROUPS);
	if (c->all > c->count)
		xc_verdict_evidence(c->crash->report, "missing: what %" PRIu64 " other goroutines wait for",
				    c->all - c->count);
	xc_text_fini(&one);
	return xc_text_take(&cause);
}

static bool is_first_of_mutex(const struct census *c, size_t index)
{
	for (size_t i = 0; i < index; i++)
		if (c->items[i].kind == XC_GOWAIT_MUTEX && c->items[i].object == c->items[index].object)
			return false;
	return c->items[index].kind == XC_GOWAIT_MUTEX && c->items[index].object;
}

/* Mutexes that are locked, and nobody has. */
static void report_missing(const struct census *c)
{
	size_t told = 0;
	for (size_t i = 0; i < c->count && i < MUTEXES && told < GROUPS && c->all == c->count; i++) {
		const struct xc_gowait *w = &c->items[i];
		if (!is_first_of_mutex(c, i) || !xc_goholder_is_missing(&c->holders, w->object))
			continue;
		const char *name = xc_goholder_own_name(&c->holders, w);
		xc_verdict_evidence(c->crash->report,
				    "%s%s%s0x%" PRIx64
				    " is locked, and no goroutine's stack shows its holder: perhaps it "
				    "was never unlocked, after a return or a panic between Lock() and Unlock(), or "
				    "its structure was copied while it was locked",
				    name ? "`" : "", name ? name : "", name ? "` at " : "", w->object);
		told++;
	}
}

static const struct xc_gowait *choose(const struct census *c)
{
	static const enum xc_gowait_kind order[] = {XC_GOWAIT_MUTEX,   XC_GOWAIT_SEND,  XC_GOWAIT_CONDITION,
						    XC_GOWAIT_FOREVER, XC_GOWAIT_GROUP, XC_GOWAIT_RECEIVE,
						    XC_GOWAIT_SELECT};
	for (size_t k = 0; k < XC_COUNT(order); k++)
		for (size_t i = 0; i < c->count; i++)
			if (c->items[i].kind == order[k])
				return &c->items[i];
	return NULL;
}

static size_t count_waiting(const struct census *c, xc_addr mutex)
{
	size_t count = 0;
	for (size_t i = 0; i < c->count; i++)
		count += c->items[i].kind == XC_GOWAIT_MUTEX && (!mutex || c->items[i].object == mutex);
	return count;
}

static const char *headline(const struct census *c, size_t cycle, size_t readers, const struct xc_gowait *last,
			    const struct xc_gowait *of)
{
	struct xc_arena *arena = &c->crash->report->arena;
	size_t waiting = 0;
	if (!cycle && readers)
		return xc_arena_printf(arena,
				       "deadlock: %zu goroutine%s likely hold%s a sync.RWMutex to read, and want%s to "
				       "read it again, behind a writer",
				       readers, readers == 1 ? "" : "s", readers == 1 ? "s" : "",
				       readers == 1 ? "s" : "");
	for (size_t i = 0; i < c->count; i++)
		waiting += is_for_goroutine(&c->items[i]);
	if (cycle == 1)
		return "deadlock: a goroutine waits for a mutex that it likely holds itself";
	if (cycle)
		return xc_arena_printf(arena, "deadlock: %zu goroutines wait for each other", cycle);
	if (c->sure_stuck && c->main_stuck)
		return xc_arena_printf(
			arena,
			"deadlock: main's goroutine%s likely wait%s for good: no goroutine that goes on "
			"leads to what %s",
			c->stuck_count == 1   ? ""
			: c->stuck_count == 2 ? " and another"
					      : xc_arena_printf(arena, " and %zu others", c->stuck_count - 1),
			c->stuck_count == 1 ? "s" : "", c->stuck_count == 1 ? "it waits for" : "they wait for");
	if (c->sure_stuck)
		return xc_arena_printf(
			arena,
			"%zu goroutine%s likely wait%s for good: no goroutine that goes on leads to what "
			"%s",
			c->stuck_count, c->stuck_count == 1 ? "" : "s", c->stuck_count == 1 ? "s" : "",
			c->stuck_count == 1 ? "it waits for" : "they wait for");
	if (last && !none_goes_on(c)) {
		waiting = count_waiting(c, of->object);
		return xc_arena_printf(
			arena, "%zu goroutine%s for a mutex that goroutine %" PRIu64 " likely holds: perhaps a hang",
			waiting, waiting == 1 ? " waits" : "s wait", last->id);
	}
	if (none_goes_on(c))
		return xc_arena_printf(arena, "no goroutine runs, %zu wait%s for others: perhaps a hang", waiting,
				       waiting == 1 ? "s" : "");
	return xc_arena_printf(arena, "%zu goroutine%s for a mutex: perhaps a hang", c->kinds[XC_GOWAIT_MUTEX],
			       c->kinds[XC_GOWAIT_MUTEX] == 1 ? " waits" : "s wait");
}

static const struct xc_gowait *find_cycle(struct census *c, size_t *length_out)
{
	for (size_t i = 0; i < c->count && i < MUTEXES; i++)
		if (c->items[i].kind == XC_GOWAIT_MUTEX && (*length_out = cycle_of(c, &c->items[i])))
			return &c->items[i];
	*length_out = 0;
	return NULL;
}

static void classify(struct census *c)
{
	struct xc_crash_context *crash = c->crash;
	size_t cycle;
	const struct xc_gowait *of = NULL, *reader, *w = find_cycle(c, &cycle), *last = w ? NULL : find_last(c, &of);
	size_t readers = count_readers(c, &reader);
	bool ends = c->main_stuck && c->sure_stuck && none_goes_on(c) && !rests(c);
	size_t waiting = 0;
	const struct xc_gowait *used_up =
		c->all == c->count ? xc_gochannel_report_used_up(crash, &c->go, c->items, c->count, &waiting) : NULL;
	bool sure = cycle || readers || ends, stands = sure || none_goes_on(c);
	report_missing(c);
	xc_auto(xc_freep) char *cause = tell(c);
	/* Programs do not rest at a mutex. */
	bool normal = !(none_goes_on(c) && c->kinds[XC_GOWAIT_MUTEX]);
	if (!sure && normal && crash->verdict->class_name) {
		xc_verdict_evidence(crash->report, "%s: %s", c->sure_stuck ? "likely it hung" : "perhaps it hung",
				    cause);
		return;
	}
	bool lost = !w && !reader && !ends && used_up;
	w = w ? w : reader ? reader : lost ? used_up : last ? last : choose(c);
	bool likely = sure || c->sure_stuck;
	if (crash->verdict->headline)
		xc_verdict_evidence(crash->report, "%s", crash->verdict->headline);
	crash->verdict->headline =
		lost ? xc_arena_printf(&crash->report->arena,
				       "%zu goroutine%s for a semaphore whose places perhaps were not given back",
				       waiting, waiting == 1 ? " waits" : "s wait")
		     : headline(c, cycle, readers, last, of);
	crash->blame = w->blame;
	crash->frames = w->frames;
	crash->frame_count = w->frame_count;
	crash->off_thread = true;
	xc_crash_context_classify(crash, stands ? "deadlock" : "hang", "goroutines", stands ? "medium" : "low",
				  likely ? "likely" : "guess", cause);
}

bool xc_gohang_classify(struct xc_crash_context *crash)
{
	struct census c = {.crash = crash};
	const struct xc_thread *thread = crash->thread;
	if (!crash->process->thread_count || !xc_goruntime_find(crash->process, &c.go))
		return false;
	crash->thread = thread ? thread : &crash->process->threads[0];
	collect(&c);
	c.holders = (struct xc_goholders){.crash = crash,
					  .bodies = xc_body_cache_new(crash->process, &crash->report->arena),
					  .items = c.items,
					  .count = c.count};
	find_stuck(&c);
	if (!hangs(&c)) {
		crash->thread = thread;
		return false;
	}
	crash->verdict = xc_report_verdict(crash->report);
	classify(&c);
	return true;
}
