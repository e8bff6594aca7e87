/* wrong_object: variables hold what they say only once they are set. Arguments are; of locals, pointers and references
 * declared on a line before the one that runs likely are. Locals that are objects are not looked at: what is being
 * constructed in them may be the very call that failed. */
#include "triage/survey/wrong_object.h"

#include <inttypes.h>
#include <string.h>

#include "core/base/text.h"
#include "dwarf/view/view.h"
#include "triage/blocks/object_class.h"
#include "triage/memory/pointer_diagnosis.h"
#include "triage/survey/dying_object.h"
#include "triage/util/names.h"
#include "triage/util/same_type.h"
#include "triage/util/severity.h"
#include "triage/util/sourceline.h"
#include "triage/util/user_code.h"

enum { FRAMES = 24, FUNCTIONS = 3, CASTERS = 16, DEPTH = 4, MEMBERS = 64, TOLD = 2, NUMBER = 64, WORD = 8 };

struct search {
	struct xc_crash_context *crash;
	struct xc_dying_objects dying;
	struct xc_frame_context in; /* of what is looked at */
	size_t level;
	const struct xc_type *other; /* the class of an object that was cast wrongly; NULL: none was found */
	xc_addr other_at;
	const char *broken[TOLD]; /* paths of what is not valid */
	xc_addr broken_at[TOLD];
	size_t broken_count;
};

static bool is_own_end(const struct xc_crash_context *crash)
{
	static const char *const names[] = {"uncaught-exception", "out-of-memory", "assertion", NULL};
	return crash->verdict->class_name && crash->verdict->cause && xc_names_find(names, crash->verdict->class_name);
}

static void explain(struct search *s, const char *words)
{
	struct xc_verdict *v = s->crash->verdict;
	v->cause = xc_arena_printf(&s->crash->report->arena, "%s; %s", v->cause, words);
	if (v->severity && xc_severity_rank(v->severity) < xc_severity_rank("medium"))
		v->severity = xc_severity_name(xc_severity_rank("medium"));
}

static void add_function(const struct search *s, struct xc_text *text)
{
	const char *function = xc_place_function(s->in.place, s->level);
	xc_text_add(text, function ? function : "a function without a name");
	xc_sourceline(s->in.place, s->level, ", ", text);
}

/* ---- objects of another class ---- */

/* A pointer may be the end of an array, where the next object begins; a reference is none. */
static bool leads_to(const struct xc_crash_context *crash, const struct xc_type *pointer, xc_addr led)
{
	return xc_type_strip(pointer)->kind != XC_TYPE_POINTER ||
	       (crash->heap && xc_blocks_find(&crash->heap->blocks, led) != XC_NO_BLOCK);
}

static void look_for_class(struct search *s, const struct xc_named_value *it, xc_addr led)
{
	const struct xc_type *type = xc_same_type_pointed(it->value.type);
	const struct xc_type *other =
		leads_to(s->crash, it->value.type, led) ? xc_object_class_other(s->crash, led, type) : NULL;
	struct xc_text text = {0};
	if (!other || xc_dying_objects_has_class(&s->dying, xc_type_name(other)))
		return;
	s->other = other;
	s->other_at = led;
	xc_text_printf(&text, "`%s` in ", it->name);
	const char *function = xc_place_function(s->in.place, s->level);
	xc_text_printf(&text, "%s is no %s: at it is a %s, by its vtable: likely a wrong cast",
		       function ? function : "a function without a name", xc_type_name(type), xc_type_name(other));
	explain(s, xc_text_string(&text));
	xc_verdict_evidence(s->crash->report, "`%s` = 0x%" PRIx64 ": the object there is a %s, by its vtable", it->name,
			    led, xc_type_name(other));
	xc_text_fini(&text);
}

/* ---- objects that are not valid ---- */

