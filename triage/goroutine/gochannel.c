/* gochannel: see gochannel.h. */
#include "triage/goroutine/gochannel.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "dwarf/stack/variable.h"
#include "triage/code/body.h"
#include "triage/goroutine/gopackage.h"
#include "triage/goroutine/gospan.h"
#include "triage/goroutine/gotype.h"
#include "triage/util/names.h"

enum { CALLERS = 3 };
enum { TOLD = 3, ASKED = 64, STACK = 1 << 13, OBJECT = 1 << 12, WORD = 8, BYTES = 8 << 20 };

struct search {
	const struct xc_crash_context *crash;
	const struct xc_goruntime *go;
	struct xc_gospans spans;
	xc_addr object, from, end; /* what is searched, and the heap object that it is in */
	uint64_t left;
};

static struct search search_for(const struct xc_crash_context *crash, const struct xc_goruntime *go, xc_addr object)
{
	struct search s = {.crash = crash,
			   .go = go,
			   .spans = {.go = go},
			   .object = object,
			   .from = object,
			   .end = object + 1,
			   .left = BYTES};
	struct xc_goobject in;
	if (xc_gospans_object(&s.spans, object, &in)) {
		s.from = in.addr;
		s.end = in.addr + in.size;
	}
	return s;
}

static bool leads_there(const struct search *s, uint64_t word)
{
	return word >= s->from && word < s->end;
}

static size_t read_words(struct search *s, xc_addr at, uint64_t size, uint64_t *words)
{
	if (size > s->left)
		return 0;
	s->left -= size;
	return xc_space_peek(s->crash->process->space, at, words, (size_t)size) / WORD;
}

/* A sudog leads to what its goroutine waits for: a stale pointer to it tells nothing. */
static bool is_sudog(const struct search *s, const struct xc_goobject *object)
{
	uint64_t waits;
	return (xc_goruntime_read(s->go, "runtime.sudog", object->addr, "c", &waits) && waits == s->object) ||
	       (xc_goruntime_read(s->go, "runtime.sudog", object->addr, "elem", &waits) && leads_there(s, waits));
}

static bool object_has(struct search *s, xc_addr addr)
{
	uint64_t words[OBJECT / WORD];
	struct xc_goobject object;
	if (!xc_gospans_object(&s->spans, addr, &object) || !object.has_pointers || object.size > sizeof words ||
	    is_sudog(s, &object))
		return false;
	size_t count = read_words(s, object.addr, object.size, words);
	for (size_t i = 0; i < count; i++)
		if (leads_there(s, words[i]))
			return true;
	return false;
}

/* Ignores paths through its g: any goroutine's stack may hold one. */
static bool has(struct search *s, const struct xc_gowait *w)
{
	uint64_t words[STACK / WORD], sp, high, last = 0;
	if (!w->frame_count || !xc_regs_get(&w->frames[0].regs, s->crash->process->arch->sp, &sp) ||
	    !xc_goruntime_read(s->go, "runtime.g", w->g, "stack.hi", &high) || high <= sp)
		return false;
	size_t count = read_words(s, sp, high - sp < sizeof words ? high - sp : sizeof words, words);
	for (size_t i = 0; i < count; i++)
		if (leads_there(s, words[i]))
			return true;
	for (size_t i = 0; i < count; last = words[i++])
		if (words[i] != last && words[i] != w->g && object_has(s, words[i]))
			return true;
	return false;
}

/* Of a select, too. */
static bool waits_at(const struct search *s, const struct xc_gowait *w)
{
	uint64_t sudog, channel;
	size_t cases = 0;
	if (w->kind != XC_GOWAIT_SELECT)
		return w->object == s->object;
	for (bool more = xc_goruntime_read(s->go, "runtime.g", w->g, "waiting", &sudog); more && sudog && cases < ASKED;
	     more = xc_goruntime_read(s->go, "runtime.sudog", sudog, "waitlink", &sudog), cases++)
		if (xc_goruntime_read(s->go, "runtime.sudog", sudog, "c", &channel) && channel == s->object)
			return true;
	return false;
}

static size_t find_having(struct search *s, const struct xc_gowait *items, size_t count, const bool *only,
			  size_t *having)
{
	size_t found = 0;
	for (size_t i = 0; i < count && i < ASKED; i++) {
		if ((only && !only[i]) || waits_at(s, &items[i]) || !has(s, &items[i]))
			continue;
		if (found < TOLD)
			having[found] = i;
		found++;
	}
	return found;
}

