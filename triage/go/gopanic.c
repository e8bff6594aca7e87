/* gopanic: what Go's runtime leaves of a panic, of Go 1.19 (runtime/panic.go), newest frame first:
 *
 *	crash ← fatalpanic ← gopanic ← goPanicIndex, panicmem ← sigpanic, … ← the program
 *
 * g._panic has its value. Before the value is printed, preprintpanics() replaces it by the text of an error or
 * Stringer. */
#include "triage/go/gopanic.h"

#include <string.h>

#include "triage/go/gofault.h"
#include "triage/goroutine/gopackage.h"
#include "triage/goroutine/goroutine.h"
#include "triage/goroutine/govalue.h"
#include "triage/util/names.h"
#include "triage/util/sourceline.h"

enum { PANICS = 8, FIRST_PAGE = 4096 };

/* Reasons of the runtime: the beginning of the text, and the functions that call panic() with it (Go 1.19).
 * closechan() has two texts, and so its own entry. */
static const struct finding {
	const char *text, *throwers[5], *kind, *words;
} findings[] = {
	{"runtime error: index out of range", {"runtime.goPanicIndex"}, "index", "used an index that is out of range"},
	{"runtime error: cannot convert slice",
	 {"runtime.goPanicSliceConvert"},
	 "slice",
	 "converted a slice that is too short to an array"},
	{"runtime error: slice bounds out of range", {"runtime.goPanicSlice"}, "slice", "took a slice out of bounds"},
	{"runtime error: integer divide by zero", {"runtime.panicdivide"}, "division by zero", "divided by zero"},
	{"runtime error: negative shift amount", {"runtime.panicshift"}, "shift", "shifted by a negative number"},
	{"runtime error: invalid memory address or nil pointer",
	 {"runtime.panicmem"},
	 "nil",
	 "dereferenced a nil pointer"},
	{"value method ", {"runtime.panicwrap"}, "nil", "called a value method through a nil pointer"},
	{"assignment to entry in nil map", {"runtime.mapassign"}, "nil map", "assigned to an entry of a nil map"},
	{"interface conversion: ",
	 {"runtime.panicdottype", "runtime.panicnildottype", "runtime.assertE2I", "runtime.getitab"},
	 "type assertion",
	 "asserted a type that the interface does not hold"},
	{"runtime error: hash of unhashable",
	 {"runtime.typehash", "runtime.interhash", "runtime.nilinterhash"},
	 "unhashable",
	 "used an unhashable key: its type cannot be compared"},
	{"runtime error: comparing uncomparable",
	 {"runtime.efaceeq", "runtime.ifaceeq"},
	 "uncomparable",
	 "compared interfaces whose type cannot be compared"},
	{"runtime error: makeslice",
	 {"runtime.panicmakeslice", "runtime.makeslice"},
	 "size",
	 "requested a slice of an impossible size"},
	{"runtime error: growslice", {"runtime.growslice"}, "size", "requested a slice of an impossible size"},
	{"runtime error: unsafe.Slice",
	 {"runtime.panicunsafeslice", "runtime.unsafeslice"},
	 "size",
	 "requested a slice of an impossible size"},
	{"makechan: size out of range", {"runtime.makechan"}, "size", "requested a channel of an impossible size"},
	{"send on closed channel", {"runtime.chansend", "runtime.selectgo"}, "channel", "sent on a closed channel"},
	{"close of closed channel", {NULL}, "channel", "closed a closed channel"},
	{"close of nil channel", {NULL}, "channel", "closed a nil channel"},
	{NULL, {"runtime.closechan"}, "channel", "closed a nil or closed channel"},
};

/* ---- the value ---- */

static bool read_panic(const struct xc_godeath *d, xc_addr panic, struct xc_goface *out)
{
	return xc_goruntime_read(&d->go, "runtime._panic", panic, "arg._type", &out->type) &&
	       xc_goruntime_read(&d->go, "runtime._panic", panic, "arg.data", &out->data);
}

