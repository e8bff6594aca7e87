/* symbolic_value_place: the pointer or variable of an address, then the path that its type gives to the offset
 * (access_path.h). */
#include "triage/util/statics.h"
#include "triage/dataflow/symbolic_value.h"
#include "triage/dataflow/access_path.h"

enum { SHIFTS = 2 /* elements */ };

bool xc_symbolic_value_is_pointer(const struct xc_type *type)
{
	type = type ? xc_type_strip(type) : NULL;
	return type && (type->kind == XC_TYPE_POINTER || type->kind == XC_TYPE_REFERENCE ||
			type->kind == XC_TYPE_RVALUE_REFERENCE);
}

const struct xc_linear_expr_part *xc_symbolic_value_pointer(const struct xc_linear_expr *form)
{
	const struct xc_linear_expr_part *found = NULL;
	size_t count = 0, single = form->count == 1 && form->parts[0].times == 1;
	for (size_t i = 0; i < form->count; i++) {
		if (form->parts[i].times != 1 || !xc_symbolic_value_is_pointer(form->parts[i].term.type))
			continue;
		found = &form->parts[i];
		count++;
	}
	if (form->absolute)
		return NULL;
	return count == 1 ? found : single ? &form->parts[0] : NULL;
}

static bool find_variable(const struct xc_frame_code *s, size_t at, xc_addr addr, struct xc_held *held)
{
	struct xc_frame_context context = xc_frame_code_context(s, at);
	for (size_t level = 0; level < context.place->level_count; level++)
		if (xc_frame_code_in_scope(s, &context.place->levels[level]) &&
		    xc_variable_held(&context, level, -1, addr, held))
			return true;
	return xc_statics_at(s->crash->process, context.place, s->crash->thread, addr, held);
}

/* With one index the offset may be that of an element before the first: for `v[i - 1]`, i is added to the address of
 * v[-1]. */
static bool shift_index(const struct xc_linear_expr *form, struct xc_access_path *path, int64_t shift)
{
	uint64_t bytes = (uint64_t)shift * (path->index_count == 1 ? (uint64_t)path->indexes[0].times : 0);
	path->shift = shift;
	path->offset = (int64_t)((uint64_t)form->constant + bytes);
	return !shift || bytes;
}

static bool write_place(const struct xc_frame_code *s, size_t at, const struct xc_linear_expr *form, int64_t shift,
			struct xc_access_path *path)
{
	const struct xc_linear_expr_part *pointer = xc_symbolic_value_pointer(form);
	struct xc_held held = {.name = NULL};
	for (size_t i = 0; i < form->count; i++)
		if (&form->parts[i] != pointer)
			xc_access_path_index(path, form->parts[i].times, form->parts[i].term.text);
	if (!shift_index(form, path, shift))
		return false;
	if (form->absolute)
		return find_variable(s, at, (xc_addr)path->offset, &held) &&
		       xc_access_path_variable(path, held.name, held.type, held.offset);
	return xc_access_path_pointer(path, pointer->term.text, pointer->term.type, path->offset);
}

static bool place_of(const struct xc_frame_code *s, size_t at, const struct xc_linear_expr *form, uint32_t size,
		     bool whole, struct xc_symbolic_value *out)
{
	const struct xc_linear_expr_part *pointer = xc_symbolic_value_pointer(form);
	bool written = false;
	*out = (struct xc_symbolic_value){.reg = -1, .at = at};
	if (!form->known || (!form->absolute && (!pointer || !pointer->term.text)))
		return false;
	for (int64_t shift = 0; shift <= SHIFTS && !written; shift++) {
		struct xc_access_path path = {.size = size, .whole = whole};
		written = write_place(s, at, form, shift, &path);
		if (written) {
			out->text = xc_arena_strdup(&s->crash->report->arena, xc_text_string(&path.text));
			out->type = path.type;
		}
		xc_text_fini(&path.text);
	}
	return written;
}

bool xc_symbolic_value_place(const struct xc_frame_code *s, size_t at, const struct xc_linear_expr *form, uint32_t size,
			     struct xc_symbolic_value *out)
{
	return place_of(s, at, form, size, false, out);
}

bool xc_symbolic_value_object(const struct xc_frame_code *s, size_t at, const struct xc_linear_expr *form,
			      struct xc_symbolic_value *out)
{
	return place_of(s, at, form, 0, true, out);
}