/* What a string's size is, or a container's first words: "`f.venue._M_string_length` is 0x…, the double 95.5". */
static void report_words(struct search *s, const char *path, const struct xc_value *value, const char *why)
{
	struct xc_text text = {0};
	struct xc_value size;
	uint64_t word;
	char number[NUMBER];
	xc_text_printf(&text, "`%s` at 0x%" PRIx64 " is not valid: %s", path, value->addr, why);
	struct xc_error *error = xc_value_member(value, "_M_string_length", &size);
	if (!error && xc_value_load(&size, &word)) {
		xc_text_printf(&text, "; its size is 0x%" PRIx64, word);
		char bytes[WORD];
		memcpy(bytes, &word, sizeof bytes);
		size_t len = xc_text_readable_length(bytes, sizeof bytes);
		if (xc_number_is_double(word, number, sizeof number))
			xc_text_printf(&text, ", the bits of %s", number);
		else if (len >= WORD - 2) {
			xc_text_add(&text, ", the text \"");
			xc_text_escaped(&text, bytes, len);
			xc_text_add(&text, "\"");
		}
	}
	xc_error_free(error);
	xc_verdict_evidence(s->crash->report, "%s", xc_text_string(&text));
	xc_auto(xc_freep) char *redacted = xc_asprintf("`%s` is not valid", path);
	xc_verdict_redact(s->crash->report, redacted);
	xc_text_fini(&text);
}

static void take_broken(struct search *s, const char *path, const struct xc_value *value, const char *why)
{
	for (size_t i = 0; i < s->broken_count; i++)
		if (s->broken_at[i] == value->addr)
			return;
	if (s->broken_count == TOLD)
		return;
	s->broken_at[s->broken_count] = value->addr;
	s->broken[s->broken_count++] = xc_arena_strdup(&s->crash->report->arena, path);
	report_words(s, path, value, why);
}

/* Only what a live object must be: a union's members are not all there. */
static void look_for_broken(struct search *s, struct xc_text *path, const struct xc_value *object, const char *joint,
			    unsigned depth)
{
	const struct xc_type *type = xc_type_complete(xc_type_strip(object->type));
	struct xc_view view;
	size_t count, len = path->len;
	if (!xc_same_type_is_record(type) || object->kind != XC_VALUE_MEMORY ||
	    xc_dying_objects_has(&s->dying, object->addr) || xc_dying_objects_has_class(&s->dying, xc_type_name(type)))
		return;
	enum xc_view_result result = xc_view_open(object, &view);
	if (result == XC_VIEW_INVALID)
		take_broken(s, xc_text_string(path), object, view.why);
	if (result != XC_VIEW_NONE || !depth)
		return;
	const struct xc_member *members = xc_type_members(type, &count);
	for (size_t i = 0; i < count && i < MEMBERS; i++) {
		struct xc_value member;
		if (members[i].dynamic || members[i].bit_size || !xc_same_type_is_record(members[i].type))
			continue;
		xc_value_field(object, &members[i], &member);
		if (members[i].base) {
			look_for_broken(s, path, &member, joint, depth - 1);
			continue;
		}
		if (!members[i].name)
			continue;
		xc_text_printf(path, "%s%s", joint, members[i].name);
		look_for_broken(s, path, &member, ".", depth - 1);
		path->len = len;
		xc_text_add(path, "");
	}
}

/* ---- variables ---- */

static bool is_set(const struct search *s, const struct xc_named_value *it, bool local)
{
	const struct xc_place *place = s->in.place;
	return !local || (it->line && s->level < place->level_count && it->line < place->levels[s->level].line);
}

