/* survey: a walk of bounded depth and length. Variables may hold anything before they are set: whatever they lead to is
 * read as hostile. */
#include "triage/survey/survey.h"

#include <inttypes.h>

#include "dwarf/view/view.h"
#include "triage/util/names.h"
#include "triage/util/same_type.h"
#include "triage/util/statics.h"
#include "triage/util/user_code.h"

enum {
	FRAMES = 12,   /* from the blamed one on, to look for functions of the program in */
	FUNCTIONS = 4, /* of the program */
	DEPTH = 4,     /* pointers and containers, one behind the other */
	VALUES = 3000,
	MEMBERS = 64,
	ELEMENTS = 48,
	CHILDREN = 24,
	SEEN = 256,
	NESTING = 16, /* records, elements and pointers in each other */
};

struct survey {
	const struct xc_crash_context *crash;
	xc_survey_fn *each;
	void *user;
	struct xc_text path;
	unsigned left, nesting;
	struct seen {
		xc_addr addr;
		const struct xc_type *type;
	} seen[SEEN]; /* objects */
	size_t seen_count;
};

static void look(struct survey *s, const struct xc_value *value, uint64_t most, unsigned depth);

bool xc_survey_is_count(const char *name)
{
	static const char *const words[] = {"n",   "count", "len",   "length", "used", "num", "nr",    "total",
					    "top", "fill",  "items", "nitems", "size", "cnt", "nelts", NULL};
	char word[XC_NAMES_WORD];
	bool found = false;
	if (name && xc_survey_is_room(name))
		return false;
	while (name && !found && xc_names_next_word(&name, word))
		found = xc_names_find(words, word);
	return found;
}

bool xc_survey_is_room(const char *name)
{
	static const char *const words[] = {"cap",     "capacity",  "limit", "max",    "maximum",  "alloc",
					    "alloced", "allocated", "room",  "nalloc", "reserved", NULL};
	char word[XC_NAMES_WORD];
	bool found = false;
	while (name && !found && xc_names_next_word(&name, word))
		found = xc_names_find(words, word);
	return found;
}

/* A table of hashed objects is full of holes: the count says nothing of where they are. */
static bool has_holes(const char *name)
{
	static const char *const words[] = {"bucket", "buckets", "table", "tab",   "hash",
					    "slots",  "chains",  "chain", "heads", NULL};
	char word[XC_NAMES_WORD];
	bool found = false;
	while (name && !found && xc_names_next_word(&name, word))
		found = xc_names_find(words, word);
	return found;
}

/* Leads behind the last element: what is there is no object, or none any more. */
static bool is_end(const char *name)
{
	static const char *const words[] = {"end", "finish", "stop", "sentinel", NULL};
	char word[XC_NAMES_WORD];
	bool found = false;
	while (name && !found && xc_names_next_word(&name, word))
		found = xc_names_find(words, word);
	return found;
}

static void cut(struct survey *s, size_t len)
{
	s->path.len = len;
	xc_text_add(&s->path, "");
}

static bool is_seen(struct survey *s, xc_addr addr, const struct xc_type *type)
{
	for (size_t i = 0; i < s->seen_count; i++)
		if (s->seen[i].addr == addr && s->seen[i].type == type)
			return true;
	if (s->seen_count < SEEN)
		s->seen[s->seen_count++] = (struct seen){addr, type};
	return false;
}

static bool tell(struct survey *s, const struct xc_value *value, const struct xc_view *view, const char *joint)
{
	if (!s->left)
		return false;
	s->left--;
	s->each(s->user, &(struct xc_surveyed){value, view, xc_text_string(&s->path), joint});
	return true;
}

/* ---- records ---- */

/* The smallest number among the members that counts something; ELEMENTS: none. *counted_out: there is one. */
static uint64_t counted(const struct xc_value *record, const struct xc_member *members, size_t count, bool *counted_out)
{
	uint64_t least = ELEMENTS;
	*counted_out = false;
	for (size_t i = 0; i < count && i < MEMBERS; i++) {
		struct xc_value member;
		uint64_t number;
		if (!xc_survey_is_count(members[i].name) || xc_type_strip(members[i].type)->kind != XC_TYPE_INT)
			continue;
		xc_value_field(record, &members[i], &member);
		if (!xc_value_load(&member, &number))
			continue;
		*counted_out = true;
		least = number < least ? number : least;
	}
	return least;
}

