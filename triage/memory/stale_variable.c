/* stale_variable: the variables of the blamed function, where the way of the bad value says nothing: one of them likely
 * led to it. */
#include "triage/memory/stale_pointer.h"

#include <string.h>

#include "core/base/text.h"
#include "triage/blocks/broken_object.h"
#include "triage/blocks/dead_frame.h"
#include "triage/memory/stale_pointer_impl.h"
#include "triage/util/same_type.h"

enum { MEMBERS = 32 };

/* Where the way of a bad pointer is not known, an argument of the function to look at that points into the frame of a
 * function that has returned likely led there. */
static bool is_into_dead_frame(const struct xc_crash_context *crash, const struct xc_deref *deref, struct xc_stale *out)
{
	bool sure; /* of the place only: not that it led to the bad value */
	if (!xc_dead_frame_at(crash, deref, &sure, &out->why))
		return false;
	out->kind = XC_STALE_FRAME;
	return true;
}

/* A lambda keeps what it captured by reference; other objects may keep such pointers, too. */
static bool has_dead_member(const struct xc_crash_context *crash, const struct xc_deref *deref, struct xc_stale *out)
{
	size_t count;
	const struct xc_type *type = xc_same_type_pointed(deref->pointer_type);
	struct xc_deref *through = xc_arena_alloc(&crash->report->arena, sizeof *through);
	if (!xc_same_type_is_record(type))
		return false;
	const struct xc_member *members = xc_type_members(type, &count);
	const struct xc_value object = xc_value_memory(crash->process, type, deref->led);
	for (size_t i = 0; i < count && i < MEMBERS; i++) {
		struct xc_value member;
		if (!members[i].name || members[i].dynamic || !xc_same_type_pointed(members[i].type))
			continue;
		xc_value_field(&object, &members[i], &member);
		*through = *deref;
		through->pointer = members[i].name + 2 * (strncmp(members[i].name, "__", 2) == 0);
		through->pointer_type = members[i].type;
		if (xc_value_load(&member, &through->led) && is_into_dead_frame(crash, through, out)) {
			out->deref = through;
			return true;
		}
	}
	return false;
}

/* Of an object in the heap: elsewhere an argument may be the end of an array, where the next object begins. */
static bool is_other_class(const struct xc_crash_context *crash, const struct xc_deref *deref, struct xc_stale *out)
{
	return crash->heap && xc_blocks_find(&crash->heap->blocks, deref->led) != XC_NO_BLOCK &&
	       xc_stale_class_at(crash, deref->led, xc_same_type_pointed(deref->pointer_type), out);
}

/* What it was an element of may have it elsewhere now. */
static bool is_broken(const struct xc_crash_context *crash, const struct xc_deref *deref, struct xc_stale *out)
{
	struct xc_pointed t;
	struct xc_text members = {0};
	bool broken = xc_stale_target(crash, deref, &t) && t.type &&
		      xc_broken_object_find(crash, t.type, deref->led, &members);
	if (broken) {
		out->kind = XC_STALE_BROKEN;
		out->begin = t.begin;
		out->size = t.size;
		out->why = xc_arena_printf(&crash->report->arena, "the object there is no valid %s: %s",
					   xc_type_name(t.type), xc_text_string(&members));
		xc_stale_moved(&t, out);
		out->kind = out->moved ? XC_STALE_REUSED : out->kind;
	}
	xc_text_fini(&members);
	return broken;
}

typedef bool argument_fn(const struct xc_crash_context *crash, const struct xc_deref *deref, struct xc_stale *out);

/* Arguments are set. What a local variable holds may be left over where its line is still to come. */
static bool is_set(const struct xc_crash_context *crash, const struct xc_named_value *named, bool local)
{
	return !local || (named->line && named->line < crash->blame.place->levels[crash->blame.level].line);
}

/* The first pointer or reference among the blamed function's arguments, or locals, for which it holds. */
static struct xc_stale find_variable(const struct xc_crash_context *crash, bool locals, argument_fn *holds)
{
	struct xc_stale stale = {.kind = XC_STALE_NOT};
	const struct xc_place *place = crash->blame.place;
	struct xc_named_value *values;
	if (!place || !place->level_count || place->line_only || crash->blamed >= crash->frame_count)
		return stale;
	const struct xc_frame_context in = xc_crash_context_frame(crash, crash->blamed);
	size_t count = xc_variable_values(&in, crash->blame.level, locals, &crash->report->arena, &values);
	for (size_t i = 0; i < count; i++) {
		struct xc_deref *deref = xc_arena_alloc(&crash->report->arena, sizeof *deref);
		*deref = (struct xc_deref){.frame = crash->blamed,
					   .pointer = values[i].name,
					   .pointer_type = values[i].value.type,
					   .led_known = true};
		if (!values[i].name || !xc_same_type_pointed(values[i].value.type) ||
		    !is_set(crash, &values[i], locals) || !xc_value_load(&values[i].value, &deref->led) ||
		    !holds(crash, deref, &stale))
			continue;
		stale.deref = stale.deref ? stale.deref : deref;
		return stale;
	}
	return stale;
}

struct xc_stale xc_stale_argument_find(const struct xc_crash_context *crash)
{
	struct xc_stale none = {.kind = XC_STALE_NOT};
	return xc_derefs_bad(crash->derefs) ? none : find_variable(crash, false, is_into_dead_frame);
}

struct xc_stale xc_stale_class_find(const struct xc_crash_context *crash)
{
	const struct xc_stale stale = find_variable(crash, false, is_other_class);
	return stale.kind == XC_STALE_NOT ? find_variable(crash, true, is_other_class) : stale;
}

struct xc_stale xc_stale_member_find(const struct xc_crash_context *crash)
{
	return find_variable(crash, false, has_dead_member);
}

struct xc_stale xc_stale_broken_find(const struct xc_crash_context *crash)
{
	return find_variable(crash, false, is_broken);
}
