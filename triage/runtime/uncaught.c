/* uncaught: how std::terminate() was reached tells what went wrong.
 *
 *	__cxa_throw, __cxa_rethrow, rethrow_exception     no frame of the thread catches it; the stack still has the thrower
 *	__gxx_personality_v0, __clang_call_terminate      it came to a function that is noexcept; by the latter the thrower's frame is gone
 *	__cxa_pure_virtual                                no exception: a call of what has no body
 *	none of them                                      called outright, as ~thread() does of a thread that still runs */
#include "triage/runtime/uncaught.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "core/process/module.h"
#include "dwarf/cexpr/cexpr.h"
#include "dwarf/lookup/lookup.h"
#include "triage/dataflow/argument.h"
#include "triage/explain/vtable_slot.h"
#include "triage/runtime/exception.h"

enum { OBJECT_TEXT = 400, NEWS = 2, CONTEXTS = 4096 };

static size_t frame_called(const struct xc_crash_context *q, const char *name)
{
	const char *const names[] = {name, NULL};
	return xc_crash_context_find_frame(q, names);
}

static bool passes(const struct xc_crash_context *q, const char *name)
{
	return frame_called(q, name) < q->frame_count;
}

static void say(struct xc_crash_context *q, const char *class_name, const char *kind, const char *severity,
		const char *confidence, char *cause)
{
	xc_crash_context_classify(q, class_name, kind, severity, confidence, cause);
	free(cause);
}

/* ---- the thrown object ---- */

/* A scalar as it is; of a class the members: its bases are the library's, whose types are mostly not described. */
static void add_object(struct xc_text *text, const struct xc_value *value)
{
	struct xc_format_options options = xc_format_defaults();
	const struct xc_type *type = xc_type_complete(xc_type_strip(value->type));
	bool record = type->kind == XC_TYPE_STRUCT || type->kind == XC_TYPE_CLASS;
	size_t count = 0;
	const struct xc_member *members = record ? xc_type_members(type, &count) : NULL;
	options.length = OBJECT_TEXT;
	if (!record)
		xc_format_whole(text, value, &options);
	for (size_t i = 0; i < count && text->len < OBJECT_TEXT; i++) {
		struct xc_value member;
		struct xc_text shown = {0};
		if (members[i].base || members[i].artificial || !members[i].name)
			continue;
		xc_value_field(value, &members[i], &member);
		if (xc_format_whole(&shown, &member, &options))
			xc_text_printf(text, "%s%s = %s", text->len ? ", " : "", members[i].name,
				       xc_text_string(&shown));
		xc_text_fini(&shown);
	}
}

/* Its members as debug information tells them: they are the user's. */
static void tell_object(const struct xc_crash_context *q, const struct xc_exception *e)
{
	if (!q->blame.place || strncmp(e->type, "std::", 5) == 0)
		return;
	struct xc_frame_context in = xc_crash_context_frame(q, q->blamed);
	struct xc_standpoint at = {.process = q->process,
				   .thread = q->thread,
				   .unwinder = q->unwinder,
				   .has_frame = true,
				   .frame = *in.frame,
				   .place = in.place};
	xc_auto(xc_freep) char *path = xc_asprintf("*(%s *)0x%" PRIx64, e->type, e->object);
	struct xc_value value;
	struct xc_error *error = xc_cexpr_value(&at, path, &q->report->arena, &value);
	struct xc_text text = {0};
	if (!error)
		add_object(&text, &value);
	if (text.len) {
		xc_verdict_evidence(q->report, "thrown: %s", xc_text_string(&text));
		xc_auto(xc_freep) char *redacted = xc_asprintf("thrown: a value of type %s", e->type);
		xc_verdict_redact(q->report, redacted);
	}
	xc_text_fini(&text);
	xc_error_free(error);
}

static void tell_exception(struct xc_crash_context *q, const struct xc_exception *e)
{
	const char *what = xc_exception_what(q, e);
	if (what && !q->verdict->message)
		q->verdict->message = what;
	if (!e->sure)
		xc_verdict_evidence(q->report,
				    "its header was found on the stack: the run-time's own list could not be read");
	tell_object(q, e);
}

/* ---- memory ---- */

