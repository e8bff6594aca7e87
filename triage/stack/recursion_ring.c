#include "triage/stack/recursion_ring.h"

#include <inttypes.h>
#include <string.h>

#include "core/base/text.h"
#include "dwarf/format/format.h"
#include "triage/util/same_type.h"

enum {
	LONGEST = 8, /* values of a ring */
	SAMPLES = 3 * LONGEST,
	NAMES = 12, /* arguments and variables to look at */
	TOLD = 2,
	SHOWN = 60,   /* bytes of one value */
	MEMBERS = 64, /* of an object to look at */
};

/* A variable in consecutive rounds, the innermost first. */
struct series {
	const char *name; /* NULL: it is not in all rounds */
	struct xc_value values[SAMPLES];
	uint64_t bits[SAMPLES];
};

struct ring {
	const struct xc_crash_context *crash;
	struct series series[NAMES];
	size_t count, samples;
};

/* ---- values ---- */

static bool is_wanted(const struct xc_type *type)
{
	switch (type ? xc_type_strip(type)->kind : XC_TYPE_UNKNOWN) {
	case XC_TYPE_POINTER:
	case XC_TYPE_REFERENCE:
	case XC_TYPE_INT:
	case XC_TYPE_CHAR:
	case XC_TYPE_ENUM:
		return true;
	default:
		return false;
	}
}

/* The first sample says which variables there are; one that is missing from another sample is dropped. */
static void take(struct ring *r, const struct xc_named_value *values, size_t count, bool seen[NAMES])
{
	for (size_t i = 0; i < count; i++) {
		size_t n = 0;
		uint64_t bits;
		if (!values[i].name || !is_wanted(values[i].value.type) || !xc_value_load(&values[i].value, &bits))
			continue;
		while (n < r->count && (!r->series[n].name || strcmp(r->series[n].name, values[i].name) != 0))
			n++;
		if (n == NAMES || (n == r->count && r->samples))
			continue;
		if (n == r->count)
			r->series[r->count++].name = values[i].name;
		r->series[n].values[r->samples] = values[i].value;
		r->series[n].bits[r->samples] = bits;
		seen[n] = true;
	}
}

static bool read_sample(struct ring *r, const struct xc_frame *frame)
{
	const struct xc_place *place = xc_debuginfo_place(r->crash->process, xc_frame_lookup(frame));
	const struct xc_frame_context in = {.process = r->crash->process,
					    .thread = r->crash->thread,
					    .unwinder = r->crash->unwinder,
					    .frame = frame,
					    .place = place};
	bool seen[NAMES] = {false};
	if (!place->level_count || place->line_only)
		return false;
	for (int locals = 0; locals < 2; locals++) {
		struct xc_named_value *values;
		size_t count =
			xc_variable_values(&in, place->level_count - 1, locals, &r->crash->report->arena, &values);
		take(r, values, count, seen);
	}
	for (size_t n = 0; n < r->count; n++)
		r->series[n].name = seen[n] ? r->series[n].name : NULL;
	r->samples++;
	return true;
}

/* Those in the middle of the innermost frames. */
static bool read_samples(struct ring *r, const struct xc_stack_usage *use, uint64_t first)
{
	uint64_t end = use->cycle_at + use->cycle_frames;
	end = end < r->crash->frame_count ? end : r->crash->frame_count;
	uint64_t rounds = end > first ? (end - first) / use->period : 0;
	uint64_t from = rounds > SAMPLES ? (rounds - SAMPLES) / 2 : 0;
	for (uint64_t i = 0; i < SAMPLES && from + i < rounds; i++) {
		const struct xc_frame *frame = xc_stack_usage_frame(r->crash, use, first + (from + i) * use->period);
		if (!frame || !read_sample(r, frame))
			return false;
	}
	return r->samples == SAMPLES;
}

