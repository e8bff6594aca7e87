/* recursion: see recursion.h.
 *
 *	one frame takes half of what is used       large-frame, or alloca when its function's code has no such number
 *	a cycle takes half of it                   recursion, and the cycle is reported
 *	functions that recur in no fixed order     recursion, with their names: parsers and evaluators do so
 *	none of it                                 a small stack, and its largest users */
#include "triage/stack/recursion.h"

#include <inttypes.h>
#include <string.h>

#include "triage/stack/call_cycle.h"
#include "triage/stack/large_frame.h"
#include "triage/stack/recursion_arguments.h"
#include "triage/stack/recursion_ring.h"
#include "triage/util/sourceline.h"
#include "triage/stack/stack_end.h"
#include "triage/stack/stack_usage.h"
#include "triage/util/user_code.h"

enum {
	HALF = 2,
	NAMES = 6, /* functions to name that recur in no fixed order */
	TOP = 3,   /* functions to list by their bytes */
	MUCH = 20,
	NEAR = 16,            /* library frames between the cycle and its entry */
	INNER = 3,            /* frames of the last round to name */
	RECURS = 8,           /* frames of a function that count as recursion */
	MAIN_GUARD = 1 << 20, /* stack_guard_gap: Linux keeps 256 pages below a stack that grows */
};

struct overflow {
	struct xc_crash_context *crash;
	struct xc_stack_end end;
	struct xc_stack_usage use;
	struct xc_call_cycle cycle; /* of use, where that has one */
};

static const struct xc_stack_user *user_at(const struct overflow *o, uint64_t frame)
{
	return &o->use.users[o->use.user_of[frame]];
}

/* ---- who is to blame ---- */

/* A frame of the user that has called another function, so that its line is that of the call. */
static void blame_user(struct overflow *o, const struct xc_stack_user *user, uint64_t from)
{
	for (uint64_t i = from ? from : 1; i < o->crash->frame_count && i < o->use.frame_count; i++)
		if (user_at(o, i) == user) {
			xc_crash_context_blame(o->crash, (size_t)i);
			return;
		}
	if (user->first < o->crash->frame_count)
		xc_crash_context_blame(o->crash, user->first);
}

/* ---- what is said ---- */

static void classify(struct overflow *o, const char *kind, uint64_t frame, struct xc_text *cause)
{
	uint64_t guard = o->end.guard ? o->end.guard->hi - o->end.guard->lo + 1 : MAIN_GUARD;
	xc_crash_context_classify(o->crash, "stack-overflow", kind, frame > guard ? "medium" : "low",
				  o->end.framed ? "certain" : "likely", xc_text_string(cause));
	xc_text_fini(cause);
}

static void add_filled(const struct overflow *o, struct xc_text *text)
{
	xc_text_add(text, o->use.cut ? ", until the stack was used up (more than " : ", until the stack was used up (");
	xc_text_size(text, o->use.bytes);
	xc_text_add(text, ")");
}

static void cycle_cause(const struct overflow *o, struct xc_text *text)
{
	const struct xc_stack_user *through;
	size_t own = xc_call_cycle_describe_own(&o->cycle, text, &through);
	if (!own) {
		through = NULL;
		xc_call_cycle_describe(&o->cycle, text);
		own = o->use.period;
	}
	if (own == 1) {
		xc_text_add(text, " called itself");
		xc_text_add(text, through ? ", through " : "");
		if (through)
			xc_call_cycle_name(o->crash, through, text);
		size_t calls = xc_call_cycle_calls(&o->cycle);
		if (calls > 1)
			xc_text_printf(text, ", %zu times in each of %" PRIu64 " frames", calls,
				       xc_call_cycle_rounds(&o->cycle));
		else
			xc_text_printf(text, "%s %" PRIu64 " times", through ? "," : "",
				       xc_call_cycle_rounds(&o->cycle) - 1);
	} else {
		xc_text_printf(text, " repeated %" PRIu64 " times", xc_call_cycle_rounds(&o->cycle));
	}
	xc_text_add(text, o->use.cut ? " and more" : "");
	add_filled(o, text);
}

static void classify_cycle(struct overflow *o)
{
	struct xc_text text = {0}, shown = {0};
	uint64_t rounds = xc_call_cycle_rounds(&o->cycle);
	xc_call_cycle_rotate(&o->cycle);
	cycle_cause(o, &text);
	classify(o, "recursion", o->use.largest, &text);
	blame_user(o, xc_call_cycle_user(&o->cycle, 0), o->use.cycle_at);
	xc_call_cycle_describe(&o->cycle, &shown);
	xc_verdict_evidence(o->crash->report, "recursion: %" PRIu64 " × [%s], %s%" PRIu64 " bytes a round", rounds,
			    xc_text_string(&shown), o->use.cycle_bytes % rounds ? "about " : "",
			    o->use.cycle_bytes / rounds);
	xc_text_fini(&shown);
	uint64_t first = o->use.cycle_at + o->use.period - 1 - o->cycle.start;
	xc_recursion_arguments_report(o->crash, &o->use, first);
	xc_recursion_ring_report(o->crash, &o->use, first);
}

