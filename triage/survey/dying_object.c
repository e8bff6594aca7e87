/* dying_object: constructors and destructors by their names, and their objects by `this`, also of inlined ones. A
 * base's constructor runs before the derived class's part, its destructor after it: what is further out on the stack,
 * and has the same object, is the derived class's. */
#include "triage/survey/dying_object.h"

#include <string.h>

#include "core/text/threadlabel.h"
#include "dwarf/stack/frame_walk.h"
#include "triage/locks/wait_report.h"
#include "triage/waits/waits.h"
#include "triage/util/same_type.h"
#include "triage/util/sourceline.h"
#include "triage/util/user_code.h"

enum { THREADS = 128, FRAMES = 48, DEPTH = 8 };

/* ---- names ---- */

/* "Sink" of "log::Sink<int>": the last part without its template arguments; *begin_out: where it begins. */
static size_t last_part(const char *name, size_t len, size_t *begin_out)
{
	size_t begin = 0, end = len;
	int depth = 0;
	for (size_t i = 0; i < len; i++) {
		char c = name[i];
		if ((c == '<' || c == '(') && !depth++)
			end = i;
		else if (c == '{' || c == '[')
			depth++;
		else if (c == '>' || c == ')' || c == '}' || c == ']')
			depth--;
		else if (!depth && c == ':' && i + 1 < len && name[i + 1] == ':') {
			begin = i + 2;
			end = len;
			i++;
		}
	}
	*begin_out = begin;
	return end > begin ? end - begin : 0;
}

enum xc_dying xc_dying_object_kind(const char *function, size_t *class_out)
{
	size_t at, begin, len = function ? strlen(function) : 0;
	size_t own = last_part(function, len, &at);
	if (!own || at < 3)
		return XC_DYING_NO;
	size_t class = last_part(function, at - 2, &begin);
	bool destructor = function[at] == '~';
	if (!class || own - destructor != class || memcmp(function + at + destructor, function + begin, class) != 0)
		return XC_DYING_NO;
	if (class_out)
		*class_out = at - 2;
	return destructor ? XC_DYING_DESTRUCTOR : XC_DYING_CONSTRUCTOR;
}

/* ---- objects ---- */

/* The object that a level of the frame constructs or destroys. *class_out: its class; NULL: not known. */
static enum xc_dying dying_at(const struct xc_frame_context *in, size_t level, struct xc_arena *arena,
			      struct xc_dying_range *out, const struct xc_type **class_out)
{
	enum xc_dying kind = xc_dying_object_kind(xc_place_function(in->place, level), NULL);
	struct xc_value this;
	uint64_t size;
	if (kind == XC_DYING_NO || level >= in->place->level_count ||
	    !xc_variable_find(in, level, "this", arena, &this) || !xc_value_load(&this, &out->begin))
		return XC_DYING_NO;
	out->kind = kind;
	out->function = xc_place_function(in->place, level);
	*class_out = xc_same_type_pointed(this.type);
	out->end = out->begin + (*class_out && xc_type_size(*class_out, &size) ? size : 1);
	return kind;
}

static void take_level(struct xc_dying_objects *o, const struct xc_frame_context *in, size_t level,
		       struct xc_arena *arena)
{
	const char *function = xc_place_function(in->place, level);
	const struct xc_type *class;
	size_t len;
	if (xc_dying_object_kind(function, &len) == XC_DYING_NO)
		return;
	if (o->class_count < XC_DYING_OBJECTS)
		o->classes[o->class_count++] = xc_arena_strndup(arena, function, len);
	if (o->count < XC_DYING_OBJECTS && dying_at(in, level, arena, &o->ranges[o->count], &class) != XC_DYING_NO)
		o->count++;
}

void xc_dying_objects_of(const struct xc_crash_context *crash, struct xc_dying_objects *out)
{
	out->count = out->class_count = 0;
	for (size_t i = 0; i < crash->frame_count && i < FRAMES; i++) {
		const struct xc_frame_context in = xc_crash_context_frame(crash, i);
		for (size_t level = 0; level < in.place->level_count; level++)
			take_level(out, &in, level, &crash->report->arena);
	}
}

bool xc_dying_objects_has_class(const struct xc_dying_objects *objects, const char *name)
{
	for (size_t i = 0; i < objects->class_count && name; i++)
		if (strcmp(objects->classes[i], name) == 0)
			return true;
	return false;
}

bool xc_dying_objects_has(const struct xc_dying_objects *objects, xc_addr at)
{
	for (size_t i = 0; i < objects->count; i++)
		if (at >= objects->ranges[i].begin && at < objects->ranges[i].end)
			return true;
	return false;
}

/* ---- one stack ---- */

struct found {
	enum xc_dying kind;
	xc_addr begin;                /* `this` */
	const struct xc_type *class;  /* NULL: not known */
	const char *function;         /* the innermost one */
	const char *derived;          /* the outermost class that derives from it, and called it; NULL: none did */
	struct xc_text inner, caller; /* ", log.cc:26"; "reload, log.cc:132" */
};

struct query {
	const struct xc_crash_context *crash;
	xc_addr object;
	const char *class_name;
};

/* Is one class a base of the other, so many bytes from its beginning? Where a virtual base is, its table says. */
static bool has_base(const struct xc_type *type, const struct xc_type *base, uint64_t offset, unsigned depth)
{
	size_t count;
	type = xc_type_complete(xc_type_strip(type));
	if (!depth || !xc_same_type_is_record(type))
		return false;
	const struct xc_member *members = xc_type_members(type, &count);
	for (size_t i = 0; i < count; i++) {
		if (!members[i].base || (!members[i].dynamic && members[i].offset > offset))
			continue;
		const struct xc_type *its = xc_type_complete(xc_type_strip(members[i].type));
		if (members[i].dynamic || (members[i].offset == offset && xc_same_type(its, base)) ||
		    has_base(its, base, offset - members[i].offset, depth - 1))
			return true;
	}
	return false;
}

