/* moved_from: the text says what was moved (moved_text.h), debug information what the name means, and memory whether it
 * is empty and is what the fault is about. */
#include "triage/survey/moved_from.h"

#include <string.h>

#include "dwarf/types/field.h"
#include "dwarf/view/view.h"
#include "triage/crash/own_line.h"
#include "triage/dataflow/deref.h"
#include "triage/source/frame_value.h"
#include "triage/source/moved_text.h"
#include "triage/util/names.h"
#include "triage/util/same_type.h"
#include "triage/util/user_code.h"

enum { FRAMES = 12, FUNCTIONS = 4, NESTING = 16, MEMBERS = 64, DEPTH = 3 };

struct search {
	struct xc_crash_context *crash;
	bool at_known; /* of the empty object, or of the NULL in it: */
	xc_addr at;
	const char *bad; /* the same in words of the blamed function; NULL: not known */
	size_t frame, level;
	bool innermost;
	struct xc_own_line line;
	struct xc_source_code code;
	size_t current; /* its first token of the current line */
	const char *object;
	unsigned moved_at;
	bool sure, same_line;
};

/* ---- is it empty ---- */

/* The shapes of a moved object: a container without elements, a smart pointer without an object, or a class with
 * one. */
static bool is_empty(const struct xc_value *value, unsigned depth)
{
	struct xc_view view;
	struct xc_view_child child;
	uint64_t number;
	size_t count;
	const struct xc_type *type = xc_type_complete(xc_type_strip(value->type));
	if (!xc_same_type_is_record(type) || !depth)
		return false;
	switch (xc_view_open(value, &view)) {
	case XC_VIEW_FOUND:
		if (view.kind == XC_VIEW_EMPTY) /* what is moved from an optional leaves an object there */
			return strcmp(view.shape->title, "std::optional") != 0;
		if (view.kind == XC_VIEW_WRAPPER)
			return xc_view_next(&view, &child) && xc_type_is_pointer(child.value.type) &&
			       xc_value_load(&child.value, &number) && !number;
		return view.kind != XC_VIEW_RECORD && view.kind != XC_VIEW_PLAIN && view.count_known && !view.count;
	case XC_VIEW_INVALID:
		return false;
	case XC_VIEW_NONE:
		break;
	}
	const struct xc_member *members = xc_type_members(type, &count);
	for (size_t i = 0; i < count && i < MEMBERS; i++) {
		struct xc_value member;
		if (!members[i].type || members[i].dynamic || members[i].bit_size)
			continue;
		xc_value_field(value, &members[i], &member);
		if (is_empty(&member, depth - 1))
			return true;
	}
	return false;
}

/* Is the byte at the offset in an object of the C++ library? A move leaves other pointers and numbers as they were. */
static bool is_in_library_object(const struct xc_type *type, uint64_t offset)
{
	struct xc_field_step step;
	for (unsigned i = 0; i < NESTING && type; i++) {
		type = xc_type_complete(xc_type_strip(type));
		if (type->name && strncmp(type->name, "std::", 5) == 0)
			return true;
		if (!xc_field_step(type, offset, &step))
			return false;
		type = step.type;
		offset = step.offset;
	}
	return false;
}

/* ---- is it the one ---- */

/* Is the expression the object, or does it begin with it? "p->next" with "p". */
static bool begins_with(const char *expression, const char *object)
{
	size_t len = strlen(object);
	return expression && strncmp(expression, object, len) == 0 &&
	       (!expression[len] || strchr(".-[(", expression[len]));
}

/* Does an argument of the blamed function lead to the object? */
static bool is_passed(const struct search *s, xc_addr at)
{
	const struct xc_frame_context context = xc_crash_context_frame(s->crash, s->crash->blamed);
	struct xc_named_value *values;
	uint64_t to;
	size_t count = xc_variable_values(&context, s->crash->blame.level, false, &s->crash->report->arena, &values);
	for (size_t i = 0; i < count; i++)
		if (values[i].value.type && xc_type_is_pointer(values[i].value.type) &&
		    xc_value_load(&values[i].value, &to) && to == at)
			return true;
	return false;
}

/* Where the bad place is not known: the line uses the object, or the caller passed it, and it is empty. */
static bool is_suspect(const struct search *s, const struct xc_moved_text *moved, const struct xc_value *value)
{
	if (!is_empty(value, DEPTH))
		return false;
	return s->innermost ? xc_moved_text_used(&s->code, moved, s->current, s->code.count)
			    : value->kind == XC_VALUE_MEMORY && is_passed(s, value->addr);
}

/* A smart pointer that the compiler keeps in a register. */
static bool is_empty_register(const struct xc_value *value)
{
	uint64_t word;
	return value->kind == XC_VALUE_BYTES && is_in_library_object(value->type, 0) &&
	       xc_value_peek(value, 0, &word, sizeof word) && !word;
}

static bool is_the_one(const struct search *s, const struct xc_moved_text *moved, const char *object)
{
	struct xc_value value;
	uint64_t size;
	if (!xc_frame_value_of(s->crash, s->frame, s->level, object, &value))
		return false;
	if (s->at_known && value.kind == XC_VALUE_MEMORY && xc_type_size(value.type, &size) && s->at >= value.addr &&
	    s->at - value.addr < size)
		return is_in_library_object(value.type, s->at - value.addr);
	if (s->innermost && begins_with(s->bad, object))
		return is_empty(&value, 1) || is_empty_register(&value);
	return !s->at_known && !s->bad && is_suspect(s, moved, &value);
}

/* ---- the search ---- */