/* ---- one frame ---- */

static void classify_frame(struct overflow *o)
{
	size_t at = (size_t)o->use.largest_at;
	struct xc_text text = {0};
	bool known;
	uint64_t coded = xc_large_frame_coded(o->crash, at, o->use.largest, &known);
	bool computed = known && !coded;
	xc_call_cycle_name(o->crash, user_at(o, at), &text);
	xc_text_add(&text, computed ? " took " : " has a frame of ");
	xc_text_size(&text, coded > o->use.largest ? coded : o->use.largest);
	xc_text_add(&text, computed ? " on the stack, by alloca or a variable-length array: more than was left of it"
				    : ": more than was left of the stack");
	classify(o, computed ? "alloca" : "large-frame", o->use.largest, &text);
	if (!known || o->use.lost)
		o->crash->verdict->confidence = "likely";
	if (o->use.lost)
		xc_verdict_evidence(o->crash->report, "missing: the stack above that frame, which cannot be unwound");
	uint64_t size = 0;
	const char *local = xc_large_frame_local(o->crash, at, o->use.largest, &size);
	if (local)
		xc_verdict_evidence(o->crash->report, "%" PRIu64 " bytes of the frame are its variable %s", size,
				    local);
	o->crash->verdict->expression = local;
	xc_crash_context_blame(o->crash, at);
}

/* ---- no order ---- */

static bool recurs(const struct xc_stack_user *user)
{
	return user->frames >= RECURS;
}

/* "eval, apply and expand": those that recur, by their bytes. */
static void add_recurring(const struct overflow *o, size_t count, struct xc_text *text)
{
	size_t told = 0;
	for (size_t i = 0; i < o->use.user_count && told < NAMES; i++) {
		if (!recurs(&o->use.users[i]))
			continue;
		xc_text_add(text, !told ? "" : told + 1 == count ? " and " : ", ");
		xc_call_cycle_name(o->crash, &o->use.users[i], text);
		told++;
	}
	if (told < count)
		xc_text_printf(text, " and %zu more", count - told);
}

static bool classify_recurring(struct overflow *o, uint64_t least)
{
	uint64_t frames = 0, bytes = 0;
	const struct xc_stack_user *blamed = NULL;
	struct xc_text text = {0};
	size_t count = 0;
	for (size_t i = 0; i < o->use.user_count; i++) {
		const struct xc_stack_user *user = &o->use.users[i];
		if (!recurs(user))
			continue;
		count++;
		frames += user->frames;
		bytes += user->bytes;
		blamed = blamed && (blamed->own || !user->own) ? blamed : user;
	}
	if (!blamed || bytes < least)
		return false;
	add_recurring(o, count, &text);
	xc_text_printf(&text, " called %s in no fixed order, %" PRIu64 " frames deep",
		       count > 1 ? "each other" : "itself", frames);
	add_filled(o, &text);
	classify(o, "recursion", o->use.largest, &text);
	blame_user(o, blamed, 0);
	return true;
}

static void classify_lost(struct overflow *o)
{
	struct xc_text text = {0};
	xc_text_add(&text, "the stack is used up; the reason is not known: its frames cannot be unwound");
	classify(o, NULL, o->use.largest, &text);
}

static void classify_small(struct overflow *o)
{
	struct xc_text text = {0};
	xc_text_add(&text, "the stack is used up: ");
	xc_text_size(&text, o->use.bytes);
	xc_text_printf(&text, " by %" PRIu64 " frames, and no function recurs", o->use.frame_count);
	classify(o, NULL, o->use.largest, &text);
	if (o->use.user_count)
		blame_user(o, &o->use.users[0], 0);
}

/* ---- evidence ---- */

/* The function that entered the cycle: the first round may be inlined into it. */
static bool entry_level(const struct overflow *o, const struct xc_place *place, size_t *level)
{
	if (!xc_user_code_level(place, level))
		return false;
	for (size_t l = *level; l < place->level_count; l++) {
		const char *name = place->levels[l].function;
		struct xc_stack_user user = {.name = name, .function = name};
		if (!name || !xc_user_code_is(place, l) || xc_call_cycle_has(&o->cycle, &user))
			continue;
		*level = l;
		break;
	}
	return true;
}

/* The caller of the cycle's outermost frame: the program's function, if one is near. A cycle of library code only, such
 * as the destructors of a list, has nobody else to blame. */
