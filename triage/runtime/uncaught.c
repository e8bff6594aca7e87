/* uncaught: the function that led to std::terminate() determines the cause.
 *
 *  __cxa_throw, __cxa_rethrow, rethrow_exception     no frame of the thread catches it; the thrower is on the stack
 *  __gxx_personality_v0, __clang_call_terminate      it reached a noexcept function; with the latter the thrower's
 *                                                    frame is gone
 *  __cxa_pure_virtual                                no exception: a call of a function without a body
 *  none of them                                      called directly, as ~thread() does for a running thread; an
 *                                                    exception in flight, which a handler has, is not the cause */
#include "triage/runtime/uncaught.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "core/process/module.h"
#include "dwarf/cexpr/cexpr.h"
#include "dwarf/lookup/lookup.h"
#include "triage/dataflow/argument.h"
#include "triage/explain/vtable_slot.h"
#include "triage/survey/dying_object.h"
#include "triage/util/odd_number.h"
#include "triage/runtime/exception.h"
#include "triage/util/user_code.h"
#include "triage/util/names.h"

enum { OBJECT_TEXT = 400, NEWS = 2, CONTEXTS = 4096, NESTED = 8 };

static const char *const throwers[] = {"__cxa_throw",
				       "__cxa_rethrow",
				       "std::rethrow_exception",
				       "_Unwind_RaiseException",
				       "__clang_call_terminate",
				       "__gxx_personality_v0",
				       "__cxa_call_terminate",
				       NULL};

static size_t frame_called(const struct xc_crash_context *crash, const char *name)
{
	const char *const names[] = {name, NULL};
	return xc_crash_context_find_frame(crash, names);
}

static bool passes(const struct xc_crash_context *crash, const char *name)
{
	return frame_called(crash, name) < crash->frame_count;
}

static void classify(struct xc_crash_context *crash, const char *class_name, const char *kind, const char *severity,
		     const char *confidence, char *cause)
{
	xc_crash_context_classify(crash, class_name, kind, severity, confidence, cause);
	free(cause);
}

/* ---- the thrown object ---- */

/* A scalar as it is; the members of a class: its bases are the library's, and their types are mostly not described. */
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

/* What std::throw_with_nested() was given: "own" of "std::_Nested_exception<own>" (libstdc++), "std::__nested<own>". It
 * is the first base. */
static const char *given_type(const struct xc_crash_context *crash, const char *type)
{
	static const char *const wrappers[] = {"std::_Nested_exception<", "std::__nested<", NULL};
	const char *wrapper = xc_names_begin(wrappers, type);
	size_t len = wrapper ? strlen(type) - strlen(wrapper) : 0;
	return len ? xc_arena_strndup(&crash->report->arena, type + strlen(wrapper), len - 1) : type;
}

/* The members by debug information: they are the user's. */
static void report_object(const struct xc_crash_context *crash, const struct xc_exception *e, const char *how)
{
	const char *type = given_type(crash, e->type);
	if (!crash->blame.place || strncmp(type, "std::", 5) == 0)
		return;
	struct xc_frame_context in = xc_crash_context_frame(crash, crash->blamed);
	struct xc_frame_scope at = {.process = crash->process,
				    .thread = crash->thread,
				    .unwinder = crash->unwinder,
				    .has_frame = true,
				    .frame = *in.frame,
				    .place = in.place};
	xc_auto(xc_freep) char *path = xc_asprintf("*(%s *)0x%" PRIx64, type, e->object);
	struct xc_value value;
	struct xc_error *error = xc_cexpr_value(&at, path, &crash->report->arena, &value);
	struct xc_text text = {0};
	if (!error)
		add_object(&text, &value);
	if (text.len) {
		xc_verdict_evidence(crash->report, "%s: %s", how, xc_text_string(&text));
		xc_auto(xc_freep) char *redacted = xc_asprintf("%s: a value of type %s", how, type);
		xc_verdict_redact(crash->report, redacted);
	}
	xc_text_fini(&text);
	xc_error_free(error);
}

/* Those that were caught, and led to the next one. */
static void report_nested(const struct xc_crash_context *crash, const struct xc_exception *outer)
{
	struct xc_exception e = *outer, inner;
	for (unsigned i = 0; i < NESTED && xc_exception_nested(crash, &e, &inner); i++, e = inner) {
		const char *what = xc_exception_what(crash, &inner), *type = given_type(crash, inner.type);
		xc_verdict_evidence(crash->report, "%s%s%s%s", i ? "which was thrown for: " : "thrown for: ", type,
				    what ? ": " : "", what ? what : "");
		xc_auto(xc_freep) char *redacted = xc_asprintf("thrown for: %s", type);
		xc_verdict_redact(crash->report, redacted);
		report_object(crash, &inner, "its members");
	}
}

