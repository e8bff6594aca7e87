/* gochannel: see gochannel.h. */
#include "triage/goroutine/gochannel.h"

#include <inttypes.h>
#include <stdio.h>

#include "dwarf/stack/variable.h"
#include "triage/goroutine/gospan.h"
#include "triage/goroutine/gotype.h"

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