bool xc_gochannel_is_known(const struct xc_crash_context *crash, const struct xc_goruntime *go,
			   const struct xc_gowait *items, size_t count, const bool *among, xc_addr object)
{
	size_t having[TOLD];
	struct search s = search_for(crash, go, object);
	bool known = find_having(&s, items, count, among, having);
	xc_gospans_fini(&s.spans);
	return known;
}

/* ---- its name ---- */

struct naming {
	const struct xc_crash_context *crash;
	xc_addr channel;
	struct xc_gowalk walk;
	const char *name;
};

static bool name_value(void *user, const char *path, const struct xc_value *value)
{
	struct naming *n = user;
	uint64_t bits;
	if (xc_gotype_is_channel(value->type) && xc_value_load(value, &bits) && bits == n->channel)
		n->name = xc_arena_strdup(&n->crash->report->arena, path);
	return !n->name;
}

static void name_in_frame(struct naming *n, const struct xc_frame *frame)
{
	struct xc_frame_context context = {.process = n->crash->process,
					   .thread = n->crash->thread,
					   .unwinder = n->crash->unwinder,
					   .frame = frame,
					   .place = xc_debuginfo_place(n->crash->process, xc_frame_lookup(frame))};
	struct xc_arena scratch = {0};
	for (size_t level = 0; level < context.place->level_count && !n->name; level++)
		for (int locals = 0; locals < 2; locals++) {
			struct xc_named_value *values;
			size_t count = xc_variable_values(&context, level, locals, &scratch, &values);
			for (size_t i = 0; i < count && !n->name; i++)
				xc_gowalk_variable(&n->walk, &values[i]);
		}
	xc_arena_fini(&scratch);
}

const char *xc_gochannel_name(const struct xc_crash_context *crash, const struct xc_gowait *w, xc_addr channel)
{
	struct naming n = {.crash = crash, .channel = channel, .walk = {.each = name_value, .user = &n}};
	size_t first = 0;
	while (w->blame.place && first < w->frame_count && w->frames[first].pc != w->blame.frame.pc)
		first++;
	for (size_t i = first; w->blame.place && i < w->frame_count && i < first + CALLERS && !n.name; i++)
		name_in_frame(&n, &w->frames[i]);
	return n.name;
}

static void add_having(const struct xc_crash_context *crash, const struct xc_gowait *w, xc_addr channel,
		       struct xc_text *text)
{
	const char *name = xc_gochannel_name(crash, w, channel);
	xc_text_printf(text, "goroutine %" PRIu64 "%s", w->id, name ? " (`" : "");
	if (name)
		xc_text_printf(text, "%s`)", name);
	xc_text_printf(text, ", which %s", w->words);
}

void xc_gochannel_describe(const struct xc_crash_context *crash, const struct xc_goruntime *go,
			   const struct xc_gowait *items, size_t count, xc_addr channel, struct xc_text *text)
{
	size_t having[TOLD];
	struct search s = search_for(crash, go, channel);
	size_t found = find_having(&s, items, count, NULL, having);
	for (size_t i = 0; i < found && i < TOLD; i++) {
		xc_text_add(text, i ? ", " : "; it is known to ");
		add_having(crash, &items[having[i]], channel, text);
	}
	if (found > TOLD)
		xc_text_printf(text, ", and %zu others", found - TOLD);
	xc_gospans_fini(&s.spans);
}

/* ---- semaphores ---- */

enum {
	SENDERS = 4, /* channels that are looked at */
	MOST = 256,  /* goroutines whose stacks are compared */
	DEEPEST = 32,
};

/* One without content whose buffer is full: who sends takes a place, who receives gives it back. */
static bool is_used_up(const struct xc_goruntime *go, xc_addr channel)
{
	uint64_t places, taken, size;
	return channel && xc_goruntime_read(go, "runtime.hchan", channel, "dataqsiz", &places) && places &&
	       xc_goruntime_read(go, "runtime.hchan", channel, "qcount", &taken) && taken == places &&
	       xc_goruntime_read(go, "runtime.hchan", channel, "elemsize", &size) && !(size & UINT16_MAX);
}