static void look_at_members(struct survey *s, const struct xc_value *record, const char *joint, unsigned depth)
{
	size_t count, len = s->path.len;
	bool has_count;
	if (s->nesting == NESTING)
		return;
	s->nesting++;
	const struct xc_member *members = xc_type_members(xc_type_complete(xc_type_strip(record->type)), &count);
	uint64_t most = counted(record, members, count, &has_count);
	for (size_t i = 0; i < count && i < MEMBERS && s->left; i++) {
		struct xc_value member;
		if (members[i].dynamic || members[i].bit_size || !members[i].type)
			continue;
		xc_value_field(record, &members[i], &member);
		bool pointer = xc_type_strip(members[i].type)->kind == XC_TYPE_POINTER;
		if (members[i].base || (!members[i].name && xc_same_type_is_record(members[i].type))) {
			s->left--;
			look_at_members(s, &member, joint, depth);
			continue;
		}
		if (!members[i].name || is_end(members[i].name))
			continue;
		xc_text_printf(&s->path, "%s%s", joint, members[i].name);
		uint64_t elements = has_holes(members[i].name) ? ELEMENTS : pointer && !has_count ? 1 : most;
		look(s, &member, elements, depth);
		cut(s, len);
	}
	s->nesting--;
}

/* "[17]" where the key is a number; else ", value 3": a text may be secret. */
static void add_child(struct survey *s, const struct xc_view_child *child, unsigned i)
{
	const struct xc_type *key = child->key.type ? xc_type_strip(child->key.type) : NULL;
	uint64_t number, size;
	if (!key || key->kind != XC_TYPE_INT || !xc_type_size(key, &size) || size > 8 ||
	    !xc_value_load(&child->key, &number))
		xc_text_printf(&s->path, ", value %u", i);
	else if (key->is_signed)
		xc_text_printf(&s->path, "[%" PRId64 "]", (int64_t)xc_extend(number, 8 * (unsigned)size, true));
	else
		xc_text_printf(&s->path, "[%" PRIu64 "]", number);
}

static void look_at_children(struct survey *s, struct xc_view *view, unsigned depth)
{
	struct xc_view_child child;
	size_t len = s->path.len;
	for (unsigned i = 0; i < CHILDREN && s->left && xc_view_next(view, &child); i++) {
		if (view->kind == XC_VIEW_MAP) {
			xc_text_printf(&s->path, ", key %u", i);
			look(s, &child.key, 1, depth);
			cut(s, len);
		}
		if (view->kind == XC_VIEW_MAP)
			add_child(s, &child, i);
		else if (view->kind == XC_VIEW_LIST)
			xc_text_printf(&s->path, "[%u]", i);
		else if (child.name && view->kind == XC_VIEW_RECORD)
			xc_text_printf(&s->path, ".%s", child.name);
		look(s, &child.value, 1, depth);
		cut(s, len);
	}
}

static void look_at_record(struct survey *s, const struct xc_value *record, const char *joint, unsigned depth)
{
	struct xc_view view;
	if (record->kind == XC_VALUE_MEMORY && is_seen(s, record->addr, xc_type_complete(xc_type_strip(record->type))))
		return;
	enum xc_view_result result = xc_view_open(record, &view);
	if (!tell(s, record, result == XC_VIEW_FOUND ? &view : NULL, joint) || result == XC_VIEW_INVALID)
		return;
	if (result == XC_VIEW_FOUND && view.kind != XC_VIEW_TEXT && depth)
		look_at_children(s, &view, depth - 1);
	else if (result == XC_VIEW_NONE)
		look_at_members(s, record, joint, depth);
}

/* ---- pointers and arrays ---- */

/* How many elements of a size are behind a pointer: as many as fit, where it leads to the beginning of a live block; 1
 * elsewhere; 0 in freed memory. */
static uint64_t room_at(const struct survey *s, xc_addr addr, uint64_t size)
{
	const struct xc_heap *heap = s->crash->heap;
	uint32_t block = heap ? xc_blocks_find(&heap->blocks, addr) : XC_NO_BLOCK;
	if (block == XC_NO_BLOCK)
		return 1;
	if (xc_block_is_free(xc_block_state(&heap->blocks, block)))
		return 0;
	return size && xc_block_addr(&heap->blocks, block) == addr ? xc_block_size(&heap->blocks, block) / size : 1;
}

static void look_behind(struct survey *s, const struct xc_value *pointer, uint64_t most, unsigned depth)
{
	const struct xc_type *target = xc_type_strip(pointer->type)->target;
	bool reference = xc_type_strip(pointer->type)->kind != XC_TYPE_POINTER;
	xc_addr addr;
	uint64_t size;
	target = target ? xc_type_complete(xc_type_strip(target)) : NULL;
	bool record = target && xc_type_is_record(target), list = target && target->kind == XC_TYPE_POINTER;
	if (!depth || (!record && !list) || !xc_type_size(target, &size) || !xc_value_load(pointer, &addr) || !addr ||
	    (list && is_seen(s, addr, target)))
		return;
	uint64_t room = room_at(s, addr, size);
	most = list && !reference && most == 1 ? ELEMENTS : most;
	room = room < most ? room : most;
	size_t len = s->path.len;
	for (uint64_t i = 0; i < room && i < ELEMENTS && s->left; i++) {
		struct xc_value element = xc_value_memory(s->crash->process, target, addr + i * size);
		if (room > 1 || (list && !reference))
			xc_text_printf(&s->path, "[%" PRIu64 "]", i);
		if (record)
			look_at_record(s, &element, room > 1 || reference ? "." : "->", depth - 1);
		else
			look(s, &element, 1, depth - 1);
		cut(s, len);
	}
}