/* What operator new was asked for. */
static bool asked_for(const struct xc_crash_context *q, uint64_t *size_out)
{
	static const char *const news[] = {"operator new", "operator new[]"};
	for (size_t i = 0; i + 1 < q->frame_count && i <= q->blamed; i++) {
		const char *name = xc_argument_callee(q, i);
		for (size_t n = 0; name && n < NEWS; n++)
			if (strncmp(name, news[n], strlen(news[n])) == 0 &&
			    strcspn(name + strlen(news[n]), "(") == strlen(name + strlen(news[n])) &&
			    xc_argument_find(q, i, 0, size_out))
				return true;
	}
	return false;
}

static bool out_of_memory(struct xc_crash_context *q, const struct xc_exception *e)
{
	uint64_t size;
	if (strcmp(e->type, "std::bad_alloc") != 0 && strcmp(e->type, "std::bad_array_new_length") != 0)
		return false;
	if (asked_for(q, &size))
		say(q, "out-of-memory", e->type, "low", "certain",
		    xc_asprintf("operator new could not give the %" PRIu64
				" bytes that %s asked for, and nothing caught %s",
				size, xc_crash_context_culprit(q), e->type));
	else
		say(q, "out-of-memory", e->type, "low", "certain",
		    xc_asprintf("memory was asked for in %s that could not be had, and nothing caught %s",
				xc_crash_context_culprit(q), e->type));
	return true;
}

/* ---- how it was reached ---- */

/* The function that would not let it pass. _Unwind_RaiseException keeps the context of the frame that it has come to in its own
 * frame: { …, stack pointer, program counter, … } (libgcc 12, unwind-dw2.c, struct _Unwind_Context). */
static const char *no_passing(const struct xc_crash_context *q)
{
	size_t raise = frame_called(q, "_Unwind_RaiseException"), found = 0;
	uint64_t from, end, word[2], sp;
	int number = q->process->arch->sp;
	if (raise + 1 >= q->frame_count || !xc_regs_get(&q->frames[raise].regs, number, &from) ||
	    !xc_regs_get(&q->frames[raise + 1].regs, number, &end))
		return NULL;
	for (uint64_t at = from; at < end && at - from < CONTEXTS; at += 8)
		for (size_t i = q->blamed; i < q->frame_count; i++)
			if (xc_space_peek_uint(q->process->space, at, 8, &word[0]) &&
			    xc_space_peek_uint(q->process->space, at + 8, 8, &word[1]) && word[1] == q->frames[i].pc &&
			    xc_regs_get(&q->frames[i].regs, number, &sp) && word[0] == sp)
				found = i > found ? i : found;
	const struct xc_place *place = xc_crash_context_place(q, found);
	if (!found)
		return NULL;
	return place->level_count ? place->levels[place->level_count - 1].function : place->symbol;
}

static void judge_thrown(struct xc_crash_context *q, const struct xc_exception *e)
{
	bool personality = passes(q, "__gxx_personality_v0"), clang = passes(q, "__clang_call_terminate");
	bool again = passes(q, "__cxa_rethrow") || passes(q, "std::rethrow_exception");
	const char *confidence = e->sure ? "certain" : "likely";
	const char *barrier = personality ? no_passing(q) : clang ? xc_crash_context_culprit(q) : NULL;
	char *cause;
	if (clang)
		cause = xc_asprintf("%s was thrown through %s, which is noexcept; the thrower's frame is gone", e->type,
				    barrier);
	else if (barrier)
		cause = xc_asprintf("%s, thrown by %s, came to %s, which is noexcept", e->type, xc_crash_context_culprit(q),
				    barrier);
	else if (personality)
		cause = xc_asprintf("%s, thrown by %s, came to a function that is noexcept", e->type,
				    xc_crash_context_culprit(q));
	else
		cause = xc_asprintf("%s was thrown%s by %s, and nothing caught it", e->type, again ? " again" : "",
				    xc_crash_context_culprit(q));
	if (!out_of_memory(q, e))
		say(q, "uncaught-exception", e->type, "low", confidence, cause);
	else
		free(cause);
}

