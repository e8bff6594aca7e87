/* symbolic_value_place: the pointer or variable of an address, then the path that its type gives to the offset
 * (access_path.h). */
#include <string.h>

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

/* The pointer as the term has it, or (number > 0) as another member of a union there. */
static struct xc_union_choice written(const struct xc_symbolic_value *term, size_t number)
{
	return number ? term->choices[number - 1] : (struct xc_union_choice){.text = term->text, .type = term->type};
}

static bool write_place(const struct xc_frame_code *s, size_t at, const struct xc_linear_expr *form, int64_t shift,
			size_t number, struct xc_access_path *path)
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
	struct xc_union_choice as = written(&pointer->term, number);
	return (!number || xc_symbolic_value_is_pointer(as.type)) &&
	       xc_access_path_pointer(path, as.text, as.type, path->offset);
}

/* How well the place fits the access: 2 in size, 1 by a cast. */
static unsigned fit_of(const struct xc_access_path *path)
{
	uint64_t size;
	return path->type && (!path->size || !xc_type_size(path->type, &size) || size == path->size) ? 2 : 1;
}

/* All ways to write the place that fit equally well: those of the pointer, and those of a union that it leads into. */
struct ways {
	struct xc_union_choice items[1 + XC_UNION_CHOICES];
	size_t count;
	unsigned fit;
};

static void add_way(const struct xc_frame_code *s, const struct xc_access_path *path, size_t pointer, struct ways *ways)
{
	unsigned fit = fit_of(path);
	if (ways->count && fit < ways->fit)
		return;
	if (fit > ways->fit)
		ways->count = 0;
	ways->fit = fit;
	if (ways->count < XC_COUNT(ways->items))
		ways->items[ways->count++] = (struct xc_union_choice){
			.text = xc_arena_strdup(&s->crash->report->arena, xc_text_string(&path->text)),
			.type = path->type,
			.pointer = pointer};
}

/* Reads the source lines, which takes files, only for a union: they name its member. */
static bool write_choice(const struct xc_frame_code *s, size_t at, const struct xc_linear_expr *form, int64_t shift,
			 size_t number, struct xc_access_path *wanted, struct xc_access_path *path)
{
	*path = *wanted;
	bool good = write_place(s, at, form, shift, number, path);
	if (!path->undecided || wanted->source)
		return good;
	xc_text_fini(&path->text);
	wanted->source = xc_frame_code_source(s, at);
	*path = *wanted;
	return write_place(s, at, form, shift, number, path);
}

/* False: there is none. */
static bool find_ways(const struct xc_frame_code *s, size_t at, const struct xc_linear_expr *form, int64_t shift,
		      struct xc_access_path *wanted, struct ways *ways)
{
	const struct xc_linear_expr_part *pointer = form->absolute ? NULL : xc_symbolic_value_pointer(form);
	size_t pointers = 1 + (pointer ? pointer->term.choice_count : 0);
	*ways = (struct ways){.count = 0};
	for (size_t number = 0; number < pointers; number++) {
		unsigned members = 1;
		for (unsigned choose = 0; choose < members; choose++) {
			struct xc_access_path path;
			wanted->choose = choose;
			if (write_choice(s, at, form, shift, number, wanted, &path))
				add_way(s, &path, number, ways);
			members = path.undecided ? path.undecided : 1;
			xc_text_fini(&path.text);
		}
	}
	return ways->count > 0;
}

static bool place_of(const struct xc_frame_code *s, size_t at, const struct xc_linear_expr *form, uint32_t size,
		     bool whole, struct xc_symbolic_value *out)
{
	const struct xc_linear_expr_part *pointer = xc_symbolic_value_pointer(form);
	struct xc_access_path wanted = {.size = size, .whole = whole};
	struct ways ways;
	*out = (struct xc_symbolic_value){.reg = -1, .at = at};
	if (!form->known || (!form->absolute && (!pointer || !pointer->term.text)))
		return false;
	for (int64_t shift = 0; shift <= SHIFTS; shift++) {
		if (!find_ways(s, at, form, shift, &wanted, &ways))
			continue;
		out->text = ways.items[0].text;
		out->type = ways.items[0].type;
		out->pointer = ways.items[0].pointer;
		out->choice_count = ways.count - 1;
		struct xc_union_choice *choices =
			xc_arena_alloc(&s->crash->report->arena, ways.count * sizeof *choices);
		memcpy(choices, ways.items + 1, out->choice_count * sizeof *choices);
		out->choices = choices;
		return true;
	}
	return false;
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

void xc_symbolic_value_settle(const struct xc_frame_code *s, const struct xc_symbolic_value *place,
			      struct xc_linear_expr *form)
{
	const struct xc_linear_expr_part *pointer = xc_symbolic_value_pointer(form);
	struct xc_union_choice all[1 + XC_UNION_CHOICES];
	size_t count = 0;
	if (!pointer || !pointer->term.choice_count || !place->text)
		return;
	for (size_t i = 0; i <= place->choice_count && i < XC_COUNT(all); i++) {
		struct xc_union_choice way =
			written(&pointer->term, i ? place->choices[i - 1].pointer : place->pointer);
		bool again = false;
		way.pointer = 0;
		for (size_t k = 0; k < count; k++)
			again |= strcmp(all[k].text, way.text) == 0;
		if (!again)
			all[count++] = way;
	}
	struct xc_symbolic_value *term = &form->parts[pointer - form->parts].term;
	struct xc_union_choice *choices = xc_arena_alloc(&s->crash->report->arena, count * sizeof *choices);
	memcpy(choices, all + 1, (count - 1) * sizeof *choices);
	term->text = all[0].text;
	term->type = all[0].type;
	term->choices = choices;
	term->choice_count = count - 1;
}