static const char *text_of(const struct xc_godeath *d, const struct xc_goface *face)
{
	struct xc_arena *arena = &d->crash->report->arena;
	struct xc_text text = {0};
	const char *said = NULL;
	if (xc_govalue_text(&d->go, face, &text))
		said = xc_arena_strdup(arena, xc_text_string(&text));
	xc_text_fini(&text);
	return said;
}

/* The type passed to panic(): the argument may still be where gopanic() stored it. */
static const char *given_type(const struct xc_godeath *d)
{
	struct xc_frame_context in = xc_crash_context_frame(d->crash, d->at);
	struct xc_value value, type;
	uint64_t addr;
	if (!in.place->level_count ||
	    !xc_variable_find(&in, in.place->level_count - 1, "e", &d->crash->report->arena, &value))
		return NULL;
	struct xc_error *error = xc_value_member(&value, "_type", &type);
	bool known = !error && xc_value_load(&type, &addr);
	xc_error_free(error);
	return known ? xc_govalue_type(&d->go, addr, &d->crash->report->arena) : NULL;
}

/* " in main.take, main.go:22": gopanic() keeps its _panic in its own frame, and the program called it. */
static void add_place(const struct xc_godeath *d, xc_addr panic, struct xc_text *text)
{
	struct xc_crash_context *crash = d->crash;
	const struct xc_blame blame = crash->blame;
	const size_t blamed = crash->blamed;
	uint64_t sp, end;
	for (size_t i = d->at + 1; i + 1 < crash->frame_count; i++) {
		if (strcmp(xc_godeath_name(crash, i), "runtime.gopanic") != 0 ||
		    !xc_regs_get(&crash->frames[i].regs, crash->process->arch->sp, &sp) ||
		    !xc_regs_get(&crash->frames[i + 1].regs, crash->process->arch->sp, &end) || panic < sp ||
		    panic >= end)
			continue;
		if (xc_goroutine_blame(crash, i + 1)) {
			xc_text_printf(text, " in %s", xc_crash_context_culprit(crash));
			xc_sourceline(crash->blame.place, crash->blame.level, ", ", text);
		}
		crash->blame = blame;
		crash->blamed = blamed;
		return;
	}
}

/* Earlier panics: this one is in a function that a panic had deferred. */
static void report_earlier(const struct xc_godeath *d, xc_addr panic)
{
	struct xc_goface face;
	uint64_t recovered, exits;
	for (unsigned i = 0; i < PANICS; i++) {
		if (!xc_goruntime_read(&d->go, "runtime._panic", panic, "link", &panic) || !panic)
			return;
		if (!xc_goruntime_read(&d->go, "runtime._panic", panic, "goexit", &exits) || exits ||
		    !read_panic(d, panic, &face))
			continue;
		bool known = xc_goruntime_read(&d->go, "runtime._panic", panic, "recovered", &recovered);
		const char *text = text_of(d, &face);
		struct xc_text redacted = {0};
		xc_text_add(&redacted, "it had panicked before");
		add_place(d, panic, &redacted);
		xc_text_add(&redacted, known && recovered ? ", and had recovered" : "");
		xc_verdict_evidence(d->crash->report, "%s: %s", xc_text_string(&redacted),
				    text ? text : "with a value that is not shown here");
		xc_verdict_redact(d->crash->report, xc_text_string(&redacted));
		xc_text_fini(&redacted);
	}
}

/* The message; NULL: it is not known. */
static const char *report_value(const struct xc_godeath *d)
{
	xc_addr panic;
	struct xc_goface face;
	const char *type = given_type(d);
	if (type && !xc_gopackage_begins(type + (*type == '*'), "runtime."))
		xc_verdict_evidence(d->crash->report, "panic() was given a value of type %s", type);
	if (!d->g_known || !xc_goruntime_read(&d->go, "runtime.g", d->g, "_panic", &panic) || !panic ||
	    !read_panic(d, panic, &face)) {
		xc_verdict_evidence(d->crash->report, "missing: debug information of Go's runtime, or its memory, so "
						      "the panic's message is not known");
		return NULL;
	}
	const char *text = text_of(d, &face);
	if (text && !d->crash->verdict->message)
		d->crash->verdict->message = text;
	if (!text && (type = xc_govalue_type(&d->go, face.type, &d->crash->report->arena)))
		xc_verdict_evidence(d->crash->report, "the panic's value is a %s", type);
	report_earlier(d, panic);
	return text;
}

