/* tested: an address is looked up among the variables of the file, then among those of the frames, and what they point
 * to. The path ends at a container, which is told by the number of its elements. */
#include "triage/loop/tested.h"

#include <inttypes.h>
#include <string.h>

#include "dwarf/format/format.h"
#include "dwarf/stack/frame_walk.h"
#include "dwarf/types/field.h"
#include "dwarf/view/view.h"
#include "triage/util/names.h"
#include "triage/util/statics.h"
#include "triage/util/user_code.h"

enum { FRAMES = 6, MEMBERS = 64, STEPS = 64, TOLD = 4, REACH = 4096 };

struct naming {
	const struct xc_crash_context *view;
	const struct xc_wait *wait;
	xc_addr addr;
	bool through; /* is it searched for in what the variables lead to, or in themselves? */
	struct xc_text name;
	struct xc_value value;
	bool lock;                    /* it is one, or its guard */
	const struct xc_type *record; /* whose member it is */
	uint64_t offset;
};

void xc_tested_add(struct xc_tested *tested, xc_addr addr, uint32_t size, uint64_t bits)
{
	for (size_t i = 0; i < tested->count; i++)
		if (tested->reads[i].addr == addr && tested->reads[i].size == size)
			return;
	if (tested->count == XC_TESTED_READS) {
		tested->more = true;
		return;
	}
	tested->reads[tested->count].addr = addr;
	tested->reads[tested->count].size = size;
	tested->reads[tested->count++].bits = bits;
}

/* ---- the way from a variable to the address ---- */

static const struct xc_type *plain(const struct xc_type *type)
{
	return type ? xc_type_complete(xc_type_strip(type)) : NULL;
}

static bool covers(const struct xc_type *type, xc_addr base, xc_addr addr)
{
	uint64_t size;
	return type && base && addr >= base && xc_type_size(type, &size) && addr - base < size;
}

/* Members of a library's own classes have no names for a reader: an atomic number's is that of the whole. */
static bool is_inner(const char *name)
{
	return strncmp(name, "_M_", 3) == 0 || strncmp(name, "__", 2) == 0;
}

/* Locks and their guards are no variables that a loop waits for. */
static bool is_lock(const struct xc_type *type)
{
	static const char *const names[] = {
		"std::unique_lock", "std::lock_guard", "std::scoped_lock", "std::mutex",     "std::condition_variable",
		"unique_lock<",     "lock_guard<",     "pthread_mutex_t",  "pthread_cond_t", NULL};
	return type->name && xc_names_begin(names, type->name);
}

/* Follow the members from the object at `base`. False where the address is in no member. */
static bool follow(struct naming *n, const struct xc_type *type, xc_addr base, const char *dot)
{
	const struct xc_process *process = n->view->process;
	bool named = true;
	for (size_t i = 0; i < STEPS; i++) {
		struct xc_field_step step;
		const struct xc_type *whole = plain(type);
		n->lock = whole && (is_lock(type) || is_lock(whole));
		if (!whole || n->lock)
			return n->lock;
		n->value = xc_value_memory(process, whole, base);
		bool record = xc_type_is_record(whole) || whole->kind == XC_TYPE_ARRAY;
		if (!record || xc_view_shape_of(process, whole)->hook)
			return true;
		if (!xc_field_step(whole, n->addr - base, &step))
			return false;
		named &= !step.name || !is_inner(step.name);
		if (step.name && named && whole->kind != XC_TYPE_ARRAY) {
			n->record = whole;
			n->offset = n->addr - base - step.offset;
		}
		if (step.is_element && named)
			xc_text_printf(&n->name, "[%" PRIu64 "]", step.index);
		else if (step.name && named)
			xc_text_printf(&n->name, "%s%s", dot, step.name);
		if ((step.is_element || step.name) && named)
			dot = ".";
		base = n->addr - step.offset;
		type = step.type;
	}
	return false;
}

static bool start(struct naming *n, const char *name, const struct xc_type *type, xc_addr base, const char *dot)
{
	n->name.len = 0;
	n->record = NULL;
	xc_text_name(&n->name, name);
	return follow(n, type, base, dot);
}

