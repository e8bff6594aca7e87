/* cause_abort: see cause_abort.h. More specific causes are tried before. */
#include "triage/runtime/cause_abort.h"

#include "core/facts/facts.h"
#include "core/process/module.h"
#include "triage/crash/handled_signal.h"
#include "triage/fault/cause_sent.h"

bool xc_cause_abort_called(const struct xc_crash_context *crash)
{
	static const char *const frames[] = {"abort", "__GI_abort", NULL};
	return xc_crash_context_find_name(crash, frames);
}

bool xc_cause_abort_sent(struct xc_crash_context *crash)
{
	bool sent = xc_crash_context_sent_by_other(crash) || crash->fault.resent;
	return sent && !xc_cause_abort_called(crash) && xc_cause_sent_killed(crash);
}

/* The caller of abort() has a name: then no frame in between would have given another class. */
static bool caller_named(const struct xc_crash_context *crash)
{
	const struct xc_place *place = crash->blame.place;
	return place && (place->symbol || place->level_count) && place->module && !xc_module_is_runtime(place->module);
}

static const char *unnamed(const struct xc_crash_context *crash, bool called)
{
	if (called)
		return "abort() was called; the caller is not known: it has no symbols";
	return crash->frame_count > 1
		       ? "the program ended itself with SIGABRT; the reason is not known: the functions that did so "
			 "have no names"
		       : "the program ended itself with SIGABRT; the reason is not known: its stack could not be "
			 "read";
}

/* The handler ends the program because of a signal that came before. The kernel tells who sent it only to handlers that
 * ask for that (SA_SIGINFO). */
static void report_handler(const struct xc_crash_context *crash, const struct xc_handled_signal *handled)
{
	const struct xc_fault *f = &crash->fault;
	if (!handled->in_handler)
		return;
	if (f->first_signal && f->first_sender != crash->process->pid)
		xc_verdict_evidence(crash->report,
				    "it did so in a signal handler, which ran because process %d (user %u) had sent %s",
				    (int)f->first_sender, (unsigned)f->first_user, xc_signal_name(f->first_signal));
	else if (f->first_signal)
		xc_verdict_evidence(crash->report,
				    "it did so in a signal handler, which ran because the program had sent itself %s",
				    xc_signal_name(f->first_signal));
	else
		xc_verdict_evidence(crash->report, "it did so %s", xc_handled_signal_words(crash, handled));
}

bool xc_cause_abort_classify(struct xc_crash_context *crash)
{
	bool called = xc_cause_abort_called(crash);
	const struct xc_handled_signal handled = xc_handled_signal_find(crash);
	if (!caller_named(crash))
		xc_crash_context_classify(crash, "abort", NULL, "low", called ? "likely" : "guess",
					  unnamed(crash, called));
	else if (!called || !xc_fatal_call_classify(crash))
		xc_crash_context_classify(crash, "abort", NULL, "low", handled.in_handler ? "likely" : "certain",
					  called ? "the program called abort()" : "the program sent SIGABRT to itself");
	report_handler(crash, &handled);
	return true;
}
