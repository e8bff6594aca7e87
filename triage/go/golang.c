/* golang: how Go's runtime aborts a program, of Go 1.19 (runtime/panic.go, signal_unix.go), newest frame first:
 *
 *	crash ← fatalpanic ← gopanic ← … ← the program            a panic: gopanic.c
 *	crash ← fatalthrow ← throw or fatal ← … ← the program     a fatal error: gothrow.c
 *	crash ← sighandler ← the signal's trampoline ← …          a signal with a core: gosignal.c */
#include "triage/go/golang.h"

#include <dwarf.h>
#include <string.h>

#include "triage/go/gopanic.h"
#include "triage/goroutine/goroutine.h"
#include "triage/go/gosignal.h"
#include "triage/go/gosuspect.h"
#include "triage/go/gothrow.h"

/* The evidence is not in the core, or a signal's handler was left to do it. */
static bool classify_raised(struct xc_crash_context *crash)
{
	if (xc_crash_context_sent_by_other(crash) || !xc_godeath_is_runtime(crash, 0))
		return false;
	xc_verdict_evidence(crash->report, "missing: the functions of Go's runtime, so whether the program panicked, "
					   "and its message, are not known");
	xc_crash_context_classify(crash, "abort", NULL, "low", "likely",
				  "Go's runtime ended the program with SIGABRT: a panic, a fatal error, or a signal");
	return true;
}

/* Go has one operator for members, also through pointers, and its own word for NULL. */
static const char *spelled(const struct xc_crash_context *crash, const char *text)
{
	static const char null[] = " NULL";
	struct xc_text all = {0};
	for (const char *from = text; from && *from;) {
		bool arrow = from[0] == '-' && from[1] == '>', nil = strncmp(from, null, strlen(null)) == 0;
		if (nil)
			xc_text_add(&all, " nil");
		else
			xc_text_char(&all, arrow ? '.' : *from);
		from += nil ? strlen(null) : arrow ? 2 : 1;
	}
	const char *copy = text ? xc_arena_strdup(&crash->report->arena, xc_text_string(&all)) : NULL;
	xc_text_fini(&all);
	return copy;
}

void xc_golang_spell(struct xc_crash_context *crash)
{
	Dwarf_Die unit;
	if (!crash->verdict->expression || !crash->blame.place || !crash->blame.place->level_count)
		return;
	unit = crash->blame.place->unit;
	if (dwarf_srclang(&unit) != DW_LANG_Go)
		return;
	crash->verdict->expression = spelled(crash, crash->verdict->expression);
	crash->verdict->cause = spelled(crash, crash->verdict->cause);
	crash->verdict->origin = spelled(crash, crash->verdict->origin);
}

bool xc_golang_classify(struct xc_crash_context *crash)
{
	static const char *const panic[] = {"runtime.gopanic", NULL};
	static const char *const throw[] = {"runtime.throw", "runtime.fatal", "runtime.fatalthrow",
					    "runtime.fatalthrow.func1", NULL};
	static const char *const handler[] = {"runtime.sighandler", NULL};
	struct xc_godeath d = {.crash = crash};
	xc_addr at;
	uint64_t size;
	if (!crash->frame_count || !xc_goruntime_find(crash->process, &d.go))
		return false;
	if (!d.go.codes[XC_GO_SYSTEMSTACK].from) {
		xc_verdict_evidence(crash->report, "missing: the symbols of Go's runtime: the program is stripped, so "
						   "whether it panicked, and its message, are not known");
		return false;
	}
	if (!xc_goruntime_variable(&d.go, "runtime.firstmoduledata", &at, &size))
		xc_verdict_evidence(
			crash->report,
			"missing: the program's symbols: function names come from the table of Go's runtime");
	size_t panicked = xc_crash_context_find_frame(crash, panic), threw = xc_crash_context_find_frame(crash, throw),
	       handled = xc_crash_context_find_frame(crash, handler);
	d.g_known = xc_goruntime_current(&d.go, &crash->thread->regs, &d.g);
	d.at = panicked < threw ? panicked : threw;
	if (handled < d.at)
		return xc_gosignal_classify(crash, handled);
	if (d.at == crash->frame_count)
		return classify_raised(crash);
	if (panicked < threw)
		xc_gopanic_classify(&d);
	else
		xc_gothrow_classify(&d);
	xc_gosuspect_report(&d);
	if (d.g_known)
		xc_goroutine_report(crash, &d.go, d.g);
	return true;
}