/* A constructor or destructor that has been found was called by one of a class that derives from its. */
static bool is_derived(const struct found *f, enum xc_dying kind, const struct xc_type *class, xc_addr begin)
{
	return kind == f->kind && class && f->class && begin <= f->begin &&
	       has_base(class, f->class, f->begin - begin, DEPTH);
}

/* False: nothing more is of interest. */
static bool look_at_level(const struct query *q, const struct xc_frame_context *in, size_t level, struct found *f)
{
	struct xc_arena *arena = &q->crash->report->arena;
	const struct xc_type *type;
	struct xc_dying_range range;
	enum xc_dying kind = dying_at(in, level, arena, &range, &type);
	const char *function = xc_place_function(in->place, level);
	size_t class;
	if (f->kind == XC_DYING_NO && kind != XC_DYING_NO && q->object >= range.begin && q->object < range.end) {
		f->kind = kind;
		f->begin = range.begin;
		f->class = type;
		f->function = xc_arena_strdup(arena, function);
		xc_sourceline(in->place, level, ", ", &f->inner);
		return true;
	}
	if (f->kind == XC_DYING_NO)
		return true;
	if (kind != XC_DYING_NO && is_derived(f, kind, type, range.begin)) {
		xc_dying_object_kind(function, &class);
		f->derived = xc_arena_strndup(arena, function, class);
		return true;
	}
	if (!xc_user_code_is(in->place, level) || !in->place->module ||
	    (kind == f->kind && range.begin == f->begin && type && xc_same_type(type, f->class)))
		return true;
	xc_text_add(&f->caller, function ? function : "a function without a name");
	xc_sourceline(in->place, level, ", ", &f->caller);
	return false;
}

static void search(const struct query *q, const struct xc_thread *thread, struct found *f)
{
	struct xc_frame_walk walk;
	bool on = true;
	xc_frame_walk_begin(&walk, q->crash->process, q->crash->unwinder, thread, FRAMES);
	while (on && xc_frame_walk_next(&walk)) {
		const struct xc_place *place = walk.context.place;
		for (size_t level = 0; on && level < place->level_count && !place->line_only; level++)
			on = look_at_level(q, &walk.context, level, f);
	}
}

/* ---- in words ---- */

static void add_wait(const struct query *q, const struct xc_thread *thread, struct xc_text *text)
{
	struct xc_process *p = q->crash->process;
	const struct xc_wait *wait = xc_waits_thread(xc_waits_of(p), thread->tid);
	struct xc_text words = {0};
	if (wait)
		xc_wait_report_describe(p, wait, false, &words);
	if (strncmp(xc_text_string(&words), "waiting for ", 12) == 0)
		xc_text_printf(text, ", and is %s", xc_text_string(&words));
	xc_text_fini(&words);
}

/* The part of the derived class is gone only when what runs is of the class that the vptr says. */
static void add_state(const struct query *q, const struct found *f, struct xc_text *text)
{
	size_t class = 0;
	xc_dying_object_kind(f->function, &class);
	bool own = f->begin == q->object && strlen(q->class_name) == class &&
		   memcmp(q->class_name, f->function, class) == 0;
	const char *state = f->kind == XC_DYING_DESTRUCTOR ? "already destroyed" : "not constructed yet";
	if (own && f->derived)
		xc_text_printf(text, ": its part of %s is %s", f->derived, state);
	else if (own)
		xc_text_printf(text, ": the part of a class that derives from %s is %s", q->class_name, state);
}

static void describe(const struct query *q, const struct xc_thread *thread, const struct found *f, struct xc_text *text)
{
	if (thread == q->crash->thread)
		xc_text_add(text, "this thread");
	else
		xc_threadlabel(text, (int)thread->tid, thread->name);
	xc_text_printf(text, " is in %s%s, for %s", f->function, xc_text_string(&f->inner),
		       f->begin == q->object ? "the same object" : "an object that contains it");
	if (f->caller.len)
		xc_text_printf(text, ", called from %s", xc_text_string(&f->caller));
	if (thread != q->crash->thread)
		add_wait(q, thread, text);
	add_state(q, f, text);
}

static bool find_in(const struct query *q, const struct xc_thread *thread, struct xc_text *text)
{
	struct found f = {.kind = XC_DYING_NO};
	search(q, thread, &f);
	if (f.kind != XC_DYING_NO) {
		describe(q, thread, &f, text);
		xc_verdict_involve(q->crash->report, q->crash->thread->tid);
		if (thread != q->crash->thread)
			xc_verdict_involve(q->crash->report, thread->tid);
	}
	xc_text_fini(&f.inner);
	xc_text_fini(&f.caller);
	return f.kind != XC_DYING_NO;
}

bool xc_dying_object_find(const struct xc_crash_context *crash, xc_addr object, const char *class_name,
			  struct xc_text *text)
{
	const struct query query = {.crash = crash, .object = object, .class_name = class_name};
	const struct xc_process *p = crash->process;
	if (crash->thread && find_in(&query, crash->thread, text))
		return true;
	for (size_t i = 0; i < p->thread_count && i < THREADS; i++)
		if (&p->threads[i] != crash->thread && p->threads[i].has_regs && find_in(&query, &p->threads[i], text))
			return true;
	return false;
}