/* Does the function that sends receive, too? */
static bool gives_back(const struct xc_crash_context *crash, const struct xc_gowait *w)
{
	static const char *const names[] = {"runtime.chanrecv1", "runtime.chanrecv2", NULL};
	struct xc_arena scratch = {0};
	const struct xc_body *body = xc_body_read(crash->process, xc_frame_lookup(&w->blame.frame), &scratch);
	bool found = false;
	for (size_t i = 0; body && i < body->count && !found; i++) {
		const char *callee =
			body->insns[i].kind == XC_INSN_CALL ? xc_body_callee(body, &body->insns[i], NULL) : NULL;
		found = callee && xc_names_find(names, callee);
	}
	xc_arena_fini(&scratch);
	return found;
}

/* How many functions of that name are on the goroutine's stack? */
static size_t count_in(const struct xc_crash_context *crash, const struct xc_gowait *w, const char *function)
{
	size_t found = 0;
	for (size_t i = 0; i < w->frame_count && i < DEEPEST; i++) {
		const struct xc_place *place = xc_debuginfo_place(crash->process, xc_frame_lookup(&w->frames[i]));
		for (size_t l = 0; l < place->level_count; l++) {
			const char *name = xc_place_function(place, l);
			found += name && strcmp(name, function) == 0;
		}
	}
	return found;
}

/* May a goroutine have a place: one that is in a function of the program which leads to where they wait, that has the
 * channel otherwise, or that waits for a second place? */
static bool may_be_had(const struct xc_crash_context *crash, const struct xc_goruntime *go,
		       const struct xc_gowait *items, size_t count, const struct xc_gowait *w)
{
	const char *own = xc_place_function(w->blame.place, w->blame.level);
	size_t having[TOLD];
	struct search s = search_for(crash, go, w->object);
	bool had = !own || find_having(&s, items, count, NULL, having);
	xc_gospans_fini(&s.spans);
	for (size_t i = 0; i < count && !had; i++)
		had = items[i].object == w->object && count_in(crash, &items[i], own) != 1;
	for (size_t f = 0; f < w->frame_count && f < DEEPEST && !had; f++) {
		const struct xc_place *place = xc_debuginfo_place(crash->process, xc_frame_lookup(&w->frames[f]));
		for (size_t l = 0; l < place->level_count && !had; l++) {
			const char *name = xc_place_function(place, l);
			if (!name || xc_gopackage_is_standard(name))
				continue;
			for (size_t i = 0; i < count && !had; i++)
				had = items[i].object != w->object &&
				      (!items[i].frame_count || count_in(crash, &items[i], name));
		}
	}
	return had;
}

static bool is_lost(const struct xc_crash_context *crash, const struct xc_goruntime *go, const struct xc_gowait *items,
		    size_t count, const struct xc_gowait *w)
{
	if (w->kind != XC_GOWAIT_SEND || !w->blame.place || count > MOST || !is_used_up(go, w->object))
		return false;
	for (size_t i = 0; i < count; i++)
		if (items[i].object == w->object && items[i].kind != XC_GOWAIT_SEND)
			return false; /* one that receives */
	return gives_back(crash, w) && !may_be_had(crash, go, items, count, w);
}

const struct xc_gowait *xc_gochannel_report_used_up(const struct xc_crash_context *crash, const struct xc_goruntime *go,
						    const struct xc_gowait *items, size_t count, size_t *waiting_out)
{
	const struct xc_gowait *w = NULL;
	struct xc_text where = {0};
	*waiting_out = 0;
	for (size_t i = 0, senders = 0; i < count && senders < SENDERS && !w; i++) {
		bool first = items[i].kind == XC_GOWAIT_SEND && items[i].object;
		for (size_t k = 0; k < i && first; k++)
			first = items[k].object != items[i].object;
		if (!first)
			continue;
		senders++;
		w = is_lost(crash, go, items, count, &items[i]) ? &items[i] : NULL;
	}
	if (!w)
		return NULL;
	for (size_t i = 0; i < count; i++)
		*waiting_out += items[i].object == w->object;
	const char *name = xc_gochannel_name(crash, w, w->object);
	xc_gowait_where(&w->blame, &where);
	xc_verdict_evidence(
		crash->report,
		"all places of the semaphore %s%s%s0x%" PRIx64
		" are taken, and no goroutine is seen beyond %s: perhaps they were not given back, as after "
		"an early return or a panic",
		name ? "`" : "", name ? name : "", name ? "` at " : "", w->object, xc_text_string(&where));
	xc_text_fini(&where);
	return w;
}