static void report_exception(struct xc_crash_context *crash, const struct xc_exception *e)
{
	const char *what = xc_exception_what(crash, e);
	if (what && !crash->verdict->message)
		crash->verdict->message = what;
	if (!e->sure)
		xc_verdict_evidence(crash->report,
				    "its header was found on the stack: the runtime's own list could not be read");
	report_object(crash, e, "thrown");
	report_nested(crash, e);
}

/* A destructor that ends the program while an exception runs it hides that exception, which is often the reason. */
void xc_uncaught_report_flight(struct xc_crash_context *crash)
{
	struct xc_exception e;
	if (!crash->frame_count || !xc_exception_in_flight(crash, &e))
		return;
	struct xc_exception current; /* a second one, which a destructor threw, is told as the cause */
	if (xc_crash_context_find_name(crash, throwers) && !xc_exception_current(crash, &current))
		return;
	const char *what = xc_exception_what(crash, &e);
	xc_verdict_evidence(crash->report, "while this exception unwound the stack%s: %s%s%s",
			    e.sure ? "" : " (likely this one)", e.type, what ? ": " : "", what ? what : "");
	xc_auto(xc_freep) char *redacted = xc_asprintf("while an exception unwound the stack: %s", e.type);
	xc_verdict_redact(crash->report, redacted);
}

/* ---- memory ---- */

/* The size passed to operator new. */
static bool asked_for(const struct xc_crash_context *crash, uint64_t *size_out)
{
	static const char *const news[] = {"operator new", "operator new[]"};
	for (size_t i = 0; i + 1 < crash->frame_count && i <= crash->blamed; i++) {
		const char *name = xc_argument_callee(crash, i);
		for (size_t n = 0; name && n < NEWS; n++)
			if (strncmp(name, news[n], strlen(news[n])) == 0 &&
			    strcspn(name + strlen(news[n]), "(") == strlen(name + strlen(news[n])) &&
			    xc_argument_find(crash, i, 0, size_out))
				return true;
	}
	return false;
}

static char *refused_size(const struct xc_crash_context *crash, const char *type, uint64_t size)
{
	struct xc_text why = {0};
	bool absurd = xc_odd_number_size(size, &why);
	char *cause = xc_asprintf("operator new could not allocate the %" PRIu64
				  " bytes that %s requested%s%s%s, and nothing caught %s",
				  size, xc_crash_context_culprit(crash), absurd ? " (" : "", xc_text_string(&why),
				  absurd ? ")" : "", type);
	xc_text_fini(&why);
	return cause;
}

static bool out_of_memory(struct xc_crash_context *crash, const struct xc_exception *e)
{
	uint64_t size;
	if (strcmp(e->type, "std::bad_alloc") != 0 && strcmp(e->type, "std::bad_array_new_length") != 0)
		return false;
	if (asked_for(crash, &size))
		classify(crash, "out-of-memory", e->type, "low", "certain", refused_size(crash, e->type, size));
	else
		classify(crash, "out-of-memory", e->type, "low", "certain",
			 xc_asprintf("an allocation in %s failed, and nothing caught %s",
				     xc_crash_context_culprit(crash), e->type));
	return true;
}

/* ---- how it was reached ---- */

/* The function of a frame that the exception could not leave. Which of the functions inlined there is noexcept is not
 * recorded, but destructors are. */
static const char *barrier_name(const struct xc_place *place)
{
	const char *name = place->symbol;
	for (size_t i = 0; i < place->level_count; i++) {
		name = place->levels[i].function;
		if (name && strchr(name, '~'))
			break;
	}
	return name;
}

/* The function that stopped it. _Unwind_RaiseException, and _Unwind_Resume behind clean-up code, keep the context of
 * the frame that they have reached in their own frame: { …, stack pointer, program counter, … } (libgcc 12,
 * unwind-dw2.c, struct _Unwind_Context). */
static const char *no_passing(const struct xc_crash_context *crash, bool resumed)
{
	size_t raise = frame_called(crash, resumed ? "_Unwind_Resume" : "_Unwind_RaiseException"), found = 0;
	uint64_t from, end, word[2], sp;
	int number = crash->process->arch->sp;
	if (raise + 1 >= crash->frame_count || !xc_regs_get(&crash->frames[raise].regs, number, &from) ||
	    !xc_regs_get(&crash->frames[raise + 1].regs, number, &end))
		return NULL;
	for (uint64_t at = from; at < end && at - from < CONTEXTS; at += 8)
		for (size_t i = crash->blamed; i < crash->frame_count; i++)
			if (xc_space_peek_uint(crash->process->space, at, 8, &word[0]) &&
			    xc_space_peek_uint(crash->process->space, at + 8, 8, &word[1]) &&
			    word[1] == crash->frames[i].pc && xc_regs_get(&crash->frames[i].regs, number, &sp) &&
			    word[0] == sp)
				found = i > found ? i : found;
	return found ? barrier_name(xc_crash_context_place(crash, found)) : NULL;
}