/* Does the value lead to an object with the address? */
static bool points_round(const struct xc_value *value, xc_addr addr, const struct xc_type **target, xc_addr *base)
{
	const struct xc_type *type = value->type ? xc_type_strip(value->type) : NULL;
	if (!type || !type->target || (type->kind != XC_TYPE_POINTER && type->kind != XC_TYPE_REFERENCE) ||
	    !xc_value_load(value, base))
		return false;
	*target = plain(type->target);
	return covers(*target, *base, addr);
}

static const char *arrow(const struct xc_value *value)
{
	return xc_type_strip(value->type)->kind == XC_TYPE_POINTER ? "->" : ".";
}

/* By a pointer in an object: "job->queue->count"; what a lambda has captured is named as in its source. */
static bool by_members(struct naming *n, const char *name, const struct xc_value *object, const char *dot)
{
	size_t count = 0;
	const struct xc_type *type = plain(object->type), *target;
	const struct xc_member *members = type && xc_type_is_record(type) ? xc_type_members(type, &count) : NULL;
	bool lambda = type && (!type->name || strstr(type->name, "lambda") || strcmp(name, "__closure") == 0);
	for (size_t i = 0; i < count && i < MEMBERS; i++) {
		struct xc_value member;
		struct xc_text path = {0};
		xc_addr base;
		if (!members[i].name || members[i].base)
			continue;
		xc_value_field(object, &members[i], &member);
		if (!points_round(&member, n->addr, &target, &base))
			continue;
		const char *own = strncmp(members[i].name, "__", 2) == 0 ? members[i].name + 2 : members[i].name;
		if (lambda)
			xc_text_add(&path, own);
		else
			xc_text_printf(&path, "%s%s%s", name, dot, members[i].name);
		bool found = start(n, xc_text_string(&path), target, base, arrow(&member));
		xc_text_fini(&path);
		if (found)
			return true;
	}
	return false;
}

static bool by_variable(void *user, const struct xc_named_value *variable)
{
	struct naming *n = user;
	const struct xc_value *value = &variable->value;
	const struct xc_type *target, *own = plain(value->type);
	struct xc_value object;
	xc_addr base;
	if (!own)
		return false;
	bool points = points_round(value, n->addr, &target, &base);
	if (!n->through && points)
		return start(n, variable->name, target, base, arrow(value));
	if (!n->through)
		return value->kind == XC_VALUE_MEMORY && covers(own, value->addr, n->addr) &&
		       start(n, variable->name, own, value->addr, ".");
	if (!xc_type_is_pointer(value->type))
		return by_members(n, variable->name, value, ".");
	struct xc_error *error = xc_value_deref(value, &object);
	bool found = !error && by_members(n, variable->name, &object, arrow(value));
	xc_error_free(error);
	return found;
}

static bool by_frames(struct naming *n, bool through)
{
	struct xc_frame_walk walk;
	struct xc_arena scratch = {0};
	bool found = false;
	n->through = through;
	xc_frame_walk_from(&walk, n->view->process, n->view->unwinder, n->wait->thread, &n->wait->frame, FRAMES);
	while (!found && xc_frame_walk_next(&walk))
		found = !walk.context.place->line_only &&
			xc_user_code_variables(&walk.context, &scratch, by_variable, n);
	xc_arena_fini(&scratch);
	return found;
}

static bool by_static(struct naming *n)
{
	struct xc_held held;
	const struct xc_process *process = n->view->process;
	return xc_process_module(process, n->addr) &&
	       xc_statics_at(process, n->wait->place, n->wait->thread, n->addr, &held) && held.type &&
	       start(n, held.name, held.type, n->addr - held.offset, ".");
}

/* ---- its value ---- */

