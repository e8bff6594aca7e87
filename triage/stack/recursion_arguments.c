/* recursion_arguments: see recursion_arguments.h.
 *
 *	round  0 1 2 … 7      the innermost: the first frame only where its instruction is a call, since before that its
 *	                      arguments may not have been stored
 *	round  n-8 … n-1      the outermost
 *
 * A statement must hold for every value that is known. */
#include "triage/stack/recursion_arguments.h"

#include <inttypes.h>
#include <string.h>

#include "dwarf/view/view.h"
#include "triage/util/same_type.h"

enum {
	ENDS = 8, /* rounds at either end */
	SAMPLES = 2 * ENDS,
	ARGUMENTS = 8,
	LEAST = 3,    /* values required for a statement */
	MEMBERS = 64, /* bytes of an object to check */
	FOLLOWED = 3, /* members to name */
};

struct sample {
	bool known;
	uint64_t value;
};

struct argument {
	const char *name; /* NULL: not the same in all rounds */
	const struct xc_type *type;
	struct sample samples[SAMPLES];
};

struct rounds {
	const struct xc_crash_context *crash;
	uint64_t number[SAMPLES]; /* round of each sample, 0 is the innermost */
	size_t sample_count;
	struct argument arguments[ARGUMENTS];
	size_t argument_count;
};

/* ---- values ---- */

static void read_arguments(struct rounds *r, const struct xc_frame *frame)
{
	struct xc_named_value *values;
	const struct xc_place *place = xc_debuginfo_place(r->crash->process, xc_frame_lookup(frame));
	const struct xc_frame_context in = {.process = r->crash->process,
					    .thread = r->crash->thread,
					    .unwinder = r->crash->unwinder,
					    .frame = frame,
					    .place = place};
	size_t at = r->sample_count - 1;
	if (!place->level_count || place->line_only)
		return;
	size_t count = xc_variable_values(&in, place->level_count - 1, false, &r->crash->report->arena, &values);
	for (size_t i = 0; i < count && i < ARGUMENTS; i++) {
		struct argument *a = &r->arguments[i];
		if (i == r->argument_count) {
			a->name = values[i].name;
			a->type = values[i].value.type;
			r->argument_count++;
		}
		if (!a->name || !values[i].name || strcmp(a->name, values[i].name) != 0)
			a->name = NULL;
		else
			a->samples[at].known = xc_value_load(&values[i].value, &a->samples[at].value);
	}
}

/* Not before its arguments are stored. */
static bool has_arguments(const struct xc_crash_context *crash, uint64_t number)
{
	return number || (crash->fault.decoded && strncmp(crash->fault.instruction.text, "call", 4) == 0);
}

static void read_round(struct rounds *r, const struct xc_stack_usage *use, uint64_t first, uint64_t round)
{
	uint64_t number = first + round * use->period;
	const struct xc_frame *frame = xc_stack_usage_frame(r->crash, use, number);
	if (!frame || r->sample_count == SAMPLES || !has_arguments(r->crash, number))
		return;
	r->number[r->sample_count++] = round;
	read_arguments(r, frame);
}

static void read_rounds(struct rounds *r, const struct xc_stack_usage *use, uint64_t first)
{
	uint64_t end = use->cycle_at + use->cycle_frames, count = (end - first + use->period - 1) / use->period;
	uint64_t inner = count < ENDS ? count : ENDS, outer = count - inner < ENDS ? inner : count - ENDS;
	for (uint64_t i = 0; i < inner; i++)
		read_round(r, use, first, i);
	for (uint64_t i = outer; i < count; i++)
		read_round(r, use, first, i);
}

/* The innermost and the outermost known value; returns how many are known. */
static size_t ends_of(const struct rounds *r, const struct argument *a, size_t *inner, size_t *outer)
{
	size_t known = 0;
	for (size_t i = 0; i < r->sample_count; i++) {
		if (!a->samples[i].known)
			continue;
		*inner = known++ ? *inner : i;
		*outer = i;
	}
	return known;
}

static bool is_pointer(const struct argument *a)
{
	enum xc_type_kind kind = xc_type_strip(a->type)->kind;
	return kind == XC_TYPE_POINTER || kind == XC_TYPE_REFERENCE || kind == XC_TYPE_RVALUE_REFERENCE;
}

/* ---- claims ---- */

static bool stays(const struct rounds *r, const struct argument *a)
{
	size_t inner = 0, outer = 0;
	bool same = ends_of(r, a, &inner, &outer) >= LEAST;
	for (size_t i = 0; i < r->sample_count; i++)
		same = same && (!a->samples[i].known || a->samples[i].value == a->samples[inner].value);
	return same;
}

/* The difference between rounds, inward; 0: not constant. */
static int64_t step_of(const struct rounds *r, const struct argument *a)
{
	size_t inner = 0, outer = 0;
	if (ends_of(r, a, &inner, &outer) < LEAST)
		return 0;
	int64_t rounds = (int64_t)(r->number[outer] - r->number[inner]);
	int64_t change = (int64_t)(a->samples[inner].value - a->samples[outer].value), step = change / rounds;
	for (size_t i = 0; i < r->sample_count; i++) {
		uint64_t back = r->number[outer] - r->number[i];
		if (a->samples[i].known && a->samples[i].value != a->samples[outer].value + back * (uint64_t)step)
			return 0;
	}
	return step;
}

