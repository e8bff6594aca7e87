#include "triage/blocks/moved_container.h"

#include <inttypes.h>
#include <string.h>

#include "dwarf/view/view.h"
#include "triage/util/same_type.h"
#include "triage/util/statics.h"

enum { FRAMES = 8, LEVELS = 8, DEPTH = 2, MEMBERS = 64, LEAST = 2, BUDGET = 4000 };

struct search {
	const struct xc_pointed *t;
	struct xc_text *name; /* of the candidate that is looked at: "this->slots_" */
	struct xc_text best;  /* the sentence about the best one */
	bool named;           /* by something that the source has */
	bool inside;          /* the elements of one are in the block */
	unsigned budget;
};

/* Is an element what the pointer leads to, or what that is a part of? */
static bool is_element(const struct search *s, const struct xc_type *element)
{
	const struct xc_type *type = s->t->type;
	uint64_t whole, part;
	element = element ? xc_type_complete(xc_type_strip(element)) : NULL;
	return element && xc_same_type_is_record(element) && !element->is_declaration &&
	       xc_type_size(element, &whole) && xc_type_size(type, &part) && whole >= part &&
	       xc_same_type_may_hold(element, type);
}

/* As the source has it: `slots_`. */
static const char *source_name(const struct search *s)
{
	static const char this[] = "this->";
	const char *name = xc_text_string(s->name);
	return strncmp(name, this, sizeof this - 1) == 0 ? name + sizeof this - 1 : name;
}

/* A name of the source is better than the compiler's for the same. */
static void take(struct search *s, xc_addr elements, const char *what)
{
	if (elements - s->t->begin < s->t->size) {
		s->inside = true;
		return;
	}
	bool named = strncmp(source_name(s), "__", 2) != 0;
	if (s->best.len && (s->named || !named))
		return;
	s->best.len = 0;
	s->named = named;
	xc_text_printf(&s->best, "`%s`%s%s%s has its elements at 0x%" PRIx64, source_name(s), *what ? " (" : "", what,
		       *what ? ")" : "", elements);
}

static bool look_at_container(struct search *s, const struct xc_value *value)
{
	struct xc_view view;
	struct xc_text what = {0};
	if (xc_view_open(value, &view) != XC_VIEW_FOUND)
		return false;
	if (view.kind == XC_VIEW_LIST && view.contiguous && view.count && view.elements.kind == XC_VALUE_MEMORY &&
	    is_element(s, view.shape->element)) {
		xc_view_summary(&view, &what);
		take(s, view.elements.addr, xc_text_string(&what));
	}
	xc_text_fini(&what);
	return true;
}

/* A member that points to the beginning of a block with room for several of them. */
static void look_at_pointer(struct search *s, const struct xc_value *value)
{
	const struct xc_blocks *blocks = &s->t->crash->heap->blocks;
	uint64_t to, size;
	if (!is_element(s, xc_same_type_pointed(value->type)) || !xc_value_load(value, &to) || to == s->t->deref->led ||
	    !xc_type_size(xc_same_type_pointed(value->type), &size) || !size)
		return;
	uint32_t block = xc_blocks_find(blocks, to);
	if (block == XC_NO_BLOCK || xc_block_addr(blocks, block) != to || xc_block_size(blocks, block) / size < LEAST ||
	    xc_block_state(blocks, block) != XC_BLOCK_LIVE)
		return;
	take(s, to, "");
}

static void set_length(struct xc_text *text, size_t len)
{
	text->len = len;
	xc_text_add(text, "");
}

static void look(struct search *s, const struct xc_value *value, unsigned depth);

static void look_at_members(struct search *s, const struct xc_value *value, const char *joint, unsigned depth)
{
	size_t count, len = s->name->len;
	const struct xc_member *members = xc_type_members(xc_type_complete(xc_type_strip(value->type)), &count);
	for (size_t i = 0; i < count && i < MEMBERS; i++) {
		struct xc_value field;
		if (members[i].dynamic || members[i].bit_size || !members[i].type)
			continue;
		xc_value_field(value, &members[i], &field);
		if (!members[i].base && members[i].name)
			xc_text_printf(s->name, "%s%s", joint, members[i].name);
		const struct xc_type *type = xc_type_strip(members[i].type);
		if (type->kind == XC_TYPE_POINTER)
			look_at_pointer(s, &field);
		else if (xc_same_type_is_record(type))
			look(s, &field, depth - 1);
		set_length(s->name, len);
	}
}

/* A container, an object with members, or a pointer or reference to one. */
static void look(struct search *s, const struct xc_value *value, unsigned depth)
{
	struct xc_value target;
	if (!depth || !s->budget || !value->type)
		return;
	s->budget--;
	const struct xc_type *type = xc_type_strip(value->type);
	bool pointer = type->kind == XC_TYPE_POINTER;
	if (pointer || type->kind == XC_TYPE_REFERENCE || type->kind == XC_TYPE_RVALUE_REFERENCE) {
		struct xc_error *error = xc_value_deref(value, &target);
		if (!error && xc_same_type_is_record(target.type) && !look_at_container(s, &target))
			look_at_members(s, &target, pointer ? "->" : ".", depth);
		xc_error_free(error);
	} else if (xc_same_type_is_record(type) && !look_at_container(s, value))
		look_at_members(s, value, ".", depth);
}

static void look_at_frame(struct search *s, size_t frame)
{
	const struct xc_crash_context *crash = s->t->crash;
	const struct xc_frame_context context = xc_crash_context_frame(crash, frame);
	for (size_t level = 0; level < context.place->level_count && level < LEVELS; level++)
		for (int locals = 1; locals >= 0; locals--) {
			struct xc_named_value *values;
			size_t count = xc_variable_values(&context, level, locals, &crash->report->arena, &values);
			for (size_t i = 0; i < count; i++) {
				if (!values[i].name)
					continue;
				set_length(s->name, 0);
				xc_text_add(s->name, values[i].name);
				look(s, &values[i].value, DEPTH);
			}
		}
}

static void look_at_static(void *user, const char *name, const struct xc_value *value)
{
	struct search *s = user;
	set_length(s->name, 0);
	xc_text_add(s->name, name);
	look(s, value, DEPTH);
}

bool xc_moved_container_find(const struct xc_pointed *t, struct xc_text *out)
{
	struct xc_text name = {0};
	struct search s = {.t = t, .name = &name, .budget = BUDGET};
	if (!t->type || !xc_same_type_is_record(t->type))
		return false;
	for (size_t i = 0; i < FRAMES && i < t->crash->frame_count; i++)
		look_at_frame(&s, i);
	if (t->crash->blame.place && !s.best.len)
		xc_statics_each(t->crash->process, t->crash->blame.place, t->crash->thread, look_at_static, &s);
	bool found = s.best.len && !s.inside;
	if (found)
		xc_text_add(out, xc_text_string(&s.best));
	xc_text_fini(&s.best);
	xc_text_fini(&name);
	return found;
}