static void add_value(struct naming *n, uint32_t size, struct xc_text *text)
{
	struct xc_view view;
	const struct xc_value *value = &n->value;
	uint64_t bits, bytes;
	if (xc_view_open(value, &view) == XC_VIEW_FOUND) {
		if (view.count_known && view.kind != XC_VIEW_WRAPPER && view.kind != XC_VIEW_RECORD)
			xc_text_printf(text, " (%" PRIu64 " %s%s)", view.count,
				       view.kind == XC_VIEW_TEXT ? "character" : "element", view.count == 1 ? "" : "s");
		else if (!xc_space_peek_uint(n->view->process->space, n->addr, size, &bits))
			return;
		else if (view.kind == XC_VIEW_WRAPPER && xc_type_size(value->type, &bytes) && bytes == size)
			xc_text_printf(text, " (%" PRId64 ")", (int64_t)bits);
		return;
	}
	const struct xc_type *type = value->type;
	if (!xc_type_size(type, &bytes) || !bytes || bytes > 8 ||
	    !xc_space_peek_uint(n->view->process->space, value->addr, (uint32_t)bytes, &bits))
		return;
	if (type->kind == XC_TYPE_POINTER)
		xc_text_printf(text, bits ? " (0x%" PRIx64 ")" : " (NULL)", bits);
	else if (type->kind == XC_TYPE_ENUM) {
		struct xc_format_options options = xc_format_defaults();
		xc_text_add(text, " (");
		xc_format_value(text, value, &options);
		xc_text_add(text, ")");
	} else if (type->is_signed)
		xc_text_printf(text, " (%" PRId64 ")", (int64_t)xc_extend(bits, 8 * (unsigned)bytes, true));
	else
		xc_text_printf(text, " (%" PRIu64 ")", bits);
}

/* A pointer through which a later instruction read. */
static bool is_way(const struct xc_tested *tested, size_t index)
{
	uint64_t base = tested->reads[index].bits;
	for (size_t i = index + 1; base && tested->reads[index].size == 8 && i < tested->count; i++)
		if (tested->reads[i].addr >= base && tested->reads[i].addr - base < REACH)
			return true;
	return false;
}

static bool is_told(char *const *told, size_t count, const char *words)
{
	for (size_t i = 0; i < count; i++)
		if (strcmp(told[i], words) == 0)
			return true;
	return false;
}

static bool describe(struct naming *n, xc_addr addr, uint32_t size, struct xc_text *text)
{
	n->addr = addr;
	n->lock = false;
	if (!by_static(n) && !by_frames(n, false) && !by_frames(n, true))
		return false;
	text->len = 0;
	xc_text_printf(text, "`%s`", xc_text_string(&n->name));
	add_value(n, size, text);
	return true;
}

/* Of containers others write the members. */
static void keep(struct naming *n, struct xc_tested *tested)
{
	uint64_t size;
	const struct xc_type *type = n->value.type;
	if (tested->variable_count == XC_TESTED_VARIABLES || n->value.kind != XC_VALUE_MEMORY || !type ||
	    xc_type_is_record(type) || !xc_type_size(type, &size) || !size || size > 8)
		return;
	tested->variables[tested->variable_count++] = (struct xc_written){
		.name = xc_arena_strdup(&n->view->report->arena, xc_text_string(&n->name)),
		.addr = n->value.addr,
		.size = (uint32_t)size,
		.record = n->record,
		.offset = n->offset,
	};
}

const char *xc_tested_words(const struct xc_crash_context *view, const struct xc_wait *wait, struct xc_tested *tested)
{
	struct naming n = {.view = view, .wait = wait};
	struct xc_text text = {0}, all = {0};
	char *told[TOLD];
	size_t count = 0;
	bool whole = !tested->more && wait->has_place;
	for (size_t i = 0; i < tested->count && whole; i++) {
		if (is_way(tested, i))
			continue;
		whole = describe(&n, tested->reads[i].addr, tested->reads[i].size, &text);
		if (whole && !n.lock && !is_told(told, count, xc_text_string(&text))) {
			whole = count < TOLD;
			if (whole)
				keep(&n, tested);
			if (whole)
				told[count++] = xc_arena_strdup(&view->report->arena, xc_text_string(&text));
		}
	}
	for (size_t i = 0; i < count; i++)
		xc_text_printf(&all, "%s%s", !i ? "" : i + 1 == count ? " and " : ", ", told[i]);
	const char *words = whole && count ? xc_arena_strdup(&view->report->arena, xc_text_string(&all)) : NULL;
	xc_text_fini(&text);
	xc_text_fini(&all);
	xc_text_fini(&n.name);
	return words;
}
