#include "triage/goroutine/goasleep.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "triage/goroutine/gochannel.h"
#include "triage/goroutine/goholder.h"
#include "triage/goroutine/goroutine.h"
#include "triage/goroutine/gowait.h"
#include "triage/util/names.h"

enum { TOLD = 5, GROUPS = 64, MOST = 2000 };

/* What a goroutine waits for: in the order in which they are told. */
enum rank { FOR_MUTEX, FOR_GROUP, FOR_CONDITION, TO_SEND, FOR_OTHER, TO_RECEIVE };

/* Goroutines that wait alike. */
struct group {
	uint64_t id; /* of the first; 0: not known */
	const char *words;
	size_t count, order;
	enum rank rank;
	size_t first;                  /* its place among the items */
	struct xc_crash_context crash; /* with the frames of the first */
};

/* State of a walk over all goroutines. */
struct census {
	struct xc_crash_context *crash;
	const struct xc_goruntime *go;
	struct xc_gosemas semas;
	struct xc_goroutine_starts starts;
	bool state_known; /* of one at least */
	uint64_t waiting; /* goroutines of the program */
	struct group groups[GROUPS];
	size_t count;
	struct xc_gowait items[MOST];
	size_t item_count;
};

static bool waits(struct census *c, xc_addr g)
{
	uint64_t status;
	bool known = xc_goroutine_status(c->go, g, &status);
	c->state_known = c->state_known || known;
	return known && status == XC_GOROUTINE_WAITS;
}

/* Does the goroutine wait for a mutex? Appends it, with its address where that is known. */
static bool add_mutex(const struct xc_crash_context *crash, struct xc_text *text)
{
	static const char *const names[] = {"sync.(*Mutex).lockSlow", "sync.(*Mutex).Lock", "sync.(*RWMutex).Lock",
					    "sync.(*RWMutex).RLock", NULL};
	for (size_t i = 0; i < crash->frame_count; i++) {
		const struct xc_frame_context in = xc_crash_context_frame(crash, i);
		for (size_t level = 0; level < in.place->level_count; level++) {
			struct xc_value mutex;
			uint64_t at;
			const char *name = xc_place_function(in.place, level);
			if (!name || !xc_names_find(names, name))
				continue;
			xc_text_add(text, " for a mutex");
			if (xc_variable_find(&in, level, strstr(name, "RW") ? "rw" : "m", &crash->report->arena,
					     &mutex) &&
			    xc_value_load(&mutex, &at))
				xc_text_printf(text, ", 0x%" PRIx64 ",", at);
			return true;
		}
	}
	return false;
}

static enum rank rank_of(enum xc_gowait_kind kind, bool mutex)
{
	switch (kind) {
	case XC_GOWAIT_GROUP:
		return FOR_GROUP;
	case XC_GOWAIT_CONDITION:
		return FOR_CONDITION;
	case XC_GOWAIT_SEND:
		return TO_SEND;
	case XC_GOWAIT_RECEIVE:
		return TO_RECEIVE;
	default:
		return mutex ? FOR_MUTEX : FOR_OTHER;
	}
}

/* "waits (chan receive) in main.wait, main.go:7" */
static struct group look_at(struct census *c, xc_addr g)
{
	static const char waits_for[] = "waits";
	struct xc_text text = {0}, reason = {0};
	struct group one = {.crash = *c->crash, .count = 1, .order = c->count, .first = c->item_count};
	xc_gowait_read(c->crash, c->go, &c->semas, g, &c->items[c->item_count]);
	const struct xc_gowait w = c->items[c->item_count++];
	one.id = w.id;
	one.crash.frames = w.frames;
	one.crash.frame_count = w.frame_count;
	one.crash.blame = w.blame;
	xc_text_add(&text, waits_for);
	if (xc_goroutine_reason(c->go, g, &reason))
		xc_text_printf(&text, " (%s)", xc_text_string(&reason));
	xc_text_fini(&reason);
	bool mutex = add_mutex(&one.crash, &text) && w.blame.place;
	one.rank = rank_of(w.kind, mutex);
	if (one.rank == FOR_GROUP)
		xc_text_printf(&text, "%s,", w.words + strlen(waits_for));
	if (w.blame.place) {
		xc_text_add(&text, " in ");
		xc_gowait_where(&w.blame, &text);
	}
	one.words = xc_arena_strdup(&c->crash->report->arena, xc_text_string(&text));
	xc_text_fini(&text);
	return one;
}

