#include "triage/blocks/broken_object.h"

#include "core/base/text.h"
#include "dwarf/view/view.h"
#include "triage/util/same_type.h"

enum { MEMBERS = 64, TOLD = 2, DEPTH = 8 };

struct members {
	size_t valid, invalid;
	struct xc_text *out;
};

static void look_at(struct members *m, const char *name, const struct xc_value *member)
{
	struct xc_view view;
	struct xc_text brief = {0};
	const enum xc_view_result result = xc_view_open(member, &view);
	m->valid += result == XC_VIEW_FOUND && view.count;
	if (result != XC_VIEW_INVALID)
		return;
	if (m->invalid < TOLD && xc_view_brief_name(&brief, member->type))
		xc_text_printf(m->out, "%s`%s` is no %s", m->invalid ? ", " : "", name, xc_text_string(&brief));
	else if (m->invalid < TOLD)
		xc_text_printf(m->out, "%s`%s` is no valid %s", m->invalid ? ", " : "", name,
			       xc_type_name(member->type));
	m->invalid++;
	xc_text_fini(&brief);
}

static void look(struct members *m, const struct xc_value *object, unsigned depth)
{
	size_t count;
	const struct xc_member *members = xc_type_members(xc_type_complete(xc_type_strip(object->type)), &count);
	for (size_t i = 0; i < count && i < MEMBERS && depth; i++) {
		struct xc_value member;
		if (members[i].dynamic || members[i].bit_size || !xc_same_type_is_record(members[i].type))
			continue;
		xc_value_field(object, &members[i], &member);
		if (members[i].base)
			look(m, &member, depth - 1);
		else if (members[i].name)
			look_at(m, members[i].name, &member);
	}
}

bool xc_broken_object_find(const struct xc_crash_context *crash, const struct xc_type *type, xc_addr at,
			   struct xc_text *out)
{
	struct xc_text text = {0};
	struct members m = {.out = &text};
	const struct xc_value object = xc_value_memory(crash->process, type, at);
	if (xc_same_type_is_record(type))
		look(&m, &object, DEPTH);
	const bool broken = m.invalid && !m.valid;
	if (broken)
		xc_text_add(out, xc_text_string(&text));
	xc_text_fini(&text);
	return broken;
}
