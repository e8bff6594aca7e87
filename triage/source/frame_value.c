#include "triage/source/frame_value.h"

#include "dwarf/cexpr/cexpr.h"

bool xc_frame_value_of(const struct xc_crash_context *crash, size_t frame, size_t level, const char *text,
		       struct xc_value *out)
{
	struct xc_frame_context in = xc_crash_context_frame(crash, frame);
	struct xc_frame_scope scope = {.process = crash->process,
				       .thread = crash->thread,
				       .unwinder = crash->unwinder,
				       .has_frame = true,
				       .frame = *in.frame,
				       .place = in.place,
				       .level = level,
				       .without_hints = true};
	struct xc_error *error = xc_cexpr_value(&scope, text, &crash->report->arena, out);
	const struct xc_type *type = error || !out->type ? NULL : xc_type_strip(out->type);
	if (type && type->kind != XC_TYPE_POINTER && xc_type_is_pointer(type)) {
		struct xc_value reference = *out;
		error = xc_value_deref(&reference, out);
	}
	bool good = !error && out->type && out->kind != XC_VALUE_ABSENT && out->kind != XC_VALUE_POINTEE;
	xc_error_free(error);
	return good;
}