static void classify_thrown(struct xc_crash_context *crash, const struct xc_exception *e)
{
	bool personality = passes(crash, "__gxx_personality_v0"), clang = passes(crash, "__clang_call_terminate");
	bool again = passes(crash, "__cxa_rethrow") || passes(crash, "std::rethrow_exception");
	const char *confidence = e->sure ? "certain" : "likely";
	bool resumed = !passes(crash, "_Unwind_RaiseException") && passes(crash, "_Unwind_Resume");
	const char *from = resumed ? "which passed through" : "thrown by"; /* the thrower's frame is gone */
	const char *barrier = personality ? no_passing(crash, resumed) : clang ? xc_crash_context_culprit(crash) : NULL;
	char *cause;
	if (clang)
		cause = xc_asprintf("%s was thrown through noexcept code of %s; the thrower's frame is gone", e->type,
				    barrier);
	else if (barrier)
		cause = xc_asprintf("%s, %s %s, reached noexcept code of %s", e->type, from,
				    xc_crash_context_culprit(crash), barrier);
	else if (personality)
		cause = xc_asprintf("%s, %s %s, reached noexcept code", e->type, from, xc_crash_context_culprit(crash));
	else
		cause = xc_asprintf("%s was thrown%s by %s, and nothing caught it", e->type, again ? " again" : "",
				    xc_crash_context_culprit(crash));
	if (!out_of_memory(crash, e))
		classify(crash, "uncaught-exception", e->type, "low", confidence, cause);
	else
		free(cause);
}

static const struct xc_level *blamed_level(const struct xc_crash_context *crash)
{
	const struct xc_place *place = crash->blame.place;
	return place && crash->blame.level < place->level_count ? &place->levels[crash->blame.level] : NULL;
}

/* Did the destructor of a std::thread call it, or its assignment? *sure_out: it is on the stack; else only the line of
 * the call is in their header: a compiler may merge the calls of an optimized function into one that has no scope. */
static bool ends_thread(const struct xc_crash_context *crash, bool *sure_out)
{
	static const char *const enders[] = {"std::thread::~thread",
					     "std::thread::operator=", "std::__1::thread::~thread",
					     "std::__1::thread::operator=", NULL};
	const struct xc_level *level = blamed_level(crash);
	const char *name = level && level->file ? strrchr(level->file, '/') : NULL;
	*sure_out = xc_crash_context_find_name(crash, enders);
	/* libstdc++ from 11 on, and before */
	return *sure_out || (name && (strcmp(name, "/std_thread.h") == 0 || strcmp(name, "/thread") == 0));
}

/* std::terminate() was called directly, or, where debug information does not show what was inlined, perhaps by a
 * destructor. There may be an exception all the same, handled or in flight. */
static void classify_called(struct xc_crash_context *crash, const struct xc_exception *e)
{
	bool sure;
	if (ends_thread(crash, &sure))
		classify(crash, "terminate", "joinable thread", "low", sure ? "certain" : "likely",
			 xc_asprintf("a std::thread that was neither joined nor detached was destroyed in %s",
				     xc_crash_context_culprit(crash)));
	else if (e)
		classify(crash, "terminate", "called", "low", "likely",
			 xc_asprintf("std::terminate() was called from %s while %s was handled",
				     xc_crash_context_culprit(crash), e->type));
	else if (!crash->blame.place || !xc_place_function(crash->blame.place, crash->blame.level))
		classify(
			crash, "terminate", NULL, "low", "certain",
			xc_asprintf("std::terminate() was called from a function without a name: by the program, or by "
				    "the destructor of a std::thread that was neither joined nor detached%s",
				    xc_exception_none(crash) ? "; no exception was in flight" : ""));
	else
		classify(crash, "terminate", "called", "low",
			 blamed_level(crash) && !xc_user_code_is_library_line(blamed_level(crash)) ? "certain"
												   : "likely",
			 xc_asprintf("std::terminate() was called from %s%s", xc_crash_context_culprit(crash),
				     xc_exception_none(crash) ? "; no exception was in flight" : ""));
}

/* It was thrown, but which one it was is not known; or `throw;` had none to throw. */
static void classify_unknown(struct xc_crash_context *crash)
{
	if (passes(crash, "__cxa_rethrow") && xc_exception_handles_none(crash))
		classify(crash, "terminate", "rethrow", "low", "certain",
			 xc_asprintf("`throw;` in %s, where no exception was handled that could be thrown again",
				     xc_crash_context_culprit(crash)));
	else
		xc_crash_context_classify(crash, "uncaught-exception", NULL, "low", "certain",
					  "a C++ exception was thrown that nothing caught");
}