static void look_at_elements(struct survey *s, const struct xc_value *array, uint64_t most, unsigned depth)
{
	const struct xc_type *type = xc_type_strip(array->type);
	const struct xc_type *element = type->target ? xc_type_strip(type->target) : NULL;
	size_t len = s->path.len;
	if (!element || !type->count_known || (element->kind != XC_TYPE_POINTER && !xc_type_is_record(element)))
		return;
	for (uint64_t i = 0; i < type->count && i < most && i < ELEMENTS && s->left; i++) {
		struct xc_value value;
		struct xc_error *error = xc_value_index(array, (int64_t)i, &value);
		xc_text_printf(&s->path, "[%" PRIu64 "]", i);
		if (!error)
			look(s, &value, 1, depth);
		xc_error_free(error);
		cut(s, len);
	}
}

/* `most`: elements to look at, of an array and behind a pointer. */
static void look(struct survey *s, const struct xc_value *value, uint64_t most, unsigned depth)
{
	const struct xc_type *type = value->type ? xc_type_complete(xc_type_strip(value->type)) : NULL;
	if (!type || !s->left || s->nesting == NESTING)
		return;
	s->nesting++;
	if (xc_type_is_pointer(type)) {
		if (tell(s, value, NULL, ""))
			look_behind(s, value, most, depth);
	} else if (xc_type_is_record(type) && type->kind != XC_TYPE_UNION)
		look_at_record(s, value, ".", depth);
	else if (type->kind == XC_TYPE_ARRAY)
		look_at_elements(s, value, most, depth);
	s->nesting--;
}

/* ---- where the walk begins ---- */

/* Pointers first: what they lead to was made before the function's own objects, which may not be set yet. */
static void look_at_variables(struct survey *s, const struct xc_frame_context *context, size_t level)
{
	for (unsigned pass = 0; pass < 4; pass++) {
		struct xc_named_value *values;
		size_t count = xc_variable_values(context, level, pass & 1, &s->crash->report->arena, &values);
		for (size_t i = 0; i < count && s->left; i++) {
			if (!values[i].name || is_end(values[i].name) || !values[i].value.type ||
			    xc_type_is_pointer(values[i].value.type) != (pass < 2))
				continue;
			cut(s, 0);
			xc_text_add(&s->path, values[i].name);
			/* Arguments and references were set; what another local variable holds may be left over. */
			if (pass == 0 || (pass == 1 && xc_type_strip(values[i].value.type)->kind != XC_TYPE_POINTER))
				tell(s, &values[i].value, NULL, "");
			if (pass < 2)
				look_behind(s, &values[i].value, 1, DEPTH);
			else
				look(s, &values[i].value, ELEMENTS, DEPTH);
		}
	}
}

static void look_at_static(void *user, const char *name, const struct xc_value *value)
{
	struct survey *s = user;
	cut(s, 0);
	xc_text_add(&s->path, name);
	if (xc_type_is_pointer(value->type)) /* itself it may be left over, as a local variable's */
		look_behind(s, value, 1, DEPTH);
	else
		look(s, value, ELEMENTS, DEPTH);
}

/* Does an exception unwind the frame? Its clean-up code has destroyed the variables. */
static bool is_unwound(const struct xc_crash_context *crash, size_t frame)
{
	static const char *const resume[] = {"_Unwind_Resume", "_Unwind_Resume_or_Rethrow", NULL};
	const struct xc_place *called = frame ? xc_crash_context_place(crash, frame - 1) : NULL;
	return called && called->symbol && xc_names_find(resume, called->symbol);
}

void xc_survey_walk(const struct xc_crash_context *crash, xc_survey_fn *each, void *user)
{
	struct survey s = {.crash = crash, .each = each, .user = user, .left = VALUES};
	const struct xc_place *own = NULL;
	size_t functions = 0;
	for (size_t i = 0; i < crash->frame_count && i < crash->blamed + FRAMES && functions < FUNCTIONS; i++) {
		const struct xc_frame_context context = xc_crash_context_frame(crash, i);
		size_t level;
		if (context.place->line_only || !xc_user_code_level(context.place, &level) || is_unwound(crash, i))
			continue;
		own = own ? own : context.place;
		for (; level < context.place->level_count; level++)
			if (xc_user_code_is(context.place, level))
				look_at_variables(&s, &context, level);
		functions++;
	}
	if (own)
		xc_statics_each(crash->process, own, crash->thread, look_at_static, &s);
	xc_text_fini(&s.path);
}