/* The number of values that repeat in the innermost rounds; 0: they do not repeat. */
static size_t ring_of(const struct rounds *r, const struct argument *a)
{
	for (size_t k = 2; k <= ENDS / 2; k++) {
		size_t same = 0, other = 0;
		for (size_t i = 0; i + k < r->sample_count; i++) {
			if (!a->samples[i].known || !a->samples[i + k].known || r->number[i + k] != r->number[i] + k)
				continue;
			bool equal = a->samples[i].value == a->samples[i + k].value;
			same += equal;
			other += !equal;
		}
		if (same >= k && !other)
			return k;
	}
	return 0;
}

/* A pointer, or a class that contains nothing else: std::unique_ptr. */
static bool may_lead(const struct rounds *r, const struct xc_member *member)
{
	uint64_t size;
	const struct xc_type *type = xc_type_complete(xc_type_strip(member->type));
	bool record = type->kind == XC_TYPE_STRUCT || type->kind == XC_TYPE_CLASS;
	return member->name && !member->base && !member->bit_size && !member->dynamic &&
	       (type->kind == XC_TYPE_POINTER ||
		(record && xc_type_size(type, &size) && size == r->crash->process->arch->word));
}

/* The member of the caller's object that holds the pointer passed on; NULL when there is none. */
static const char *member_to(const struct rounds *r, const struct argument *a, uint64_t object, uint64_t next)
{
	size_t count = 0;
	const struct xc_type *target = xc_type_strip(a->type)->target;
	const struct xc_type *type = target ? xc_type_complete(xc_type_strip(target)) : NULL;
	bool record = type && (type->kind == XC_TYPE_STRUCT || type->kind == XC_TYPE_CLASS);
	const struct xc_member *members = record ? xc_type_members(type, &count) : NULL;
	for (size_t i = 0; i < count && i < MEMBERS; i++) {
		uint64_t value;
		if (may_lead(r, &members[i]) &&
		    xc_space_peek_uint(r->crash->process->space, object + members[i].offset,
				       r->crash->process->arch->word, &value) &&
		    value == next)
			return members[i].name;
	}
	return NULL;
}

/* Append "->left, ->right": the members that lead on, when each round has one. */
static bool follow(const struct rounds *r, const struct argument *a, struct xc_text *text)
{
	const char *names[FOLLOWED];
	size_t count = 0, steps = 0;
	for (size_t i = 0; i + 1 < r->sample_count; i++) {
		const struct sample *inner = &a->samples[i], *outer = &a->samples[i + 1];
		if (!inner->known || !outer->known || r->number[i + 1] != r->number[i] + 1)
			continue;
		const char *name = member_to(r, a, outer->value, inner->value);
		size_t n = 0;
		while (name && n < count && strcmp(names[n], name) != 0)
			n++;
		if (!name || n == FOLLOWED)
			return false;
		names[n] = name;
		count += n == count;
		steps++;
	}
	for (size_t n = 0; n < count && steps >= LEAST - 1; n++)
		xc_text_printf(text, "%s->%s", n ? ", " : "", names[n]);
	return steps >= LEAST - 1;
}

/* ---- words ---- */

static void report_step(const struct rounds *r, const struct argument *a, int64_t step)
{
	size_t inner = 0, outer = 0;
	ends_of(r, a, &inner, &outer);
	uint64_t by = step < 0 ? 0 - (uint64_t)step : (uint64_t)step;
	const char *does = is_pointer(a) ? step < 0 ? "goes back" : "advances" : step < 0 ? "shrinks" : "grows";
	if (is_pointer(a))
		xc_verdict_evidence(r->crash->report, "%s %s by %" PRIu64 " bytes each round", a->name, does, by);
	else if (xc_type_strip(a->type)->is_signed)
		xc_verdict_evidence(r->crash->report, "%s %s by %" PRIu64 " each round: %" PRId64 " → %" PRId64,
				    a->name, does, by, (int64_t)a->samples[outer].value,
				    (int64_t)a->samples[inner].value);
	else
		xc_verdict_evidence(r->crash->report, "%s %s by %" PRIu64 " each round: %" PRIu64 " → %" PRIu64,
				    a->name, does, by, a->samples[outer].value, a->samples[inner].value);
	xc_auto(xc_freep) char *redacted = xc_asprintf("%s %s by the same each round", a->name, does);
	xc_verdict_redact(r->crash->report, redacted);
}

static bool report_pointer(const struct rounds *r, const struct argument *a)
{
	struct xc_text text = {0};
	size_t ring = ring_of(r, a);
	bool follows = follow(r, a, &text);
	if (follows && ring)
		xc_verdict_evidence(r->crash->report,
				    "%s advances by %s and returns to the same %zu objects: they form a ring", a->name,
				    xc_text_string(&text), ring);
	else if (follows)
		xc_verdict_evidence(r->crash->report, "%s advances by %s each round", a->name, xc_text_string(&text));
	else if (ring)
		xc_verdict_evidence(r->crash->report, "%s takes the same %zu values over and over", a->name, ring);
	xc_text_fini(&text);
	return follows || ring;
}

