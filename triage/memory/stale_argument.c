/* stale_argument: where the way of a bad pointer is not known, the arguments of the function to look at: one that
 * points into the frame of a function that has returned likely led there. */
#include "triage/memory/stale_pointer.h"

#include "triage/blocks/dead_frame.h"

static bool is_dead(const struct xc_crash_context *crash, const struct xc_named_value *argument, struct xc_stale *out)
{
	uint64_t value;
	bool sure; /* of the place only: not that it led to the bad value */
	const struct xc_type *type = xc_type_strip(argument->value.type);
	const struct xc_type *target =
		xc_type_is_pointer(type) && type->target ? xc_type_complete(xc_type_strip(type->target)) : NULL;
	if (!argument->name || !target || !xc_value_load(&argument->value, &value) ||
	    !xc_dead_frame_at(crash, value, target, 0, &sure, &out->why))
		return false;
	struct xc_deref *deref = xc_arena_alloc(&crash->report->arena, sizeof *deref);
	*deref = (struct xc_deref){
		.pointer = argument->name, .pointer_type = argument->value.type, .led_known = true, .led = value};
	out->kind = XC_STALE_FRAME;
	out->deref = deref;
	return true;
}

struct xc_stale xc_stale_argument_find(const struct xc_crash_context *crash)
{
	struct xc_stale stale = {.kind = XC_STALE_NOT};
	const struct xc_place *place = crash->blame.place;
	if ((crash->derefs && crash->derefs->count) || !place || !place->level_count || place->line_only ||
	    crash->blamed >= crash->frame_count)
		return stale;
	const struct xc_frame_context in = xc_crash_context_frame(crash, crash->blamed);
	struct xc_named_value *values;
	size_t count = xc_variable_values(&in, crash->blame.level, false, &crash->report->arena, &values);
	for (size_t i = 0; i < count; i++)
		if (is_dead(crash, &values[i], &stale))
			break;
	return stale;
}