/* ---- who panicked ---- */

static const struct finding *by_text(const char *message)
{
	for (size_t i = 0; i < XC_COUNT(findings); i++)
		if (message && findings[i].text && xc_gopackage_begins(message, findings[i].text))
			return &findings[i];
	return NULL;
}

/* Without the text the caller of panic() determines the reason. Only that one: mapassign() also calls functions that
 * hash a key. */
static const struct finding *by_thrower(const struct xc_godeath *d)
{
	const char *name = xc_godeath_name(d->crash, d->at + 1);
	for (size_t i = 0; i < XC_COUNT(findings); i++)
		if (xc_names_begin(findings[i].throwers, name))
			return &findings[i];
	return NULL;
}

/* The runtime itself called panic(). */
static void classify_runtime_panic(struct xc_godeath *d, const char *confidence)
{
	const char *message = d->crash->verdict->message;
	const struct finding *found = by_text(message);
	if (!found)
		found = by_thrower(d);
	if (found)
		xc_godeath_classify(d, found->kind, confidence, found->words);
	else
		xc_godeath_classify(d, message ? "run-time" : NULL, confidence,
				    "did something that Go's runtime does not allow");
}

/* A function inlined into the frame called it. */
static void classify_explicit(struct xc_godeath *d)
{
	const char *thrower = xc_place_function(xc_crash_context_place(d->crash, d->at + 1), 0);
	if (thrower && strcmp(thrower, xc_crash_context_culprit(d->crash)) == 0)
		thrower = NULL;
	xc_auto(xc_freep) char *words =
		thrower ? xc_asprintf("led to %s, which called panic()", thrower) : xc_asprintf("called panic()");
	xc_godeath_classify(d, "explicit", "certain", words);
}

/* The stack ends with gopanic(), or its caller has no name: the runtime or the program called it. A program may
 * panic with the runtime's texts. */
static void classify_by_text(struct xc_godeath *d)
{
	const struct finding *found = by_text(d->crash->verdict->message);
	xc_godeath_classify(d, found ? found->kind : NULL, "likely",
			    found ? found->words : "panicked; the function that called panic() is not known");
}

static void blame(struct xc_godeath *d)
{
	if (xc_goroutine_blame(d->crash, d->at + 1))
		return;
	d->crash->blame = (struct xc_blame){.place = NULL};
	xc_verdict_evidence(
		d->crash->report,
		"missing: the stack beyond the runtime's functions, so the function that panicked is not known");
}

/* The text is the same at any address (Go 1.19, runtime/panic.go, panicmemAddr). */
static void classify_address(struct xc_godeath *d)
{
	const struct xc_verdict *v = d->crash->verdict;
	if (v->kind && strcmp(v->kind, "nil") == 0 && d->crash->fault.addr_known && d->crash->fault.addr >= FIRST_PAGE)
		xc_godeath_classify(d, "fault", v->confidence,
				    "accessed unmapped memory (debug.SetPanicOnFault makes that a panic)");
}

/* The texts of the runtime; those of the program may be secret. */
static void add_headline(struct xc_godeath *d, const char *text)
{
	bool by_runtime = xc_godeath_is_runtime(d->crash, d->at + 1);
	xc_godeath_headline(d, "panic",
			    by_runtime && by_text(text) ? text
			    : by_runtime                ? "an error of Go's runtime"
							: "panic() was called");
}

void xc_gopanic_classify(struct xc_godeath *d)
{
	size_t fault = xc_godeath_before_program(d->crash, d->at + 1, "runtime.sigpanic");
	blame(d);
	const char *text = report_value(d);
	if (!*xc_godeath_name(d->crash, d->at + 1))
		classify_by_text(d);
	else if (xc_godeath_is_runtime(d->crash, d->at + 1))
		classify_runtime_panic(d, d->crash->blame.place ? "certain" : "likely");
	else
		classify_explicit(d);
	if (fault < d->crash->frame_count && xc_gofault_adopt(d, fault))
		classify_address(d);
	add_headline(d, text);
}