static void look_at(struct search *s, const struct xc_named_value *it, bool local)
{
	const struct xc_type *target = xc_same_type_pointed(it->value.type);
	struct xc_text path = {0};
	xc_addr led;
	if (!it->name || strncmp(it->name, "__", 2) == 0 || !is_set(s, it, local) || (local && !target))
		return;
	bool known = target && xc_value_load(&it->value, &led) && led && !xc_dying_objects_has(&s->dying, led);
	xc_text_add(&path, it->name);
	if (known && !s->other)
		look_for_class(s, it, led);
	if (known && leads_to(s->crash, it->value.type, led)) {
		const struct xc_value object = xc_value_memory(s->crash->process, target, led);
		const bool pointer = xc_type_strip(it->value.type)->kind == XC_TYPE_POINTER;
		look_for_broken(s, &path, &object, pointer ? "->" : ".", DEPTH);
	} else if (!target) {
		look_for_broken(s, &path, &it->value, ".", DEPTH);
	}
	xc_text_fini(&path);
}

static void look_at_function(struct search *s)
{
	struct xc_named_value *values;
	for (int local = 0; local < 2; local++) {
		size_t count = xc_variable_values(&s->in, s->level, local != 0, &s->crash->report->arena, &values);
		for (size_t i = 0; i < count; i++)
			look_at(s, &values[i], local != 0);
	}
}

/* ---- where it was cast ---- */

/* Does the function have the object as what it is, or as a base of it? */
static bool has_rightly(const struct search *s, struct xc_text *text)
{
	struct xc_named_value *values;
	size_t count = xc_variable_values(&s->in, s->level, false, &s->crash->report->arena, &values);
	for (size_t i = 0; i < count; i++) {
		const struct xc_type *type = xc_same_type_pointed(values[i].value.type);
		uint64_t led;
		if (!values[i].name || !xc_object_class_is_polymorphic(type) ||
		    !xc_value_load(&values[i].value, &led) || led != s->other_at ||
		    xc_object_class_other(s->crash, led, type))
			continue;
		xc_text_printf(text, "the same object is `%s` (%s) in ", values[i].name,
			       xc_type_name(values[i].value.type));
		add_function(s, text);
		return true;
	}
	return false;
}

/* The innermost function of the program that still has it rightly: it, or what it calls, casts. */
static void report_cast(struct search *s)
{
	struct xc_text text = {0};
	size_t first = s->crash->blamed, end = s->crash->frame_count;
	bool found = false;
	for (size_t i = first; i < end && i < first + CASTERS && !found; i++) {
		s->in = xc_crash_context_frame(s->crash, i);
		for (s->level = 0; s->level < s->in.place->level_count && !found && !s->in.place->line_only; s->level++)
			if (xc_user_code_is(s->in.place, s->level) && has_rightly(s, &text)) {
				found = true;
				break;
			}
	}
	if (found)
		xc_verdict_evidence(s->crash->report, "%s: likely it was cast there", xc_text_string(&text));
	xc_text_fini(&text);
}

/* ---- */

static void explain_broken(struct search *s)
{
	struct xc_text text = {0};
	xc_text_printf(&text, "likely because `%s`", s->broken[0]);
	if (s->broken_count > 1)
		xc_text_printf(&text, " and `%s` are", s->broken[1]);
	else
		xc_text_add(&text, " is");
	xc_text_add(&text, " not valid");
	explain(s, xc_text_string(&text));
	xc_text_fini(&text);
}

void xc_wrong_object_report(struct xc_crash_context *crash)
{
	struct search s = {.crash = crash};
	size_t functions = 0;
	if (!is_own_end(crash) || !crash->blame.place)
		return;
	xc_dying_objects_of(crash, &s.dying);
	for (size_t i = crash->blamed; i < crash->frame_count && i < crash->blamed + FRAMES && functions < FUNCTIONS;
	     i++) {
		s.in = xc_crash_context_frame(crash, i);
		size_t level = i == crash->blamed ? crash->blame.level : 0;
		for (; level < s.in.place->level_count && !s.in.place->line_only && functions < FUNCTIONS; level++)
			if (s.in.place->module && xc_user_code_is(s.in.place, level)) {
				s.level = level;
				look_at_function(&s);
				functions++;
			}
	}
	if (s.other)
		report_cast(&s);
	if (s.broken_count)
		explain_broken(&s);
}