/* Of the thread's stack, where it is an object of the callers': its address falls with the stack, and tells nothing. */
static bool is_on_stack(const struct rounds *r, const struct argument *a)
{
	const struct xc_crash_context *crash = r->crash;
	uint64_t sp;
	size_t inner = 0, outer = 0;
	const struct xc_mapping *m = NULL; /* the innermost frame has gone beyond it */
	for (size_t i = 0; i < crash->frame_count && i < ENDS && !m; i++)
		m = xc_regs_get(&crash->frames[i].regs, crash->process->arch->sp, &sp)
			    ? xc_process_mapping(crash->process, sp)
			    : NULL;
	return ends_of(r, a, &inner, &outer) && m &&
	       xc_process_mapping(r->crash->process, a->samples[outer].value) == m;
}

/* A container or text that is passed by its address, as long as its elements. False: it is none, or not known. */
static bool count_elements(const struct rounds *r, struct argument *a, bool *text_out)
{
	const struct xc_type *target = xc_same_type_pointed(a->type);
	size_t known = 0;
	for (size_t i = 0; i < r->sample_count && target; i++) {
		struct xc_view view;
		if (!a->samples[i].known)
			continue;
		struct xc_value object = xc_value_memory(r->crash->process, target, a->samples[i].value);
		a->samples[i].known =
			xc_view_open(&object, &view) == XC_VIEW_FOUND && view.count_known &&
			(view.kind == XC_VIEW_TEXT || view.kind == XC_VIEW_LIST || view.kind == XC_VIEW_MAP);
		if (!a->samples[i].known)
			continue;
		a->samples[i].value = view.count;
		*text_out = view.kind == XC_VIEW_TEXT;
		known++;
	}
	return known >= LEAST;
}

/* Does it only grow (1) or only shrink (-1) inward, in most rounds that are known? 0: neither. */
static int trend_of(const struct rounds *r, const struct argument *a)
{
	const struct sample *inner = NULL;
	size_t grows = 0, shrinks = 0, pairs = 0;
	for (size_t i = 0; i < r->sample_count; i++) {
		const struct sample *outer = &a->samples[i];
		if (!outer->known)
			continue;
		pairs += inner != NULL;
		grows += inner && inner->value > outer->value;
		shrinks += inner && inner->value < outer->value;
		inner = outer;
	}
	return 2 * grows > pairs && !shrinks ? 1 : 2 * shrinks > pairs && !grows ? -1 : 0;
}

/* "dir has more and more characters: 57 → 11473" */
static void report_elements(const struct rounds *r, const struct argument *a)
{
	struct argument counts = *a;
	size_t inner = 0, outer = 0;
	bool text = false;
	int trend = count_elements(r, &counts, &text) ? trend_of(r, &counts) : 0;
	if (!trend)
		return;
	ends_of(r, &counts, &inner, &outer);
	xc_auto(xc_freep) char *does =
		xc_asprintf("%s has %s %s", a->name, trend < 0 ? "fewer and fewer" : "more and more",
			    text ? "characters" : "elements");
	xc_verdict_evidence(r->crash->report, "%s: %" PRIu64 " → %" PRIu64, does, counts.samples[outer].value,
			    counts.samples[inner].value);
	xc_verdict_redact(r->crash->report, does);
}

static void report_argument(const struct rounds *r, const struct argument *a)
{
	int64_t step = step_of(r, a);
	size_t ring = 0;
	if (is_pointer(a) && report_pointer(r, a))
		return;
	if (is_pointer(a) && step <= 0 && is_on_stack(r, a))
		report_elements(r, a);
	else if (step)
		report_step(r, a, step);
	else if (!is_pointer(a) && (ring = ring_of(r, a)))
		xc_verdict_evidence(r->crash->report, "%s takes the same %zu values over and over", a->name, ring);
}

static void report_constant(const struct rounds *r)
{
	struct xc_text text = {0};
	size_t count = 0;
	for (size_t i = 0; i < r->argument_count; i++)
		if (r->arguments[i].name && stays(r, &r->arguments[i]))
			xc_text_printf(&text, "%s%s", count++ ? ", " : "", r->arguments[i].name);
	if (count && count == r->argument_count)
		xc_verdict_evidence(r->crash->report, "no argument changes from round to round: %s",
				    xc_text_string(&text));
	else if (count)
		xc_verdict_evidence(r->crash->report, "the same in every round: %s", xc_text_string(&text));
	xc_text_fini(&text);
}

void xc_recursion_arguments_report(const struct xc_crash_context *crash, const struct xc_stack_usage *use,
				   uint64_t first)
{
	struct rounds r = {.crash = crash};
	read_rounds(&r, use, first);
	for (size_t i = 0; i < r.argument_count; i++)
		if (r.arguments[i].name && !stays(&r, &r.arguments[i]))
			report_argument(&r, &r.arguments[i]);
	report_constant(&r);
}