/* How many values repeat; 0: they do not, or it is always the same. */
static size_t period_of(const struct series *s)
{
	for (size_t k = 1; k <= LONGEST; k++) {
		size_t i = 0;
		while (i + k < SAMPLES && s->bits[i] == s->bits[i + k])
			i++;
		if (i + k == SAMPLES)
			return k > 1 ? k : 0;
	}
	return 0;
}

/* ---- words ---- */

/* The member that tells objects from each other. */
static const struct xc_member *identity_of(const struct xc_type *type)
{
	static const char *const names[] = {"name", "id", "key", "title", "label", "path", "number", NULL};
	size_t count;
	const struct xc_member *members = xc_type_members(type, &count);
	for (size_t n = 0; names[n]; n++)
		for (size_t i = 0; i < count && i < MEMBERS; i++) {
			size_t len = members[i].name ? strlen(members[i].name) : 0;
			bool trailing = len && members[i].name[len - 1] == '_';
			if (len - trailing == strlen(names[n]) &&
			    strncmp(members[i].name, names[n], len - trailing) == 0)
				return &members[i];
		}
	return NULL;
}

/* A number; or of a pointer the identity of its object, else its address. */
static void add_value(const struct xc_value *value, struct xc_text *text)
{
	struct xc_format_options options = xc_format_defaults();
	struct xc_value target, member;
	const struct xc_type *type = xc_same_type_pointed(value->type);
	const struct xc_member *identity = type && xc_same_type_is_record(type) ? identity_of(type) : NULL;
	struct xc_error *error = identity ? xc_value_deref(value, &target) : NULL;
	options.length = SHOWN;
	if (identity && !error) {
		struct xc_text shown = {0};
		target.type = type;
		xc_value_field(&target, identity, &member);
		xc_format_value(&shown, &member, &options);
		const char *letters = strchr(xc_text_string(&shown), '"'); /* of a pointer to some, not its address */
		bool address = letters && xc_type_is_pointer(member.type);
		xc_text_printf(text, "%s %s", identity->name, address ? letters : xc_text_string(&shown));
		xc_text_fini(&shown);
	} else {
		options.depth = 0;
		xc_format_value(text, value, &options);
	}
	xc_error_free(error);
}

/* In the order of the calls, which is against that of the samples; the smallest value comes first. */
static void report(const struct ring *r, const struct series *s, size_t period)
{
	struct xc_text text = {0};
	size_t least = 0;
	for (size_t i = 1; i < period; i++)
		if (s->bits[i] < s->bits[least])
			least = i;
	for (size_t i = 0; i < period; i++) {
		xc_text_add(&text, i ? " → " : "");
		add_value(&s->values[(least + (period - 1) * i) % period], &text);
	}
	xc_verdict_evidence(r->crash->report, "%s goes round %zu values: %s", s->name, period, xc_text_string(&text));
	xc_verdict_redact(r->crash->report,
			  xc_arena_printf(&r->crash->report->arena, "%s goes round %zu values", s->name, period));
	xc_text_fini(&text);
}

/* The same values under another name: an argument and the variable that was passed as it. */
static bool is_told(const struct series *const *told, size_t count, const struct series *s, size_t period)
{
	for (size_t n = 0; n < count; n++)
		for (size_t i = 0; i < period; i++)
			if (told[n]->bits[i] == s->bits[0])
				return true;
	return false;
}

void xc_recursion_ring_report(const struct xc_crash_context *crash, const struct xc_stack_usage *use, uint64_t first)
{
	struct ring r = {.crash = crash};
	const struct series *told[TOLD];
	size_t count = 0;
	if (!read_samples(&r, use, first))
		return;
	for (size_t i = 0; i < r.count && count < TOLD; i++) {
		size_t period = r.series[i].name ? period_of(&r.series[i]) : 0;
		if (!period || is_told(told, count, &r.series[i], period))
			continue;
		report(&r, &r.series[i], period);
		told[count++] = &r.series[i];
	}
}