/* std::terminate() called outright. A handled exception may be there all the same. */
static void judge_called(struct xc_crash_context *q, const struct xc_exception *e)
{
	if (passes(q, "std::thread::~thread") || passes(q, "std::thread::operator="))
		say(q, "uncaught-exception", "terminate", "low", "certain",
		    xc_asprintf("a std::thread that was neither joined nor detached was destroyed in %s",
				xc_crash_context_culprit(q)));
	else if (e)
		say(q, "uncaught-exception", e->type, "low", "likely",
		    xc_asprintf("std::terminate() was called from %s while %s was handled", xc_crash_context_culprit(q),
				e->type));
	else
		say(q, "uncaught-exception", "terminate", "low", "certain",
		    xc_asprintf("std::terminate() was called from %s%s", xc_crash_context_culprit(q),
				xc_exception_none(q) ? "; no exception was in flight" : ""));
}

/* ---- pure virtual ---- */

/* The member function that a call through a vtable was to reach: by its place in the class that debug information describes. */
static const char *called_slot(const struct xc_crash_context *q, size_t caller, const char *class_name)
{
	const struct xc_query query = {.name = class_name, .kinds = XC_NAME_TYPE};
	struct xc_definition class;
	int64_t offset;
	size_t count;
	if (!xc_vtable_slot_called(q, q->frames[caller].pc, &offset) || !xc_lookup_one(q->process, &query, &class))
		return NULL;
	const struct xc_type *type = xc_type_get(xc_types_of(q->process), &class.die);
	const struct xc_method *methods = xc_type_methods(xc_type_complete(xc_type_strip(type)), &count);
	for (size_t i = 0; i < count; i++)
		if (methods[i].is_virtual && methods[i].slot * 8 == (uint64_t)offset)
			return xc_arena_printf(&q->report->arena, "%s::%s", class_name, methods[i].name);
	return NULL;
}

static void judge_pure(struct xc_crash_context *q, size_t reporter)
{
	uint64_t object;
	bool known = xc_argument_find(q, reporter + 1, 0, &object);
	const char *name = known ? xc_exception_class(q, object) : NULL;
	if (!name) {
		xc_crash_context_classify(q, "pure-virtual-call", NULL, "medium", "certain",
				 "a pure virtual function was called: the object was being made or destroyed");
		return;
	}
	q->verdict->expression = called_slot(q, reporter + 1, name);
	say(q, "pure-virtual-call", NULL, "medium", "certain",
	    xc_asprintf("a pure virtual function was called in %s: the object is only a %s, as while its constructor "
			"or destructor "
			"runs, and after",
			xc_crash_context_culprit(q), name));
	xc_verdict_evidence(q->report, "the object at 0x%" PRIx64 " has the virtual functions of %s", object, name);
}

/* ---- */

/* The outermost frame that is called one of the names. */
static size_t outermost(const struct xc_crash_context *q, const char *const *names)
{
	size_t last = 0;
	for (; *names; names++) {
		size_t at = frame_called(q, *names);
		last = at < q->frame_count && at > last ? at : last;
	}
	return last;
}

bool xc_uncaught_classify(struct xc_crash_context *q)
{
	static const char *const throwers[] = {"__cxa_throw",
					       "__cxa_rethrow",
					       "std::rethrow_exception",
					       "_Unwind_RaiseException",
					       "__clang_call_terminate",
					       "__gxx_personality_v0",
					       "__cxa_call_terminate",
					       NULL};
	static const char *const enders[] = {"std::terminate", "__cxxabiv1::__terminate", "std::__terminate",
					     "__gnu_cxx::__verbose_terminate_handler", NULL};
	static const char *const pure[] = {"__cxa_pure_virtual", "__cxa_deleted_virtual", NULL};
	size_t reporter = xc_crash_context_find_frame(q, pure);
	struct xc_exception exception;
	if (reporter + 1 < q->frame_count) {
		xc_crash_context_blame(q, reporter + 1);
		judge_pure(q, reporter);
		return true;
	}
	bool thrown = xc_crash_context_find_name(q, throwers);
	if (!thrown && !xc_crash_context_find_name(q, enders))
		return false;
	xc_crash_context_blame(q, outermost(q, thrown ? throwers : enders));
	bool known = xc_exception_current(q, &exception);
	if (thrown && known)
		judge_thrown(q, &exception);
	else if (thrown)
		xc_crash_context_classify(q, "uncaught-exception", NULL, "low", "certain",
				 "a C++ exception was thrown that nothing caught");
	else
		judge_called(q, known ? &exception : NULL);
	if (known)
		tell_exception(q, &exception);
	return true;
}
