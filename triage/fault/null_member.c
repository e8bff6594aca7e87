#include "triage/fault/null_member.h"

#include <inttypes.h>
#include <string.h>

#include "core/base/text.h"
#include "dwarf/stack/frame_walk.h"
#include "dwarf/types/field.h"
#include "triage/blocks/value_place.h"
#include "triage/dataflow/deref.h"
#include "triage/explain/race.h"
#include "triage/loop/writers.h"
#include "triage/util/same_type.h"
#include "triage/util/sourceline.h"

enum { NESTING = 8, THREADS = 64, FRAMES = 24 };

struct search {
	struct xc_crash_context *crash;
	const struct xc_deref *bad;
	xc_addr object; /* that has the member; 0: a variable with a fixed place */
	struct xc_written written;
	struct xc_writers writers;
};

static bool find_record(struct search *s)
{
	const struct xc_crash_context *crash = s->crash;
	const struct xc_deref *bad = s->bad;
	const struct xc_type *type = bad->led_known ? xc_same_type_pointed(bad->pointer_type) : NULL;
	uint64_t offset = bad->at - bad->led, size;
	if (!type && crash->heap)
		type = xc_value_place_variable(crash, bad->at, &offset);
	type = type ? xc_type_complete(xc_type_strip(type)) : NULL;
	if (!type || !xc_type_size(type, &size) || offset >= size)
		return false;
	s->object = bad->at - offset;
	s->written.record = xc_same_type_is_record(type) ? type : NULL;
	s->written.offset = offset;
	return true;
}

/* The record that is nearest to the member, in that record. False: it is the record itself. */
static bool step_inward(struct search *s)
{
	struct xc_field_step step;
	const struct xc_type *type = s->written.record;
	uint64_t offset = s->written.offset;
	for (unsigned i = 0; type && i < NESTING && xc_field_step(type, offset, &step); i++) {
		type = xc_type_complete(xc_type_strip(step.type));
		offset = step.offset;
		if (!xc_same_type_is_record(type))
			continue;
		s->object += s->written.offset - offset;
		s->written.record = type;
		s->written.offset = offset;
		return true;
	}
	return false;
}

static bool find_writers(struct search *s, bool cleared)
{
	const struct xc_place *place = s->crash->blame.place;
	struct search whole = *s;
	bool found;
	s->written.cleared = cleared;
	while (!(found = xc_writers_find(s->crash, place, &s->written, &s->writers)) && step_inward(s))
		;
	if (!found)
		*s = whole;
	return found;
}

/* ---- threads that are in one of them ---- */

/* Is the function of a writer at a level of the frame's place: *level_out? */
static bool writes_in(const struct search *s, const struct xc_place *place, size_t *level_out)
{
	for (size_t l = 0; l < place->level_count; l++)
		for (size_t i = 0; i < s->writers.count; i++) {
			const char *function = xc_place_function(place, l);
			const char *writer = xc_writers_function(s->crash, s->writers.at[i]);
			*level_out = l;
			if (function && writer && strcmp(function, writer) == 0)
				return true;
		}
	return false;
}

/* The pointers to such records among the arguments and variables of the function: how many, and is the object among
 * them: *same_out? */
static size_t count_objects(const struct search *s, const struct xc_frame_context *context, size_t level,
			    bool *same_out)
{
	struct xc_arena scratch = {0};
	size_t pointers = 0;
	*same_out = false;
	for (int locals = 0; locals < 2; locals++) {
		struct xc_named_value *values;
		size_t count = xc_variable_values(context, level, locals, &scratch, &values);
		for (size_t i = 0; i < count; i++) {
			const struct xc_type *target = xc_same_type_pointed(values[i].value.type);
			uint64_t to;
			if (!target || !xc_same_type(target, s->written.record))
				continue;
			pointers++;
			*same_out |= xc_value_load(&values[i].value, &to) && to == s->object;
		}
	}
	xc_arena_fini(&scratch);
	return pointers;
}

/* Returns whether the thread is where it has set the same member to NULL, and will set it again. */
static bool report_thread(const struct search *s, const struct xc_thread *thread)
{
	struct xc_frame_walk walk;
	xc_frame_walk_begin(&walk, s->crash->process, s->crash->unwinder, thread, FRAMES);
	while (xc_frame_walk_next(&walk)) {
		bool same = true;
		size_t level, pointers = 1;
		const struct xc_place *place = walk.context.place;
		if (!writes_in(s, place, &level) || !xc_writers_is_between(s->crash, &s->written, walk.frame.pc))
			continue;
		if (s->written.record)
			pointers = count_objects(s, &walk.context, level, &same);
		if (pointers == 1 && !same)
			continue; /* it works on another object */
		struct xc_text text = {0};
		bool sure = pointers == 1;
		xc_sourceline(place, level, " (", &text);
		xc_verdict_evidence(
			s->crash->report,
			"thread %d is in %s%s%s, which sets it to NULL before, and writes it again behind%s",
			(int)thread->tid, xc_place_function(place, level), xc_text_string(&text), text.len ? ")" : "",
			!s->written.record ? ""
			: sure             ? ", of the same object"
					   : ", perhaps of the same object");
		xc_verdict_involve(s->crash->report, thread->tid);
		xc_text_fini(&text);
		return sure;
	}
	return false;
}

static void report_threads(const struct search *s)
{
	const struct xc_process *p = s->crash->process;
	bool races = false;
	for (size_t i = 0; i < p->thread_count && i < THREADS && !races; i++)
		if (&p->threads[i] != s->crash->faulted)
			races = report_thread(s, &p->threads[i]);
	if (!races)
		return;
	xc_verdict_involve(s->crash->report, s->crash->thread->tid);
	xc_race_classify(s->crash, false, "thread");
}

/* Is the bad value, a 0 of so many bytes, still in memory? */
static bool is_there(const struct xc_crash_context *crash, const struct xc_deref *bad, uint32_t size)
{
	uint64_t now;
	return bad && bad->text && bad->at_known && bad->value_known && !bad->value && (size == 4 || size == 8) &&
	       xc_space_peek_uint(crash->process->space, bad->at, size, &now) && !now;
}

void xc_null_member_report(struct xc_crash_context *crash)
{
	struct search s = {.crash = crash, .bad = xc_derefs_bad(crash->derefs)};
	bool divides = xc_crash_context_is(crash, "div-by-zero");
	uint32_t size = !divides ? crash->process->arch->word : s.bad ? s.bad->size : 0;
	if ((!divides && !xc_crash_context_is_null(crash)) || !crash->blame.place || crash->verdict->kind ||
	    !is_there(crash, s.bad, size) || !find_record(&s) || (s.bad->own && !s.written.record))
		return;
	s.written.name = s.bad->text;
	s.written.addr = s.bad->at;
	s.written.size = size;
	/* A number is seldom set to 0: it is counted down to it. */
	if (!(!divides && find_writers(&s, true)) && !find_writers(&s, false))
		return;
	struct xc_text text = {0};
	xc_writers_text(crash, &s.writers, &text);
	xc_verdict_evidence(crash->report, "`%s` %s", s.bad->text, xc_text_string(&text));
	xc_text_fini(&text);
	report_threads(&s);
}