/* ---- pure virtual ---- */

/* The member function that a virtual call was meant to reach: by its slot in the class of the debug information. */
static const char *called_slot(const struct xc_crash_context *crash, size_t caller, const char *class_name)
{
	const struct xc_query query = {.name = class_name, .kinds = XC_NAME_TYPE};
	struct xc_definition class;
	int64_t offset;
	size_t count;
	if (!xc_vtable_slot_called(crash, crash->frames[caller].pc, &offset) ||
	    !xc_lookup_one(crash->process, &query, &class))
		return NULL;
	const struct xc_type *type = xc_type_get(xc_types_of(crash->process), &class.die);
	const struct xc_method *methods = xc_type_methods(xc_type_complete(xc_type_strip(type)), &count);
	for (size_t i = 0; i < count; i++)
		if (methods[i].is_virtual && methods[i].slot * 8 == (uint64_t)offset)
			return xc_arena_printf(&crash->report->arena, "%s::%s", class_name, methods[i].name);
	return NULL;
}

/* The class of the object that is the first argument. A function that returns an object gets the place for it first:
 * where that is no object of the program, the second one counts, if it is being constructed or destroyed. */
static const char *called_class(const struct xc_crash_context *crash, size_t caller, xc_addr *object_out)
{
	uint64_t word;
	struct xc_text dying = {0};
	if (!xc_argument_find(crash, caller, 0, object_out))
		return NULL;
	const char *name = xc_exception_class(crash, *object_out);
	if (name || (xc_space_peek_uint(crash->process->space, *object_out, crash->process->arch->word, &word) &&
		     xc_process_module(crash->process, word)))
		return name;
	if (xc_argument_find(crash, caller, 1, object_out))
		name = xc_exception_class(crash, *object_out);
	bool is_dying = name && xc_dying_object_find(crash, *object_out, name, &dying);
	xc_text_fini(&dying);
	return is_dying ? name : NULL;
}

static void classify_pure(struct xc_crash_context *crash, size_t reporter)
{
	uint64_t object;
	const char *name = called_class(crash, reporter + 1, &object);
	if (!name) {
		xc_crash_context_classify(
			crash, "pure-virtual-call", NULL, "medium", "certain",
			"a pure virtual function was called: the object was being constructed or destroyed");
		return;
	}
	crash->verdict->expression = called_slot(crash, reporter + 1, name);
	struct xc_text dying = {0};
	const char *article = strchr("AEIOUaeiou", *name) ? "an" : "a";
	if (xc_dying_object_find(crash, object, name, &dying))
		classify(crash, "pure-virtual-call", NULL, "medium", "certain",
			 xc_asprintf("a pure virtual function was called in %s: the object is only %s %s now: %s",
				     xc_crash_context_culprit(crash), article, name, xc_text_string(&dying)));
	else
		classify(crash, "pure-virtual-call", NULL, "medium", "certain",
			 xc_asprintf("a pure virtual function was called in %s: the object is only %s %s, as during "
				     "its constructor or destructor, and after it",
				     xc_crash_context_culprit(crash), article, name));
	xc_text_fini(&dying);
	xc_verdict_evidence(crash->report, "the object at 0x%" PRIx64 " has the virtual functions of %s", object, name);
}

/* ---- */

/* The outermost frame with one of the names. */
static size_t outermost(const struct xc_crash_context *crash, const char *const *names)
{
	size_t last = 0;
	for (; *names; names++) {
		size_t at = frame_called(crash, *names);
		last = at < crash->frame_count && at > last ? at : last;
	}
	return last;
}

bool xc_uncaught_classify(struct xc_crash_context *crash)
{
	static const char *const enders[] = {"std::terminate", "__cxxabiv1::__terminate", "std::__terminate",
					     "__gnu_cxx::__verbose_terminate_handler", NULL};
	static const char *const pure[] = {"__cxa_pure_virtual", "__cxa_deleted_virtual", NULL};
	size_t reporter = xc_crash_context_find_frame(crash, pure);
	struct xc_exception exception;
	if (reporter + 1 < crash->frame_count) {
		xc_crash_context_blame(crash, reporter + 1);
		classify_pure(crash, reporter);
		return true;
	}
	bool thrown = xc_crash_context_find_name(crash, throwers);
	if (!thrown && !xc_crash_context_find_name(crash, enders))
		return false;
	xc_crash_context_blame(crash, outermost(crash, thrown ? throwers : enders));
	bool known = xc_exception_current(crash, &exception);
	if (thrown && known)
		classify_thrown(crash, &exception);
	else if (thrown)
		classify_unknown(crash);
	else
		classify_called(crash, known ? &exception : NULL);
	if (known)
		report_exception(crash, &exception);
	return true;
}