static void count_one(struct census *c, xc_addr g)
{
	if (!waits(c, g) || !xc_goroutine_is_programs(c->go, g, &c->starts) || ++c->waiting > MOST)
		return;
	struct group one = look_at(c, g);
	for (size_t i = 0; i < c->count; i++)
		if (strcmp(c->groups[i].words, one.words) == 0) {
			c->groups[i].count++;
			return;
		}
	if (c->count < GROUPS)
		c->groups[c->count++] = one;
}

static int by_rank(const void *a, const void *b)
{
	const struct group *one = a, *other = b;
	if (one->rank != other->rank)
		return one->rank < other->rank ? -1 : 1;
	return one->order < other->order ? -1 : one->order > other->order;
}

/* Who has what it waits for. */
static void add_others(const struct census *c, const struct xc_gowait *w, struct xc_text *text)
{
	struct xc_arena scratch = {0};
	struct xc_goholders holders = {.crash = c->crash, .items = c->items, .count = c->item_count};
	const char *name;
	if (w->kind == XC_GOWAIT_MUTEX) {
		holders.bodies = xc_body_cache_new(c->crash->process, &scratch);
		xc_goholder_describe(&holders, w, text);
	} else if (w->object && (w->kind == XC_GOWAIT_SEND || w->kind == XC_GOWAIT_RECEIVE)) {
		name = xc_gochannel_name(c->crash, w, w->object);
		if (name)
			xc_text_printf(text, "; the channel is `%s`", name);
		xc_gochannel_describe(c->crash, c->go, c->items, c->item_count, w->object, text);
	}
	xc_arena_fini(&scratch);
}

static void report_group(const struct census *c, const struct group *group)
{
	const struct xc_crash_context *crash = c->crash;
	struct xc_text text = {0};
	if (group->id)
		xc_text_printf(&text, "goroutine %" PRIu64 "%s ", group->id, group->id == 1 ? ", main's," : "");
	else
		xc_text_add(&text, "a goroutine ");
	xc_text_add(&text, group->words);
	if (group->count > 1)
		xc_text_printf(&text, "; so do%s %zu more", group->count == 2 ? "es" : "", group->count - 1);
	add_others(c, &c->items[group->first], &text);
	xc_verdict_evidence(crash->report, "%s", xc_text_string(&text));
	xc_text_fini(&text);
}

static void report_missing(const struct census *c, const struct xc_goroutine_list *list, uint64_t seen)
{
	struct xc_report *report = c->crash->report;
	if (seen < list->count)
		xc_verdict_evidence(report, "missing: all but the first %" PRIu64 " of %" PRIu64 " goroutines", seen,
				    list->count);
	if (!c->state_known)
		xc_verdict_evidence(report,
				    "missing: which goroutines wait, and where: there is no debug information of "
				    "Go's runtime, or its memory cannot be read");
}

void xc_goasleep_report(struct xc_crash_context *crash, const struct xc_goruntime *go)
{
	struct census *c = xc_arena_alloc(&crash->report->arena, sizeof *c);
	struct xc_goroutine_list list = {0};
	uint64_t i = 0, told = 0;
	size_t waiting;
	xc_addr g;
	c->crash = crash;
	c->go = go;
	c->semas = xc_gosemas_read(crash, go);
	if (xc_goroutine_list(go, &list))
		for (; xc_goroutine_at(go, &list, i, &g); i++)
			count_one(c, g);
	qsort(c->groups, c->count, sizeof *c->groups, by_rank);
	for (size_t k = 0; k < c->count && k < TOLD; k++) {
		report_group(c, &c->groups[k]);
		told += c->groups[k].count;
	}
	if (c->waiting > told)
		xc_verdict_evidence(crash->report, "and %" PRIu64 " more goroutine%s", c->waiting - told,
				    c->waiting - told == 1 ? " waits" : "s wait");
	if (c->waiting == c->item_count)
		xc_gochannel_report_used_up(crash, go, c->items, c->item_count, &waiting);
	report_missing(c, &list, i);
	if (c->count)
		*crash = c->groups[0].crash;
	else
		crash->blame = (struct xc_blame){.place = NULL};
}
