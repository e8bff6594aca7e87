#include "triage/hang/descriptor_owner.h"

#include <inttypes.h>
#include <string.h>

#include "dwarf/stack/frame_walk.h"
#include "triage/util/names.h"
#include "triage/util/same_type.h"
#include "triage/util/user_code.h"

enum { FRAMES = 8, MEMBERS = 64, ELEMENTS = 4, VALUES = 128 };

struct search {
	const struct xc_crash_context *crash;
	int number;
	bool is_child;
	struct xc_descriptor_owner best;
	int worth; /* of best; 0: there is none */
};

/* ---- one record, or one function ---- */

static bool has_word(const char *name, const char *const *words)
{
	char word[XC_NAMES_WORD];
	while (name && xc_names_next_word(&name, word))
		if (xc_names_find(words, word))
			return true;
	return false;
}

static bool speaks_of_descriptors(const char *name)
{
	static const char *const words[] = {"fd",         "fds",    "sock",   "socket", "sockets", "pipe",  "pipes",
					    "descriptor", "conn",   "handle", "in",     "out",     "stdin", "stdout",
					    "to",         "from",   "rfd",    "wfd",    "infd",    "outfd", "sockfd",
					    "input",      "output", "ends",   NULL};
	return has_word(name, words);
}

static bool speaks_of_processes(const char *name, const struct xc_type *type)
{
	static const char *const words[] = {"pid", "child", "kid", NULL};
	return has_word(name, words) || (type && type->name && strcmp(type->name, "pid_t") == 0);
}

static void take(struct search *s, struct xc_descriptor_owner *o, const char *path, const char *name,
		 const struct xc_type *type, int value)
{
	struct xc_arena *arena = &s->crash->report->arena;
	bool process = speaks_of_processes(name, type), descriptor = !process && speaks_of_descriptors(name);
	struct xc_named_number one = {.value = value};
	if ((!process && !descriptor) || value < 0)
		return;
	one.name = xc_arena_strdup(arena, path);
	if (process && value > 1 && !o->child.name)
		o->child = one;
	if (!o->found.name && value == s->number && process == s->is_child)
		o->found = one;
	else if (descriptor && o->other_count < XC_DESCRIPTOR_OTHERS)
		o->others[o->other_count++] = one;
}

static bool number_of(const struct xc_value *value, int *out)
{
	const struct xc_type *type = value->type ? xc_type_strip(value->type) : NULL;
	uint64_t bits, size;
	if (!type || type->kind != XC_TYPE_INT || !xc_type_size(type, &size) || size != sizeof(int) ||
	    !xc_value_load(value, &bits))
		return false;
	*out = (int)(int32_t)bits;
	return true;
}

/* A number, or a short array of them: int ends[2]. */
static void take_value(struct search *s, struct xc_descriptor_owner *o, const char *path, const char *name,
		       const struct xc_value *value)
{
	const struct xc_type *type = value->type ? xc_type_strip(value->type) : NULL;
	int number;
	if (number_of(value, &number)) {
		take(s, o, path, name, value->type, number);
		return;
	}
	if (!type || type->kind != XC_TYPE_ARRAY || !type->count_known || type->count > ELEMENTS)
		return;
	for (uint64_t i = 0; i < type->count; i++) {
		struct xc_value element;
		struct xc_error *error = xc_value_index(value, (int64_t)i, &element);
		xc_auto(xc_freep) char *at = xc_asprintf("%s[%" PRIu64 "]", path, i);
		if (!error && number_of(&element, &number))
			take(s, o, at, name, value->type, number);
		xc_error_free(error);
	}
}

static void weigh(struct search *s, const struct xc_descriptor_owner *o, bool is_record)
{
	int worth = o->found.name ? 1 + is_record + 4 * (o->child.name != NULL) + 2 * (o->other_count > 0) : 0;
	if (worth <= s->worth)
		return;
	s->worth = worth;
	s->best = *o;
}

static void look_in_record(struct search *s, const struct xc_value *record, const char *name, const char *dot)
{
	size_t count = 0;
	struct xc_descriptor_owner o = {.other_count = 0};
	const struct xc_type *type = record->type ? xc_type_complete(xc_type_strip(record->type)) : NULL;
	const struct xc_member *members = type && xc_type_is_record(type) ? xc_type_members(type, &count) : NULL;
	for (size_t i = 0; i < count && i < MEMBERS; i++) {
		struct xc_value member;
		if (!members[i].name || members[i].base || members[i].dynamic)
			continue;
		xc_value_field(record, &members[i], &member);
		xc_auto(xc_freep) char *path = xc_asprintf("%s%s%s", name, dot, members[i].name);
		take_value(s, &o, path, members[i].name, &member);
	}
	weigh(s, &o, true);
}

/* ---- the frames ---- */

static void look_at_level(struct search *s, const struct xc_frame_context *context, size_t level)
{
	struct xc_descriptor_owner o = {.other_count = 0};
	for (int locals = 0; locals < 2; locals++) {
		struct xc_named_value *values;
		size_t count = xc_variable_values(context, level, locals, &s->crash->report->arena, &values);
		for (size_t i = 0; i < count && i < VALUES; i++) {
			const struct xc_value *value = &values[i].value;
			struct xc_value target;
			take_value(s, &o, values[i].name, values[i].name, value);
			look_in_record(s, value, values[i].name, ".");
			if (!value->type || !xc_type_is_pointer(value->type))
				continue;
			struct xc_error *error = xc_value_deref(value, &target);
			if (!error)
				look_in_record(s, &target, values[i].name, "->");
			xc_error_free(error);
		}
	}
	weigh(s, &o, false);
}

bool xc_descriptor_owner_find(const struct xc_crash_context *crash, const struct xc_wait *wait, int number,
			      bool is_child, struct xc_descriptor_owner *out)
{
	struct search s = {.crash = crash, .number = number, .is_child = is_child};
	struct xc_frame_walk walk;
	xc_frame_walk_from(&walk, crash->process, crash->unwinder, wait->thread, &wait->frame,
			   wait->has_place ? FRAMES : 0);
	while (xc_frame_walk_next(&walk)) {
		const struct xc_place *place = walk.context.place;
		for (size_t level = 0; !place->line_only && level < place->level_count; level++)
			if (xc_user_code_is(place, level))
				look_at_level(&s, &walk.context, level);
	}
	*out = s.best;
	return s.worth > 0;
}