static void try(struct search *s, const struct xc_moved_text *moved, size_t until)
{
	const char *object = xc_source_code_text(s->crash, &s->code, moved->begin, moved->end);
	enum xc_moved_state state = xc_moved_text_state(&s->code, moved, until);
	if (s->object && strcmp(s->object, object) == 0)
		s->object = NULL; /* the last one counts */
	if (s->object || (state != XC_MOVED_LIKELY && state != XC_MOVED_PASSED) || !is_the_one(s, moved, object))
		return;
	s->object = object;
	s->moved_at = moved->line;
	s->sure = state == XC_MOVED_LIKELY && (s->at_known || s->bad || s->innermost);
}

/* Arguments of one call are evaluated in any order: "f(std::move(p), p->size())". */
static void try_line(struct search *s)
{
	struct xc_moved_text moved;
	for (size_t at = s->current; !s->object && xc_moved_text_next(&s->code, &at, s->code.count, &moved);) {
		const char *object = xc_source_code_text(s->crash, &s->code, moved.begin, moved.end);
		if (!xc_moved_text_used(&s->code, &moved, s->current, s->code.count) || !is_the_one(s, &moved, object))
			continue;
		s->object = object;
		s->moved_at = moved.line;
		s->sure = s->same_line = true;
	}
}

static bool look_at_level(struct search *s, const struct xc_place *place)
{
	struct xc_moved_text moved;
	if (!xc_own_line_find(s->crash->process, place, s->level, &s->line))
		return false;
	unsigned begin = xc_own_line_begin(s->crash->process, &place->levels[s->level], s->line.file);
	if (!xc_source_code_read(s->crash, s->line.file, begin, s->line.line, &s->code))
		return false;
	for (s->current = s->code.count; s->current && s->code.tokens[s->current - 1].line == s->line.line;)
		s->current--;
	for (size_t at = 0; xc_moved_text_next(&s->code, &at, s->current, &moved);)
		try(s, &moved, s->current);
	if (!s->object && s->innermost)
		try_line(s);
	return s->object != NULL;
}

static bool find(struct search *s)
{
	const struct xc_crash_context *crash = s->crash;
	size_t functions = 0;
	for (s->frame = crash->blamed; s->frame < crash->frame_count && s->frame < crash->blamed + FRAMES; s->frame++) {
		const struct xc_place *place = xc_crash_context_place(crash, s->frame);
		if (place->line_only || !place->module)
			continue;
		s->level = s->frame == crash->blamed ? crash->blame.level : 0;
		for (; s->level < place->level_count; s->level++) {
			if (!xc_user_code_is(place, s->level))
				continue;
			s->innermost = functions == 0;
			if (functions++ == FUNCTIONS)
				return false;
			if (look_at_level(s, place))
				return true;
		}
	}
	return false;
}

/* ---- what is bad ---- */

static void take_null(struct search *s)
{
	const struct xc_deref *bad = xc_derefs_bad(s->crash->derefs);
	uint64_t now;
	if (!bad)
		return;
	s->bad = bad->text ? bad->text : s->crash->verdict->expression;
	s->at = bad->at;
	s->at_known = bad->at_known &&
		      xc_space_peek_uint(s->crash->process->space, bad->at, s->crash->process->arch->word, &now) &&
		      !now;
}

/* The container whose size() is the divisor. */
static void take_divisor(struct search *s)
{
	static const char *const endings[] = {".size()", ".length()", NULL};
	const char *expression = s->crash->verdict->expression;
	size_t len = expression ? strlen(expression) : 0;
	for (size_t i = 0; endings[i]; i++) {
		size_t cut = strlen(endings[i]);
		struct xc_value value;
		if (len <= cut || strcmp(expression + len - cut, endings[i]) != 0)
			continue;
		s->bad = xc_arena_strndup(&s->crash->report->arena, expression, len - cut);
		s->at_known = xc_frame_value_of(s->crash, s->crash->blamed, s->crash->blame.level, s->bad, &value) &&
			      value.kind == XC_VALUE_MEMORY && is_empty(&value, 1);
		s->at = s->at_known ? value.addr : 0;
	}
}

/* Is there something that an empty object may be the reason of? */
static bool take_bad(struct search *s)
{
	static const char *const nulls[] = {"null-read", "null-write", "null-access", "call-null", NULL};
	static const char *const ends[] = {"assertion", "uncaught-exception", "trap-instruction", NULL};
	if (xc_names_find(nulls, s->crash->verdict->class_name))
		take_null(s);
	else if (xc_crash_context_is(s->crash, "div-by-zero"))
		take_divisor(s);
	else
		return xc_names_find(ends, s->crash->verdict->class_name);
	return s->at_known || s->bad || !xc_crash_context_is(s->crash, "div-by-zero");
}

static void report(const struct search *s)
{
	struct xc_crash_context *crash = s->crash;
	struct xc_verdict *v = crash->verdict;
	const char *slash = strrchr(s->line.file, '/'), *file = slash ? slash + 1 : s->line.file;
	const struct xc_place *place = xc_crash_context_place(crash, s->frame);
	const char *function = s->innermost ? NULL : xc_place_function(place, s->level);
	v->cause = xc_arena_printf(&crash->report->arena, "%s%s%s `%s` was moved from at %s:%u%s%s%s: std::move(%s)",
				   v->cause ? v->cause : "", v->cause ? "; " : "", s->sure ? "likely" : "perhaps",
				   s->object, file, s->moved_at, s->same_line ? ", in the same statement" : "",
				   function ? ", in " : "", function ? function : "", s->object);
}

void xc_moved_from_report(struct xc_crash_context *crash)
{
	struct search s = {.crash = crash};
	if (!crash->verdict->class_name || !crash->blame.place || !crash->frame_count)
		return;
	if (take_bad(&s) && find(&s))
		report(&s);
}