static void report_entry(struct overflow *o)
{
	uint64_t end = o->use.cycle_at + o->use.cycle_frames, at = end;
	while (at < o->use.frame_count && at - end < NEAR &&
	       (!user_at(o, at)->own || xc_call_cycle_has(&o->cycle, user_at(o, at))))
		at++;
	if (at == o->use.frame_count || at - end == NEAR)
		at = end;
	const struct xc_frame *frame = at < o->use.frame_count ? xc_stack_usage_frame(o->crash, &o->use, at) : NULL;
	if (!frame)
		return;
	struct xc_text text = {0};
	const struct xc_place *place = xc_debuginfo_place(o->crash->process, xc_frame_lookup(frame));
	size_t level = 0;
	bool own = entry_level(o, place, &level);
	if (own && xc_place_function(place, level))
		xc_text_name(&text, xc_place_function(place, level));
	else
		xc_call_cycle_name(o->crash, user_at(o, at), &text);
	xc_sourceline(place, own ? level : place->level_count - 1, ", ", &text);
	if (own && !xc_call_cycle_is_own(&o->cycle))
		o->crash->blame = (struct xc_blame){.place = place, .level = level, .frame = *frame};
	xc_verdict_evidence(o->crash->report, "it was entered from %s", xc_text_string(&text));
	xc_text_fini(&text);
}

/* The callees of the innermost round. */
static void report_inner_end(const struct overflow *o)
{
	struct xc_text text = {0};
	size_t shown = 0;
	for (uint64_t i = o->use.cycle_at; i-- > 0 && shown < INNER; shown++) {
		xc_text_add(&text, shown ? " → " : "");
		xc_call_cycle_name(o->crash, user_at(o, i), &text);
	}
	if (shown && o->use.cycle_at <= INNER)
		xc_verdict_evidence(o->crash->report, "the innermost round had called %s", xc_text_string(&text));
	xc_text_fini(&text);
}

/* Functions with most bytes, unless it is a single one. */
static void report_users(const struct overflow *o)
{
	struct xc_text text = {0};
	size_t shown = 0;
	for (size_t i = 0; i < o->use.user_count && i < TOP; i++) {
		const struct xc_stack_user *user = &o->use.users[i];
		if (user->bytes < o->use.bytes / MUCH)
			break;
		shown++;
		xc_text_add(&text, i ? ", " : "");
		xc_call_cycle_name(o->crash, user, &text);
		xc_text_add(&text, " ");
		xc_text_size(&text, user->bytes);
		if (user->frames > 1)
			xc_text_printf(&text, " in %" PRIu64 " frames", user->frames);
	}
	if (shown > 1)
		xc_verdict_evidence(o->crash->report, "the %s is filled by %s",
				    o->use.cut ? "part of the stack that was looked at" : "stack",
				    xc_text_string(&text));
	xc_text_fini(&text);
}

static void report_stack(const struct overflow *o)
{
	struct xc_text text = {0};
	const struct xc_mapping *m = o->end.stack;
	xc_text_printf(&text, "the stack ends at 0x%" PRIx64 ": ", m->lo);
	xc_text_size(&text, m->hi - m->lo + 1);
	xc_text_add(&text, o->end.limit ? ", " : " are mapped, ");
	if (o->end.limit) {
		xc_text_add(&text, o->end.limit);
	} else if (o->end.guard) {
		xc_text_add(&text, "and below them a guard of ");
		xc_text_size(&text, o->end.guard->hi - o->end.guard->lo + 1);
	} else {
		xc_text_add(&text, "and nothing below them");
	}
	xc_verdict_evidence(o->crash->report, "%s", xc_text_string(&text));
	xc_text_fini(&text);
	if (!o->end.limit && !o->crash->fault.addr_known && o->crash->fault.code_known)
		xc_verdict_evidence(
			o->crash->report,
			"the kernel gave no address, as when the stack has no room to call the signal handler");
	if (!o->end.framed)
		xc_verdict_evidence(o->crash->report, "its frames cannot be unwound: known from the mappings alone");
}

void xc_recursion_classify_end(struct xc_crash_context *crash, const struct xc_stack_end *end)
{
	struct overflow o = {.crash = crash, .end = *end};
	xc_addr lowest = o.end.addr < o.end.sp ? o.end.addr : o.end.sp;
	xc_stack_usage_count(crash, o.end.stack, lowest, &crash->report->arena, &o.use);
	o.cycle = (struct xc_call_cycle){.crash = crash, .use = &o.use};
	/* Frames that cannot be unwound belong to no known function. */
	uint64_t half = (o.use.lost ? o.end.stack->hi - lowest : o.use.bytes) / HALF;
	bool cycle = o.use.period && o.use.cycle_bytes >= half;
	bool one = o.use.largest >= half && o.use.largest_at < crash->frame_count && o.end.framed;
	if (one)
		classify_frame(&o);
	else if (cycle)
		classify_cycle(&o);
	else if (!classify_recurring(&o, half) && o.use.lost)
		classify_lost(&o);
	else if (!crash->verdict->class_name)
		classify_small(&o);
	if (cycle && !one) {
		report_entry(&o);
		report_inner_end(&o);
	}
	report_users(&o);
	report_stack(&o);
}

bool xc_recursion_classify(struct xc_crash_context *crash)
{
	struct xc_stack_end end;
	if (!xc_stack_end_find(crash, &end))
		return false;
	xc_recursion_classify_end(crash, &end);
	return true;
}
